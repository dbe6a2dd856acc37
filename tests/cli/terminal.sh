# The line of life: on a terminal a run says what its trajectory is doing, on one line that events of the log take the
# place of; in a file, on a dumb terminal and at run.log = warn there is none.
. "$(dirname "$0")/kit.bash"
if ! command -v script >/dev/null; then
    echo "script(1) is not there, which makes a terminal: skipped"
    exit 77
fi
words="run $source/inputs/quickstart.ini lattice.size=4.4.4.8 run.trajectories=1 integrator.0.steps=16"

# on_terminal TERM WORDS...: what the terminal shows of the run, lines ended by carriage returns apart.
on_terminal() {
    local terminal=$1
    shift
    rm -rf seen
    TERM=$terminal script -qec "$plaq $words run.output=seen $*" typescript </dev/null >/dev/null || fail "status $? on a terminal"
    tr '\r' '\n' <typescript >out
}
say "on a terminal"
on_terminal xterm integrator.0.steps=500 # long enough for the line to be renewed on a fast machine
checks=$((checks + 1))
grep -qE "trajectory 1: step [0-9]+/500, [0-9]+/[0-9]+, light, (force|action) by [a-z]+, iteration [0-9]+, residual [0-9]" out ||
    fail "no line of life: $(head -c 600 out)"
checks=$((checks + 1))
awk '/trajectory 1: /{ open = 1 } /^\033\[Ktrajectory 1\/1 /{ if (open) found = 1 } END { exit !found }' out ||
    fail "the line of life is not erased before the event of the trajectory"
say "elsewhere"
on_terminal dumb
same "on a dumb terminal" 0 "$(grep -c 'trajectory 1: ' out)"
on_terminal xterm run.log=warn
same "without information" 0 "$(grep -c 'trajectory 1: ' out)"
rm -rf seen
try $words run.output=seen
exits 0 "in files"
same "in files" 0 "$(cat out err | grep -c 'trajectory 1: ')"
same "in files, escapes" 0 "$(cat out err | tr -d '\n' | grep -c "$(printf '\033')")"
finish

# A run told to stop (by a signal or a time limit) ends with status 0, a good checkpoint and a line that says how to go on;
# continued it has the bits of an unbroken run.
. "$(dirname "$0")/kit.bash"
write_input a.ini

# Waits for a line in a file while the process lives.
wait_for() {
    local pid=$1 text=$2 file=$3
    for _ in $(seq 3000); do
        grep -q -- "$text" "$file" 2>/dev/null && return 0
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.02
    done
    fail "no line '$text'"
}

# stopped FOLDER WHY: what a run that was stopped has to leave. Sets $done.
stopped() {
    exits 0 "stopped run in $1"
    printed "stopped: $2" "to continue" "$plaq run a.ini run.output=$1"
    same "summary says unfinished" false "$(value finished)"
    done=$(value trajectories)
    newest=$(ls "$1"/checkpoint-*.h5 | tail -n 1)
    same "newest checkpoint" "$1/checkpoint-$(printf %06d "$done").h5" "$newest"
    local digest
    digest=$(value digest)
    tidy "$1"
    try check --json "$newest"
    exits 0 "checkpoint $newest"
    same "digest of the checkpoint" "$digest" "$(value digest)"
}

# goes_on FOLDER ARGUMENTS: two more trajectories; as an unbroken run of so many.
goes_on() {
    local folder=$1 n=$((done + 2))
    shift
    try run --json a.ini run.output=$folder run.trajectories=$n "$@"
    exits 0 "continued $folder"
    printed "continuing from $newest: $done trajectories done"
    local links rows
    links=$(value digest) rows=$(value history_digest)
    try run --json a.ini run.output=$folder.whole run.trajectories=$n
    exits 0 "unbroken $folder"
    same "links of $folder" "$(value digest)" "$links"
    same "history of $folder" "$(value history_digest)" "$rows"
}

for signal in TERM INT USR1 HUP; do
    say "SIG$signal between or within trajectories"
    # A background process of a script ignores SIGINT from birth, unless its shell has job control.
    set -m
    background "$plaq" run --json a.ini run.output=$signal run.trajectories=1000000
    set +m
    wait_for $pid '^trajectory 3/' err
    kill -$signal $pid
    status=0
    wait $pid || status=$?
    stopped $signal "signal $(kill -l $signal)"
    goes_on $signal
done

say "SIGTERM in a trajectory of a hundred thousand steps: it is given up"
# Without OMP_WAIT_POLICY the program is started once more; top and pkill know it by its name all the same.
background env -u OMP_WAIT_POLICY "$plaq" run --json a.ini run.output=long integrator.0.steps=100000 run.log=debug
wait_for $pid '^starting' err
same "name of the process" "$(basename "$plaq" | cut -c 1-15)" "$(cat /proc/$pid/comm)"
sleep 0.5
kill -TERM $pid
status=0
wait $pid || status=$?
stopped long "signal 15"
same "trajectories done" 0 "$done"
goes_on long

# Minimal residuals beyond the critical mass come to no end.
endless="quark.light.kappa=0.2 solver.force.type=mr solver.force.max_iterations=1000000000 integrator.0.steps=1"
say "SIGTERM within a solve that comes to no end: it is given up"
background "$plaq" run --json a.ini run.output=solve run.log=debug $endless
wait_for $pid '^starting' err
sleep 0.5
kill -TERM $pid
begun=$(date +%s%N)
status=0
wait $pid || status=$?
took=$((($(date +%s%N) - begun) / 1000000))
exits 0 "stopped within a solve"
printed "stopped: signal 15; the trajectory in hand was given up and will be repeated"
same "unfinished" false "$(value finished)"
checks=$((checks + 1))
[ $took -le 5000 ] || fail "it took $took ms"
tidy solve

say "SIGTERM in the reversibility check of the last trajectory: the run is not finished"
check="integrator.0.steps=400 run.trajectories=1 checkpoint.interval=1 watch.reversibility_interval=1"
background "$plaq" run --json a.ini run.output=reversal $check
wait_for $pid '^checkpoint 1:' err
kill -TERM $pid
status=0
wait $pid || status=$?
exits 0 "stopped in the check"
printed "stopped: signal 15; the check of reversibility will be repeated" "to continue: "
same "unfinished without the row of the check" false "$(value finished)"
same "trajectories done" 1 "$(value trajectories)"
try run --json a.ini run.output=reversal $check
exits 0 "gone on"
same "finished" true "$(value finished)"
rows=$(value history_digest)
try run --json a.ini run.output=reversal.whole $check
same "history with the row of the check" "$(value history_digest)" "$rows"

say "max_hours"
try run --json a.ini run.output=hours run.max_hours=1e-6 run.trajectories=50
stopped hours "the time limit is near"
goes_on hours

say "the end of a Slurm job: in time, and without time given away"
status=0
end=$(($(date +%s) + 5))
SLURM_JOB_END_TIME=$end "$plaq" run --json a.ini run.output=slurm run.trajectories=1000000 run.max_hours=10 >out 2>err || status=$?
checks=$((checks + 1))
left=$((end - $(date +%s)))
[ $left -ge 0 ] && [ $left -le 4 ] || fail "it ended $left s before the job"
stopped slurm "the time limit is near"
goes_on slurm
status=0
SLURM_JOB_END_TIME=$(($(date +%s) + 100000)) "$plaq" run --json a.ini run.output=slurm2 run.trajectories=3 >out 2>err || status=$?
exits 0 "a job with time left"
same "finished" true "$(value finished)"
status=0
SLURM_JOB_END_TIME=$(($(date +%s) + 100000)) "$plaq" run --json a.ini run.output=slurm3 run.max_hours=1e-6 run.trajectories=3 >out 2>err || status=$?
stopped slurm3 "the time limit is near"

# A measurement that takes long: the pass of the loop is what has to fit, not the trajectory alone.
say "a time limit with long measurements"
cp a.ini flow.ini
printf '\n[measure.flow]\nkind = flow\nflow_time = 2\nflow_step = 0.0005\n' >>flow.ini
begun=$(date +%s%N)
status=0
"$plaq" run --json flow.ini run.output=flows run.trajectories=1 >out 2>err || status=$?
pass=$((($(date +%s%N) - begun) / 1000000))
seconds=$((pass * 3 / 1000 + 4))
begun=$(date +%s%N)
try run --json flow.ini run.output=flows run.trajectories=1000 run.max_hours="$(awk "BEGIN { print $seconds / 3600 }")"
took=$((($(date +%s%N) - begun) / 1000000))
exits 0 "long measurements"
checks=$((checks + 1))
[ $took -le $((seconds * 1000)) ] || fail "a pass takes $pass ms; with a limit of $seconds s it took $took ms"

say "SIGTERM, and kill -9, in a measurement: no trajectory is lost, the measurement is made again"
for signal in TERM KILL; do
    background "$plaq" run --json flow.ini run.output=flow.$signal measure.flow.flow_time=100 run.trajectories=1 checkpoint.interval=1
    wait_for $pid '^checkpoint 1:' err
    sleep 0.2
    kill -$signal $pid
    status=0
    { wait $pid || status=$?; } 2>/dev/null
    if [ $signal = TERM ]; then
        exits 0 "stopped in a measurement"
        printed "measure.flow was given up and will be repeated"
    fi
    try run --json flow.ini run.output=flow.$signal measure.flow.flow_time=0.01 run.trajectories=2
    exits 0 "gone on"
    printed "continuing from flow.$signal/checkpoint-000001.h5"
    links=$(value digest) rows=$(value history_digest)
    try run --json flow.ini run.output=flow.$signal.whole measure.flow.flow_time=0.01 run.trajectories=2
    same "links" "$(value digest)" "$links"
    same "history" "$(value history_digest)" "$rows"
done

say "the line that says how to go on can be pasted"
background "$plaq" run --json a.ini "run.output=a folder; it's odd" run.trajectories=1000000
wait_for $pid '^trajectory 1/' err
kill -TERM $pid
wait $pid || true
line=$(sed -n 's/^to continue: //p' err)
before=$(value trajectories)
eval "${line/run.trajectories=1000000/run.trajectories=$((before + 1))}" >out 2>err || fail "the line: $line"
printed "continuing from a folder; it's odd/checkpoint-" "trajectory $((before + 1))/$((before + 1))"
next=$(sed -n 's/^next: .*or measure: //p' err)
eval "$next" >out 2>err || fail "the line: $next"
printed "a folder; it's odd/checkpoint-" "digest"

say "a finished run, started again, has nothing to do"
try run --json a.ini run.output=slurm2 run.trajectories=3
exits 0 "started again"
same "finished" true "$(value finished)"
same "trajectories" 3 "$(value trajectories)"

if [ -n "${PLAQ_MPIEXEC:-}" ] && command -v pgrep >/dev/null; then
    say "SIGUSR1 to one of two ranks"
    export OMP_NUM_THREADS=1
    background $PLAQ_MPIEXEC -n 2 "$plaq" run --json a.ini run.output=ranks run.trajectories=1000000
    wait_for $pid '^trajectory 2/' err
    kill -USR1 "$(pgrep -P $pid | tail -n 1)"
    status=0
    wait $pid || status=$?
    stopped ranks "signal 10"
    goes_on ranks

    say "SIGUSR1 to one of two ranks, within a solve that comes to no end"
    background $PLAQ_MPIEXEC -n 2 "$plaq" run --json a.ini run.output=ranks_solve run.log=debug $endless
    wait_for $pid '^starting' err
    sleep 0.5
    kill -USR1 "$(pgrep -P $pid | tail -n 1)"
    status=0
    wait $pid || status=$?
    exits 0 "one of two ranks, within a solve"
    printed "stopped: signal 10; the trajectory in hand was given up and will be repeated"
fi
finish

# What the tests of the program share. A test begins with `. "$(dirname "$0")/kit.bash"`; then there are
#   $plaq $source $data    the program, the source folder, the recorded configurations (absolute paths)
#   say WHAT               prints what is checked next
#   fail WHAT              prints it with what the last command printed, and counts it
#   finish                 last line of a test: its exit status
# and the functions below. The working folder is new and goes at the end.
set -eu

plaq=$(readlink -f "$1")
source=$(readlink -f "$2")
data=${PLAQ_TEST_DATA:-$source/../shared/data}
failures=0
checks=0

work=$(mktemp -d "${TMPDIR:-/tmp}/plaq-cli-XXXXXX")
clean_up() {
    cd /
    for folder in "$work"/mount.*; do
        [ ! -d "$folder" ] || umount "$folder" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
cd "$work"
ulimit -c 0

# More ranks than cores: those that wait leave the core to the others.
export OMPI_MCA_mpi_yield_when_idle=1
# A program without mpiexec starts no daemon of its own.
export OMPI_MCA_ess_singleton_isolated=1
unset SLURM_JOB_END_TIME
# On the CPU, unless a test asks for GPUs.
gpus=${CUDA_VISIBLE_DEVICES-all}
export CUDA_VISIBLE_DEVICES=

say() { echo "$*"; }

fail() {
    failures=$((failures + 1))
    echo "  FAILED: $*"
    [ $failures -le 10 ] || return 0
    for f in out err; do
        [ ! -s $f ] || { echo "  --- $f, its end:"; tail -n 12 $f | cut -c 1-400 | sed 's/^/  | /'; }
    done
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
}

# same WHAT A B: equal, non-empty texts.
same() {
    checks=$((checks + 1))
    [ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: '$2' and '$3'"
}

# until_dashes ARGUMENTS... -- REST...: sets the arrays arguments and rest.
until_dashes() {
    arguments=()
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    rest=("$@")
}

# Runs the program with its output in the files out and err; $status is its exit status. It gets no standard input: mpiexec
# would take that of the loop around it.
try() {
    status=0
    "$plaq" "$@" </dev/null >out 2>err || status=$?
}

# try_ranks N ARGUMENTS: the same on N ranks.
try_ranks() {
    local ranks=$1
    shift
    status=0
    if [ "$ranks" -eq 1 ]; then
        "$plaq" "$@" </dev/null >out 2>err || status=$?
    else
        $PLAQ_MPIEXEC -n "$ranks" "$plaq" "$@" </dev/null >out 2>err || status=$?
    fi
}

# background COMMAND: starts it with its output in the files out and err; $pid is its process. Both files are emptied first, lest
# a line of an earlier run be waited for: the process empties them itself, but later.
background() {
    : >out
    : >err
    "$@" </dev/null >out 2>err &
    pid=$!
}

# The library of injected failures; where the program has a sanitizer, behind that one's.
faults_library() {
    [ -e "$work/faults.so" ] || ${CC:-cc} -std=c11 -shared -fPIC -o "$work/faults.so" "$source/tests/cli/faults.c" -ldl
    echo "$(ldd "$plaq" | awk '/libasan/ { print $3 }') $work/faults.so"
}

# try_fault PATTERN CALL NTH HOW ARGUMENTS...: as try, and the NTH system call of the kind CALL on a file whose name matches
# fails as HOW says (faults.c). With the CALL none they are only counted.
try_fault() {
    local pattern=$1 call=$2 nth=$3 how=$4 library
    shift 4
    library=$(faults_library)
    rm -f "$work/counts"
    status=0
    LD_PRELOAD=$library PLAQ_FAULT_PATH=$pattern PLAQ_FAULT_CALL=$call PLAQ_FAULT_NTH=$nth PLAQ_FAULT_ERRNO=$how \
        PLAQ_FAULT_COUNTS=$work/counts "$plaq" "$@" </dev/null >out 2>err || status=$?
}

# calls KIND: how many there were in the last try_fault on files that matched.
calls() { sed -n "s/^$1 //p" "$work/counts"; }

need_mpi() {
    [ -n "${PLAQ_MPIEXEC:-}" ] || { echo "skipped: no mpiexec"; exit 77; }
}

# exits STATUS WHAT: the last command ended so.
exits() {
    checks=$((checks + 1))
    [ "$status" -eq "$1" ] || fail "$2: exit status $status, not $1"
}

# printed TEXT...: each of them is in the output of the last command.
printed() {
    local text
    for text in "$@"; do
        checks=$((checks + 1))
        cat out err | grep -qF -- "$text" || fail "not printed: $text"
    done
}

# hangs RANKS ARGUMENTS...: a run on so many ranks of which one is stopped after its first checkpoint; the watchdog ends it,
# with one message. A checkpoint that was being written then leaves its temporary file, which the next run in that folder
# removes.
hangs() {
    local pid rank waited=0 ranks=$1
    shift
    rm -rf hung
    $PLAQ_MPIEXEC -n "$ranks" "$plaq" run --json a.ini run.output=hung checkpoint.interval=1 machine.watchdog=3 "$@" </dev/null \
        >out 2>err &
    pid=$!
    while [ ! -e hung/checkpoint-000001.h5 ] && [ $waited -lt 300 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    rank=$(pgrep -P $pid -f run.output=hung | tail -n 1)
    kill -STOP "$rank"
    status=0
    wait $pid || status=$?
    kill -9 "$rank" 2>/dev/null || true
    exits 5 "a run with a rank that hangs"
    printed "it has waited" "last kernel started" "The last checkpoint stands"
    same "messages of the watchdog" 1 "$(grep -c "it has waited" err)"
}

# The value of a key in the last JSON line of the file out.
value() {
    tail -n 1 out | sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p"
}

# Waits so many milliseconds.
nap() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

# Nothing half-written in a folder: temporary files and locks are gone.
tidy() {
    checks=$((checks + 1))
    local left
    left=$(find "$1" -name '*.tmp' -o -name '.*.tmp' -o -name 'core*' 2>/dev/null | head -5)
    [ -z "$left" ] || fail "left in $1: $left"
}

# What makes a small run of inputs/hisq-2plus1plus1.ini and asqtad-2plus1.ini.
short_staggered="lattice.size=4.8.4.8 run.warmup=0 run.length=0.1 run.start=cold integrator.0.steps=2 integrator.1.steps=1
    measure.condensate.vectors=1 measure.condensate.interval=1 measure.strange_condensate.interval=9"

# A small dynamical run. Every test overrides what it is about.
write_input() {
    cat >"$1" <<'INI'
[run]
output = out.run
trajectories = 4
seed = 7
start = hot
length = 0.5

[lattice]
size = 4.4.4.4

[gauge]
beta = 5.6

[quark.light]
kappa = 0.130
c_sw = 1.5
solver = accept

[action.light]
kind = two_flavours
quark = light
solver = force
action_solver = accept

[integrator.0]
scheme = omelyan2
steps = 3
actions = light

[integrator.1]
scheme = force_gradient
steps = 1
actions = gauge

[solver.force]
type = cg
tolerance = 1e-8

[solver.accept]
type = cg
tolerance = 1e-11

[checkpoint]
interval = 2
keep = 3
INI
}

write_pure_gauge() {
    cat >"$1" <<'INI'
[run]
output = out.run
trajectories = 4
seed = 11
start = hot

[lattice]
size = 4.4.4.4

[gauge]
beta = 5.7

[integrator.0]
scheme = omelyan2
steps = 6
actions = gauge

[checkpoint]
interval = 2
INI
}

# poke FILE OFFSET BYTES...: the file with other bytes at an offset.
poke() {
    local file=$1 offset=$2
    shift 2
    printf "$(printf '\\x%02x' "$@")" | dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
}

# flip FILE OFFSET: one bit of that byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    poke "$1" "$2" $((byte ^ 4))
}

# refused_plan WHAT ARGUMENTS... -- TEXT...: a dry run that ends in an error of the input.
refused_plan() {
    local what=$1 arguments rest
    shift
    until_dashes "$@"
    try run --dry-run "${arguments[@]}"
    exits 2 "$what"
    printed "${rest[@]}"
}

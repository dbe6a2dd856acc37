# What a command refuses before it begins, by ranges, memory, cores and the environment; and a campaign of absurd values for
# any key: each ends with one message that names file, line and key, or is accepted and does no harm.
. "$(dirname "$0")/kit.bash"
write_input a.ini
write_pure_gauge g.ini
printf '\n[measure.flow]\nkind = flow\ninterval = 100\n' >>g.ini

# refused WHAT -- ARGUMENTS -- TEXT...: status 2, one message with those parts, no folder left.
refused() {
    local what=$1 arguments rest
    shift 2
    until_dashes "$@"
    say "$what"
    try "${arguments[@]}"
    exits 2 "$what"
    printed "${rest[@]}"
    same "messages, $what" 1 "$(grep -c '^plaq: error: ' err)"
    checks=$((checks + 1))
    [ ! -e out.run ] || fail "$what: a folder was made"
}

# ---- numbers ----

refused "a step of the flow that is unstable" -- run g.ini measure.flow.flow_step=0.2 -- "[measure.flow] flow_step: '0.2' is out of range" \
    "0 < real <= 0.15"
refused "a flow time beyond all steps" -- run g.ini measure.flow.flow_time=1e18 -- "[measure.flow] flow_time: '1e18' is out of range"
refused "too many steps of the flow" -- run g.ini measure.flow.flow_time=100 measure.flow.flow_step=1e-5 -- \
    "measure.flow.flow_step=1e-5" "takes 1e+07 steps of flow_step = 1e-05; allowed are 1000000" "three gauge forces"
refused "a hexadecimal real" -- run a.ini gauge.beta=0x1p3 -- "[gauge] beta: '0x1p3' is not a decimal number"
refused "a plus sign in extents" -- run a.ini lattice.size=+4.4.4.4 -- "[lattice] size: '+4.4.4.4' is not four integers"
refused "a number that is 0 in doubles" -- run a.ini solver.force.tolerance=1e-400 -- "'1e-400' is so small that it would be taken as 0"
refused "a seed of 2^63" -- run a.ini run.seed=9223372036854775808 -- "[run] seed: '9223372036854775808' does not fit into 64 bits"
refused "a seed of 2^64" -- run a.ini run.seed=18446744073709551616 -- "[run] seed: '18446744073709551616' does not fit"
sed 's/^output = .*/output = caf\xe9/' a.ini >latin.ini
refused "text that is not UTF-8" -- run latin.ini -- "latin.ini:2: 'output = caf' is followed by the byte \\xe9, which is not UTF-8 text"
sed 's/^output = .*/output = out.run # caf\xe9/' a.ini >latin.ini
try run --dry-run latin.ini
exits 0 "a comment that is not UTF-8"
for i in 2 3 4 5 6 7 8; do printf '\n[integrator.%d]\nsteps = 1\nactions = light.det\n' $i; done | cat a.ini - >deep.ini
refused "nine time scales" -- run deep.ini -- "deep.ini:" "9 integrator sections; a trajectory has at most 8"
refused "more trajectories than random numbers" -- run a.ini run.trajectories=4294967296 -- "[run] trajectories: '4294967296' is out of range"

say "the end of a Slurm job that is no time"
for end in tomorrow 0x10 -5 '' 1e9; do
    SLURM_JOB_END_TIME=$end try run a.ini
    exits 2 "SLURM_JOB_END_TIME=$end"
    printed "SLURM_JOB_END_TIME = '$end' in the environment" "run.max_hours"
done

# ---- memory ----

large=lattice.size=192.192.192.192
refused "a run that does not fit" -- run a.ini $large -- "the lattice 192.192.192.192 on grid 1.1.1.1 takes" "this machine has" "use more nodes"
refused "a dry run of what does not fit" -- run --dry-run a.ini $large -- "the lattice 192.192.192.192 on grid 1.1.1.1 takes"
checks=$((checks + 1))
! grep -q "everything is in order" out err || fail "a dry run says that all is in order"
refused "a verification that does not fit" -- verify a.ini $large -- "takes" "this machine has"
refused "a benchmark that does not fit" -- bench --lattice 192.192.192.192 --seconds 0.01 -- "the lattice 192.192.192.192" "this machine has"
try run --dry-run --ranks 4096 a.ini $large
exits 0 "a plan for other machines"
printed "everything is in order as far as this machine can tell"

# A program with the address sanitizer takes more address space than any limit.
if (ulimit -v 4000000 && "$plaq" --version) >/dev/null 2>&1; then
    say "a limit of the process"
    status=0
    (ulimit -v 4000000 && "$plaq" run a.ini lattice.size=32.32.32.32) </dev/null >out 2>err || status=$?
    exits 2 "a run beyond ulimit -v"
    printed "the lattice 32.32.32.32 on grid 1.1.1.1 takes" "this machine has 3.8 GiB"
fi

say "a configuration that does not fit"
cat >large.nersc <<'END'
BEGIN_HEADER
HDR_VERSION = 1.0
DATATYPE = 4D_SU3_GAUGE_3x3
DIMENSION_1 = 192
DIMENSION_2 = 192
DIMENSION_3 = 192
DIMENSION_4 = 192
CHECKSUM = 0
LINK_TRACE = 1
PLAQUETTE = 1
FLOATING_POINT = IEEE64BIG
END_HEADER
END
if truncate -s $(($(stat -c %s large.nersc) + 192 * 192 * 192 * 192 * 576)) large.nersc 2>/dev/null; then
    printf '[measure.loops]\nkind = loops\n' >loops.ini
    refused "a measurement that does not fit" -- measure loops.ini large.nersc -- "the lattice 192.192.192.192" "this machine has"
    printf '[quark.q]\nmass = 0.1\n[action.q]\nkind = two_flavours\nquark = q\nsolver = s\n[solver.s]\ntype = cg\n' >solve.ini
    for command in check "convert --format ildg"; do
        try $command large.nersc $([ "$command" = check ] || echo copy.lime)
        exits 2 "$command of what does not fit"
        printed "192.192.192.192" "this machine has"
    done
    refused "a solve that does not fit" -- solve solve.ini large.nersc -- "the lattice 192.192.192.192" "this machine has"
else
    say "no sparse files here: left out"
fi
rm -f large.nersc

# ---- threads ----

say "threads"
for n in 5000 100000; do
    OMP_NUM_THREADS=$n try run a.ini
    exits 2 "OMP_NUM_THREADS=$n"
    printed "OMP_NUM_THREADS = $n; allowed are 1 to 4096"
done
export OMP_NUM_THREADS=1
try run --dry-run a.ini
checks=$((checks + 1))
! grep -q "cores\? that" err || fail "a warning of one thread"
cores=$(env -u OMP_NUM_THREADS nproc)
try run --dry-run a.ini machine.threads=$((cores + 1))
exits 0 "a thread too many"
printed "with $((cores + 1)) threads in all, but $cores core" "threads = $cores"
try run --dry-run a.ini machine.threads=$((4 * cores))
exits 0 "four threads a core"
for n in $((4 * cores + 1)) 4096; do
    try run a.ini machine.threads=$n
    exits 2 "machine.threads=$n"
    printed "$n threads per rank" "may use $cores core" "up to $((4 * cores))"
done
if command -v taskset >/dev/null; then
    status=0
    taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" "$plaq" run --dry-run a.ini machine.threads=2 </dev/null >out 2>err || status=$?
    exits 0 "two threads on one core"
    printed "1 rank on" "with 2 threads in all, but 1 core that it may use" "threads = 1"
fi
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    try_ranks $((cores + 2)) run --dry-run g.ini machine.grid=1.1.1.$((cores + 2)) lattice.size=4.4.4.$((2 * cores + 4))
    exits 0 "more ranks than cores"
    printed "$((cores + 2)) ranks on" "but $cores core"
    same "warnings" 1 "$(grep -c "threads in all" err)"
fi

# ---- numbers that do not exist ----

say "averages over no trajectory"
for words in "run.trajectories=0" "run.trajectories=2 run.warmup=5"; do
    try run --json g.ini run.output=none $words
    exits 0 "$words"
    for key in acceptance exp_dh exp_dh_error plaquette plaquette_error; do same "$key, $words" null "$(value $key)"; done
    checks=$((checks + 1))
    ! grep -q "acceptance  \|nan" err || fail "$words: averages are printed"
    rm -r none
done
try run --json g.ini run.output=one run.trajectories=1
same "the error of one value" null "$(value plaquette_error)"
checks=$((checks + 1))
! grep -q "nan" err || fail "nan is printed"

say "measurements that fail"
cat a.ini - >m.ini <<'INI'

[solver.bad]
tolerance = 1e-10
max_iterations = 1
[measure.pion]
kind = pion
propagator = light
[propagator.light]
quark = light
source = origin
solver = bad
[source.origin]
[measure.loops]
kind = loops
INI
try run --json m.ini run.output=measured run.trajectories=2
exits 1 "a run whose measurements fail"
same "finished" true "$(value finished)"
printed '"failed_measurements": {"pion": 2, "loops": 0}' "measure.pion failed 2 times: its rows are missing, the ensemble is whole"
try run --json a.ini run.output=plain run.trajectories=2
same "trajectories beside them" "$(value digest)" "$(sed -n 's/.*digest: \([0-9a-f]*\).*/\1/p; s/.*links \([0-9a-f]\{64\}\).*/\1/p' err | tail -1)"
try run --json m.ini run.output=measured run.trajectories=3 propagator.light.solver=accept
exits 0 "with another solver"
printed '"failed_measurements": {"pion": 0, "loops": 0}'

# ---- the campaign ----

# The keys as SECTION KEY, the section as in base.ini, which has all of them.
"$plaq" help --markdown | sed -n 's/^## \[\(.*\)\]$/S \1/p; s/^| `\([a-z_0-9]*\)` .*/K \1/p' | awk '
    $1 == "S" { section = $2; sub(/integrator.NAME/, "integrator.0", section); sub(/quark.NAME/, "quark.light", section); sub(/action.NAME/, "action.light", section)
                sub(/solver.NAME/, "solver.force", section); sub(/measure.NAME/, "measure.flow", section)
                sub(/links.NAME/, "links.smeared", section); sub(/smearing.NAME/, "smearing.gauss", section)
                sub(/source.NAME/, "source.point", section); sub(/propagator.NAME/, "propagator.light", section); next }
    { print section, $2 }' >keys
cat a.ini - >base.ini <<'INI'

[machine]
device = cpu

[measure.flow]
kind = flow
flow_time = 0.1
interval = 2

[links.smeared]
kind = stout
rho = 0.1
steps = 1

[smearing.gauss]
width = 1
steps = 4

[source.point]

[propagator.light]
quark = light
source = point
INI
values=('' 0 -1 1 2 3 7 1e308 -1e308 1e-320 nan inf -inf 0x10 +3 1e400 1e-400 9223372036854775807 9223372036854775808
    -9223372036854775808 4294967296 2147483648 32767 0.5 0.999999999999999999 4.4.4.4 0.0.0.0 -4.4.4.4 32766.32766.32766.32766
    2.2.2.2 1.1.1.3 '4.4.4.4.' yes no auto rank light gauge 'gauge gauge' 'light light.det' force light.det a/../b /dev/null /dev/full
    $'caf\xe9' $'a\x01b' '%s%n%n' '1,5' '1e5' '-0' '"1"' "$(printf 'x%.0s' {1..150})" "$(printf '9%.0s' {1..150})" '1 2 3' '1:1' '$HOME' . ' ' '1e' '2d0')
RANDOM=20260
number=0 accepted=0
say "${PLAQ_CAMPAIGN:-50} absurd keys"
while [ $number -lt "${PLAQ_CAMPAIGN:-50}" ]; do
    number=$((number + 1))
    read -r section key < <(sed -n "$((RANDOM % $(wc -l <keys) + 1))p" keys)
    v=${values[RANDOM % ${#values[@]}]}
    rm -rf out.run
    # In place of what the section has.
    S=$section K=$key V=$v awk '
        /^\[/ { inside = $0 == "[" ENVIRON["S"] "]"; seen += inside }
        inside && $1 == ENVIRON["K"] && $2 == "=" { next }
        { print }
        /^\[/ && inside { print ENVIRON["K"] " = " ENVIRON["V"] }
        END { if (!seen) print "[" ENVIRON["S"] "]\n" ENVIRON["K"] " = " ENVIRON["V"] }' base.ini >absurd.ini
    what="[$section] $key = $(printf %.40q "$v")"
    try run --dry-run absurd.ini
    checks=$((checks + 1))
    case $status in
    0)
        accepted=$((accepted + 1))
        status=0
        # One trajectory, or as much of it as there is time for.
        timeout --preserve-status -s USR1 -k 20 20 "$plaq" run absurd.ini run.max_hours=1e-6 </dev/null >out 2>err || status=$?
        case $status in 0 | 1 | 2 | 4) ;; *) fail "$what: accepted, and then status $status" ;; esac
        ;;
    2)
        [ "$(grep -c '^plaq: error: ' err)" -eq 1 ] || fail "$what: not one message"
        grep -q "absurd.ini:[0-9]*: .*$key" err || fail "$what: the message names no file, line and key"
        [ ! -e out.run ] || fail "$what: a folder was made"
        ;;
    *) fail "$what: status $status" ;;
    esac
done
say "$accepted of $number were accepted"
finish

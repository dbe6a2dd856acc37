# Help on everything, words that the program does not know, exit statuses, and every input file that comes with it.
. "$(dirname "$0")/kit.bash"

say "plaq --help, --version, nothing"
try --help
exits 0 "--help"
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
for c in run measure effective solve check convert fix verify bench rational help; do
    checks=$((checks + 1))
    echo "$commands" | grep -qx $c || fail "--help does not list $c"
done
printed "Exit status: 0 success" "5 a rank hung" "6 a GPU failed"
try -h
exits 0 "-h"
try --version
exits 0 "--version"
printed "plaq "
try
exits 2 "without a command"
printed "usage: plaq COMMAND"

say "each command"
for c in $commands; do
    try $c --help
    exits 0 "$c --help"
    printed "usage: plaq $c" "--help"
    try $c -h
    exits 0 "$c -h"
    printed "usage: plaq $c"
    try help $c
    exits 0 "help $c"
    printed "usage: plaq $c"
    try $c --nonsense
    exits 2 "$c --nonsense"
    printed "plaq: error: plaq $c: unknown option --nonsense" "plaq $c --help"
done
for c in run measure effective solve check convert fix verify rational; do
    try $c
    exits 2 "$c without arguments"
    printed "argument"
done

say "help run: the command and the keys of its section"
try help run
printed "usage: plaq run" "max_hours" "--accept-changes"

say "help WORD: keys by their names, values and help"
for word in clover:quark pion:measure omelyan2:integrator CHECKSUM:save; do
    try help ${word%:*}
    exits 0 "help $word"
    printed "[${word#*:}"
done
try help omelyan2
same "sections about omelyan2" 1 "$(grep -c '^\[' out)"
try help beta
printed "coupling: S = beta sum" "mentioned by" "save.name"
for word in mspcg gcr-dd MSPCG; do
    try help $word
    exits 0 "help $word"
    printed "[solver.NAME]"
done
try help mspcg
printed "pcg: conjugate gradients" "multisplitting: conjugate gradients"
checks=$((checks + 1))
! grep -q "bicgstab:" out || fail "help mspcg tells of other solvers"
try help clover
printed "two_flavours: two degenerate" "wilson_clover: Wilson-clover"
say "the help of a key is whole: every solver has its line"
try help solver
for type in cg block_cg bicgstab gcr ca_gcr mr refine schwarz pcg multisplitting reduced_Ls multigrid; do
    checks=$((checks + 1))
    grep -q "^      $type: " out || fail "help solver: no line of $type"
done
checks=$((checks + 1))
grep -q "reduced\\\\_Ls: another preconditioner on fewer slices" "$source/inputs/KEYS.md" || fail "KEYS.md is cut"
try help xyzzy
exits 2 "help about nothing"
printed "no section or key 'xyzzy'"

say "standard output that cannot be written"
for arguments in --help "run --help" help "help beta"; do
    status=0
    "$plaq" $arguments >/dev/full 2>err || status=$?
    : >out
    exits 2 "$arguments > /dev/full"
    printed "plaq: error: standard output cannot be written: No space left on device"
done

say "a reader that has seen enough"
for arguments in --help help "help --markdown" "bench --help"; do
    { "$plaq" $arguments 2>err || echo "$arguments: $?" >left; } | head -n 1 >/dev/null
    checks=$((checks + 1))
    [ ! -e left ] && [ ! -s err ] || fail "$(cat left err 2>/dev/null)"
done

say "words with an equals sign"
try check "$source/README.md" bad=1.lime
printed "bad=1.lime: " "README.md: DAMAGED"
checks=$((checks + 1))
[ $status -ne 0 ] || fail "two files that are none"
try check lattice.size=4.4.4.4
printed "lattice.size=4.4.4.4: "
try bench run.seed=1
exits 2 "bench takes no keys"
printed "unexpected argument run.seed=1"
say "what bench runs has the fields that it needs"
for op in hop clover blas force gauge random cg staggered_hop staggered_naive staggered_hop_13 staggered_hop_9 \
    staggered_cg_half staggered_shifts staggered_shift fatten fatten_back lengthen lengthen_back project_links project_back \
    links_to_momenta phases scale_links phases_of_links special_links hisq_links hisq_sibling hisq_force staggered_outer; do
    try bench --json --op $op --lattice 4.4.4.8 --prec double --seconds 0.001
    exits 0 "bench --op $op"
    checks=$((checks + 1))
    grep -q '"kernel": ' out || fail "bench --op $op printed nothing"
done

say "several right-hand sides"
try bench --json --rhs 1,2 --lattice 4.4.4.8 --prec double --seconds 0.001
exits 0 "bench --rhs 1,2"
for rhs in 1 2; do
    checks=$((checks + 1))
    grep -q "\"rhs\": *$rhs," out || fail "bench --rhs 1,2 ran none with $rhs"
done
same "forces with --rhs 1,2" 1 "$(grep -c '"kernel": *"gauge_force"' out)"

say "with and without SIMD"
for simd in yes no; do
    try bench --json --op norm2 --simd $simd --lattice 4.4.4.8 --prec double --seconds 0.001
    exits 0 "bench --simd $simd"
    checks=$((checks + 1))
    grep -q "\"simd\": *\"$simd\"" out || fail "bench --simd $simd ran otherwise"
done
try bench --simd off
exits 2 "bench --simd off"

say "options of bench that would be ignored, and nothing to measure"
# refused TEXT ARGUMENTS...
refused() {
    local text=$1
    shift
    try bench --lattice 4.4.4.8 --seconds 0.001 "$@"
    exits 2 "bench $*"
    printed "$text"
}
refused "--transport is for --device gpu" --device cpu --transport host
refused "--tune-file is for --device gpu" --device cpu --tune-file none
refused "four numbers of at least 1" --grid 0.0.0.1
refused "start more than one" --op halo
refused "nothing to measure" --op cg_half --prec single
refused "nothing to measure" --op staggered_shifts --rhs 2
refused "nothing to measure" --lattice ''
refused "--calibrate chooses what is measured" --calibrate c.cal --op cg
refused "--calibrate measures on one lattice" --calibrate c.cal --lattice 4.4.4.8,8.8.8.8

say "a plan from a calibration"
try bench --calibrate here.cal --lattice 4.4.4.8 --seconds 0.001
exits 0 "a calibration"
printed "staggered_cg" "1 rank of" "4.4.4.8 per rank" "run --dry-run --calibration here.cal"
# Rates of round numbers: the rest of the gauge force on 8 ranks, 4 a node, at 1 GF/s each.
sed 's/^\(double\|single\|half\) = .*/\1 = 1/; s/^nodes = .*/nodes = 2/; s/^ranks = .*/ranks = 8/; s/^host = .*/host = cluster/' here.cal >cluster.cal
plan() { "$plaq" run --dry-run --json --ranks 8 --calibration cluster.cal "$source/inputs/pure-gauge.ini" "$@" 2>err; }
plan run.trajectories=500 lattice.size=16.16.16.16 >out
same "from the file" '"cluster.cal"' "$(sed -n 's/.*"calibration": \("[^"]*"\).*/\1/p' out)"
printed "rates are those of cluster.cal: 8 ranks of" "on cluster (CPU)"
checks=$((checks + 1))
awk -v f="$(value trajectory_flops)" -v s="$(value trajectory_seconds)" -v r="$(value run_seconds)" -v n="$(value nodes)" \
    -v h="$(value node_hours)" 'function off(a, b) { return a < 0.999999 * b || a > 1.000001 * b }
    BEGIN { exit n != 2 || !(f > 0) || off(8e9 * s, f) || off(r, 500 * s) || off(3600 * h, 2 * r) }' ||
    fail "the plan is $(cat out)"
try run --dry-run "$source/inputs/pure-gauge.ini"
printed "rates are those of this machine, measured now" "plaq bench --calibrate FILE"
try run --calibration here.cal "$source/inputs/pure-gauge.ini"
exits 2 "a calibration without a plan"
printed "needs --dry-run"
try run --dry-run --calibration "$source/inputs/pure-gauge.ini" "$source/inputs/pure-gauge.ini"
exits 2 "an input file for a calibration"
printed "there is no section [place]; give a file that plaq bench --calibrate wrote"
sed '/rate.mobius_cg/,$d' here.cal >short.cal
try run --dry-run --calibration short.cal "$source/inputs/pure-gauge.ini"
exits 0 "a calibration that lacks a rate"
printed "there is no section [rate.mobius_cg], so the rate of gauge_force is taken"

sed '/rate.gauge_force/,$d' here.cal >short.cal
try run --dry-run --calibration short.cal "$source/inputs/pure-gauge.ini"
exits 2 "a calibration that lacks the rate of all that lack one"
printed "there is no section [rate.gauge_force]"

say "a calibration that is stopped has what it measured"
background "$plaq" bench --calibrate stopped.cal --lattice 4.4.4.8 --seconds 0.5
for _ in $(seq 500); do
    grep -q "^ 1 of" out && break
    sleep 0.02
done
kill -INT $pid
status=0
wait $pid || status=$?
exits 0 "a stopped calibration"
printed "the calibration ends early" "written to stopped.cal"
same "the rate that it has" 1 "$(grep -c 'rate.gauge_force' stopped.cal)"
checks=$((checks + 1))
[ "$(grep -c '^.rate' stopped.cal)" -lt "$(grep -c '^.rate' here.cal)" ] || fail "it was not stopped"
try run --dry-run --calibration stopped.cal "$source/inputs/pure-gauge.ini"
exits 0 "a plan from it"

say "messages between ranks, and lanes, are in the plan"
{
    cat cluster.cal
    printf '\n[network]\nlatency = 1000\nbandwidth = 1\n'
} | sed 's/^one_lane = .*/one_lane = 3/' >network.cal
plan run.trajectories=500 lattice.size=16.16.16.16 >out
without=$(value trajectory_seconds)
"$plaq" run --dry-run --json --ranks 8 --calibration network.cal "$source/inputs/pure-gauge.ini" lattice.size=16.16.16.16 >out 2>err
printed "messages" "by 1e+03 us and 1 GB/s between ranks"
# Split in three directions, faces of 8^2 16 or 8^3 sites of two layers of four links of 144 bytes, one exchange a force.
checks=$((checks + 1))
awk -v s="$(value trajectory_seconds)" -v n="$(value network_seconds)" -v w="$without" 'BEGIN { d = (s - w - n) / s
    exit !(n > 0) || d > 1e-9 || d < -1e-9 }' || fail "messages: $(cat out), without $without"
"$plaq" run --dry-run --json --ranks 8 --calibration network.cal "$source/inputs/pure-gauge.ini" lattice.size=12.12.12.6 machine.grid=2.2.2.1 >out 2>err
printed "a rank has 6.6.6.6 sites, which SIMD lanes do not divide" "3.0 times slower"
same "slower without lanes" 3 "$(value slower_without_lanes)"

say "iterations: of a model, of the history, measured"
write_input clover.ini
iterations() { "$plaq" run --dry-run --json clover.ini --calibration here.cal "$@" 2>err >out; }
iterations quark.light.kappa=0.130
same "a model" model "$(value iterations_light_from)"
heavy=$(value iterations_light)
printed "a model by mass, solver and tolerance" "--configuration FILE"
iterations quark.light.kappa=0.135
checks=$((checks + 1))
awk -v l="$(value iterations_light)" -v h="$heavy" 'BEGIN { exit !(l > 1.5 * h) }' || fail "light quarks take $(value iterations_light), heavy ones $heavy"
try run clover.ini
exits 0 "a run"
iterations
same "the history" history "$(value iterations_light_from)"
past=$(value iterations_light)
# The same integrator with half of the steps takes half of the solves, and as many iterations in each.
iterations integrator.0.steps=2
same "iterations of a solve" "$past" "$(value iterations_light)"
iterations quark.light.kappa=0.131 --accept-changes
same "not of another quark" model "$(value iterations_light_from)"
iterations run.output=other --configuration out.run/checkpoint-000004.h5
same "measured" configuration "$(value iterations_light_from)"
printed "measured on out.run/checkpoint-000004.h5"
checks=$((checks + 1))
awk -v m="$(value iterations_light)" -v p="$past" 'BEGIN { exit !(m > 0.6 * p && m < 1.6 * p) }' ||
    fail "measured $(value iterations_light), in the run $past"
try run --configuration out.run/checkpoint-000004.h5 clover.ini
exits 2 "a configuration without a plan"
printed "--configuration out.run/checkpoint-000004.h5 is for a plan and needs --dry-run"

if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    say "a calibration of two ranks has the network"
    try_ranks 2 bench --calibrate two.cal --lattice 4.4.4.8 --seconds 0.001
    exits 0 "a calibration of two ranks"
    printed "between ranks:"
    same "its section" 1 "$(grep -c '^.network' two.cal)"
    say "work of bench does not depend on the ranks"
    for ranks in 1 2; do
        try_ranks $ranks bench --json --op staggered_hop --lattice 4.4.4.8 --prec double --seconds 0.001
        exits 0 "bench on $ranks ranks"
        awk -F'[:,]' '{ for (i = 1; i < NF; i++) { if ($i ~ /"seconds"/) s = $(i + 1); if ($i ~ /"gflops"/) g = $(i + 1) }
            printf "%.0f\n", 1e9 * s * g }' out >flops.$ranks
    done
    same "flops of a call" "$(cat flops.1)" "$(cat flops.2)"
fi

say "words that are nearly right"
try rnu
exits 2 "rnu"
printed "unknown command 'rnu'; did you mean 'run'?"
try xyzzy
exits 2 "xyzzy"
printed "unknown command 'xyzzy'" "plaq --help"
try run --dry-rum a.ini
exits 2 "--dry-rum"
printed "--dry-rum; did you mean --dry-run?"
try check --jsno a
exits 2 "--jsno"
printed "did you mean --json?"

say "plaq help: the keys"
try help
exits 0 "help"
for section in '[run]' '[machine]' '[lattice]' '[gauge]' '[quark.NAME]' '[action.NAME]' '[integrator.NAME]' '[solver.NAME]' '[checkpoint]' '[measure.NAME]'; do
    printed "$section"
done
try help beta
exits 0 "help beta"
printed "beta" "coupling"
try help gauge.beta
exits 0 "help gauge.beta"
printed "coupling"
try help quark
exits 0 "help of a section"
printed "kappa" "c_sw"
try help bete
exits 2 "help bete"
printed "beta"
try help --markdown
exits 0 "help --markdown"
printed "| \`beta\`"

say "every input file"
n=0
for input in "$source"/inputs/*.ini; do
    if ! grep -q '^\[run\]' "$input"; then
        continue # for plaq measure
    fi
    n=$((n + 1))
    # Ranks are those that the input names, for its lattice may be too large for one.
    ranks=$(sed -n 's/.*mpirun -n \([0-9]*\) plaq run.*/\1/p' "$input" | head -n 1)
    try run --dry-run --ranks ${ranks:-1} "$input"
    exits 0 "$input"
    printed "everything is in order" "memory" "checkpoint" "cost" "on grid"
    checks=$((checks + 1))
    [ -z "$(ls -d results* 2>/dev/null)" ] || fail "$input: a dry run left a folder"
done
checks=$((checks + 1))
[ $n -ge 1 ] || fail "no input files"
say "a plan for other machines"
for ranks in 64 4096; do
    try run --dry-run --json --ranks $ranks "$source/inputs/clover-2f.ini" lattice.size=128.128.128.256
    exits 0 "a plan for $ranks ranks"
    same "ranks" $ranks "$(value ranks)"
    same "lines of JSON" 1 "$(wc -l <out)"
    checks=$((checks + 1))
    [ "$(value memory_predicted)" -gt 1000000000 ] || fail "memory of a 128^3x256: $(value memory_predicted)"
done
say "what the sections make together"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini"
printed "2 flavours of mass 0.013 (hisq)" "1 flavour of mass 0.065 (hisq)" "1 flavour of mass 0.838 (hisq, naik_epsilon -0.35469)"
same "what is divided by, and a warning" 0 "$(cat out err | grep -c 'flavours of mass 0.2\|whose loops\|at tree level\|warning: .*approximation')"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" quark.charm.naik_epsilon=auto quark.strange.mass=0.07
printed "1 flavour of mass 0.07 (hisq)" "naik_epsilon -0.354687)" "action.light.with = 0.07:1 0.2:-3"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" gauge.flavours=3
printed "warning: [gauge] flavours = 3" "4 flavours of HISQ quarks"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" quark.charm.naik_epsilon=-0.25
printed "warning: [quark.charm] naik_epsilon = -0.25, but a quark of mass 0.838 moves as in the continuum with -0.3522"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" quark.charm.naik_epsilon=0 gauge.action=symanzik_tadpole gauge.flavours=0
exits 2 "a number of quarks of an action without their loops"
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" quark.charm.naik_epsilon=0
printed "warning: [quark.charm] naik_epsilon = 0, but a quark of mass 0.838 moves as in the continuum with -0.3522"
sed '/^flavours = 4$/d; s/symanzik_1loop_hisq/symanzik_1loop/' "$source/inputs/hisq-2plus1plus1.ini" >loops.ini
try run --dry-run loops.ini
printed "warning: [gauge] action = symanzik_1loop is without the loops of HISQ quarks"
try run --dry-run "$source/inputs/asqtad-2plus1.ini" gauge.action=symanzik_1loop_hisq gauge.flavours=3
printed "warning: [gauge] flavours = 3" "0 flavours of HISQ quarks"
try run --dry-run "$source/inputs/asqtad-2plus1.ini" quark.strange.u0=0.9 "action.light.with=0.05:1 heavy:-3"
printed "[quark.strange] is measured only: mass 0.05 (asqtad, u0 0.9), no action" \
    "warning: [quark.strange] u0 = 0.9, but [gauge] u0 = 0.8677"
try run --dry-run "$source/inputs/asqtad-2plus1.ini" gauge.u0=0.9
printed "2 flavours of mass 0.01 (asqtad, u0 0.8677)" "u0 = 0.8677, but [gauge] u0 = 0.9"
say "rational functions too coarse for the lattice"
# On 16^3 x 48 a colour vector on half of the sites has 294912 numbers, and 0.1 is 3.4e-7 of that. Three pseudofermions
# have three times as many, and a spinor four times.
try run --dry-run "$source/inputs/hisq-2plus1plus1.ini" action.light.approximation=4e-7 action.charm.approximation=3e-7 \
    action.heavy.approximation=1e-6
printed "warning: [action.light] approximation = 4e-07 on this lattice: dH is then wrong by up to 0.12; give 3e-07 or less" \
    "[action.heavy] approximation = 1e-06" "up to 0.88; give 1e-07 or less"
same "warnings of the charm quark" 0 "$(cat out err | grep -c 'warning: .action.charm. approximation' || true)"
try run --dry-run "$source/inputs/clover-2plus1.ini" action.strange.approximation=1e-6 lattice.size=16.16.16.48
printed "[action.strange] approximation = 1e-06" "up to 1.2; give 8e-08 or less"
try run --dry-run "$source/inputs/clover-hasenbusch.ini"
printed "2 flavours of mass"
same "masses between" 1 "$(cat out err | grep -c 'flavours\? of mass')"
try run --dry-run --ranks 3 "$source/inputs/quickstart.ini"
exits 2 "3 ranks"
printed "cannot be split over 3 ranks"
if [ -f "$source/inputs/measure.ini" ] && [ -d "$data" ]; then
    say "inputs/measure.ini on a sample configuration"
    try measure --json "$source/inputs/measure.ini" "$data/lat.sample.l4448"
    exits 0 "measure"
    printed '"plaquette": 0.56905572'
fi

say "the manual page"
try help --man
exits 0 "help --man"
printed ".TH PLAQ 1" "\\fBkappa\\fR" ".SS [solver.NAME]"
if command -v man >/dev/null; then
    man --warnings -l out >page 2>minds || true
    same "lines that man minds" 0 "$(wc -l <minds)"
fi

say "completion in bash"
# complete WORD...: what there is for the last word.
complete() {
    PATH=$(dirname "$plaq"):$PATH bash -c '. "$0"; compopt() { :; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _plaq
        echo ${COMPREPLY[@]}' "$source/hmc/command/completion.bash" "$(basename "$plaq")" "$@"
}
same "commands" "measure" "$(complete mea)"
same "options" "--rhs" "$(complete solve --rh)"
same "keys" "lattice.size=" "$(complete run a.ini lattice.s)"
same "sections" "quark." "$(complete run a.ini quark.)"
touch solver.txt
same "files" "solver.txt" "$(complete run a.ini solver.t)"
finish

# plaq measure: what it finds on configurations, and what JSON says of each.
. "$(dirname "$0")/kit.bash"
write_pure_gauge gauge.ini
printf '[measure.loops]\nkind = loops\n' >m.ini
try run gauge.ini run.output=made run.trajectories=4 checkpoint.interval=2
exits 0 "two configurations"
good=made/checkpoint-000002.h5

say "configurations that cannot be measured"
try measure m.ini bad=1.lime
exits 2 "a name with an equals sign"
printed "bad=1.lime: "
try measure m.ini $good lattice.size=4.4.4.8
exits 2 "another size"
printed "[lattice] size = 4.4.4.8, but $good has 4.4.4.4"

say "JSON"
try measure --json m.ini $good made/checkpoint-000004.h5
exits 0 "measure"
same "objects" 4 "$(wc -l <out)"
same "trajectory of the first configuration" 2 "$(sed -n '1s/.*"trajectory": *\([^,}]*\).*/\1/p' out)"
printed "configuration 1 of 2: " "configuration 2 of 2: " "ETA"
try measure --output list.h5 m.ini $good
exits 0 "the first of a list"
try measure --output list.h5 m.ini $good made/checkpoint-000004.h5
exits 0 "the list goes on where it was"
printed "measure.loops of these links is in list.h5 already" "configuration 1 of 2: nothing to measure"
rectangle=$("$plaq" measure --json m.ini $good 2>/dev/null | sed -n '1s/.*"rectangle": *\([^,}]*\).*/\1/p')
"$plaq" measure --json m.ini $good >out 2>err
same "rectangle of the configuration and of its loops" "$rectangle" "$(sed -n '2s/.*"rectangle": *\([^,}]*\).*/\1/p' out)"

say "parts of a list"
"$plaq" run gauge.ini run.output=more run.trajectories=5 checkpoint.interval=1 checkpoint.keep=9 >/dev/null 2>&1
list=$(echo more/checkpoint-00000?.h5)
try measure --output whole.h5 m.ini $list
exits 0 "the whole list"
"$plaq" measure --output shared.h5 --part 1/2 m.ini $list >one 2>&1 &
other=$!
try measure --output shared.h5 --part 2/2 m.ini $list
exits 0 "the second part, beside the first"
wait $other
same "status of the first part" 0 $?
if command -v h5dump >/dev/null; then
    rows() { h5dump -d /configs/digest -w 0 "$1" | grep -oE '[0-9a-f]{64}' | sort; }
    same "configurations of both parts" "$(rows whole.h5)" "$(rows shared.h5)"
fi
try measure --output shared.h5 m.ini $list
exits 0 "nothing is left to measure"
same "rows that are there" "$(echo $list | wc -w)" "$(grep -c 'already, and is not measured again' out)"
try measure --part 9/9 m.ini $list
exits 0 "a part without configurations"
printed "part 9/9: 0 of "
for bad in 0/2 3/2 2 x/2 2/x /2 2/; do
    try measure --part $bad m.ini $list
    exits 2 "--part $bad"
    printed "--part $bad"
done

say "a campaign before it is run"
cat >campaign.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = tight
[solver.tight]
type = cg
tolerance = 1e-10
[solver.loose]
type = cg
tolerance = 1e-3
[source.origin]
[propagator.light]
quark = light
source = origin
[measure.pion]
kind = pion
propagator = light
[measure.rho]
kind = mesons
propagator = light
INI
printf '[place]\nprogram = p\nhost = h\ndevice = cpu\ndate = today\nnodes = 2\nranks = 8\nthreads = 1\nlocal = 8.8.8.8\n' >here.cal
printf '[rate.%s]\ndouble = 10\nsingle = 10\nhalf = 10\n' gauge_force cg >>here.cal
# planned KEY SETTINGS...: the number of the plan for 16 ranks of that machine.
planned() {
    local key=$1
    shift
    "$plaq" measure --dry-run --json --calibration here.cal --ranks 16 campaign.ini "$@" >out 2>err || fail "a plan with $*"
    value "$key"
}
# times WHAT A B FACTOR: B is FACTOR times A, to 1e-9.
times() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" -v f="$4" 'BEGIN { exit !(a > 0 && (b / a / f - 1) ^ 2 < 1e-18) }' || fail "$1: '$2' and '$3'"
}
size=lattice.size=16.16.16.32
one=$(planned solve_seconds $size)
times "two measurements share solves" "$one" "$(planned configuration_seconds $size)" 1
times "four times the volume" "$one" "$(planned solve_seconds lattice.size=16.16.32.64)" 4
times "four nodes" "$(planned seconds $size)" "$(planned node_hours $size)" "$(awk 'BEGIN { printf "%.15g", 4 / 3600 }')"
times "positions" "$one" "$(planned solve_seconds $size measure.pion.positions=8 measure.rho.positions=8)" 8
times "one measurement at its place, another at eight" "$one" "$(planned solve_seconds $size measure.pion.positions=8)" 9
rough="measure.pion.positions=8 measure.pion.exact_positions=2 measure.rho.positions=8 measure.rho.exact_positions=2 propagator.light.rough_solver=loose"
# Iterations go with ln(2 / tolerance).
# shellcheck disable=SC2086 # settings are words
times "rough positions" "$one" "$(planned solve_seconds $size $rough)" "$(awk 'BEGIN { printf "%.15g", 2 + 8 * log(2e3) / log(2e10) }')"
printed "24 right-hand sides a configuration by tight" "propagator.light, rough: 96 right-hand sides a configuration by loose"
bytes=$(planned propagator_bytes $size propagator.light.file=light-%d.h5)
same "bytes of a propagator" $((16 * 16 * 16 * 32 * 288 * 8)) "$bytes"
same "no disk without files" 0 "$(planned disk_bytes $size)"
try measure --dry-run --json --calibration here.cal --ranks 16 campaign.ini $good $good
exits 0 "a plan of two"
same "configurations" 2 "$(value configurations)"
times "two configurations" "$(value configuration_seconds)" "$(value seconds)" 2
try measure --calibration here.cal campaign.ini $good
exits 2 "a calibration without a plan"
printed "is for a plan and needs --dry-run"

say "dry runs"
levels="solver.multigrid.block=2.2.2.2 solver.multigrid.vectors=8"
try measure --dry-run --json "$source/inputs/multigrid.ini" $good $levels
exits 0 "a dry run"
printed "(this input)" "coarse sites, memory" "nothing was run"
same "blockings of the input" 1 "$(grep -c '"block": \[2, 2, 2, 2\].*"input": true' out)"
checks=$((checks + 1))
[ "$(grep -c '"input": false' out)" -gt 0 ] || fail "no other blocking"
same "what is said of the lattice" 1 "$(grep -c '"dry_run": true.*"memory_predicted": [1-9]' out)"
try measure --dry-run --ranks 2 "$source/inputs/multigrid.ini" lattice.size=8.8.8.16 machine.grid=1.1.1.2
exits 0 "a dry run without a configuration, for other ranks"
printed "8.8.8.8 per rank" "as far as this machine can tell"
try measure --dry-run "$source/inputs/multigrid.ini" $good solver.multigrid.block=3.2.2.2
exits 2 "a blocking that does not divide, in a dry run"
printed "[solver.multigrid] block = 2.2.2.2" "aggregates of 3.2.2.2"
try measure --dry-run "$source/inputs/multigrid.ini"
exits 2 "a dry run of no lattice"
printed "lattice.size=X.Y.Z.T"
try measure --ranks 4 m.ini $good
exits 2 "ranks without a dry run"
printed "needs --dry-run"
try measure m.ini
exits 2 "no configuration"
printed "no configuration"

say "estimates of errors"
try measure --json --output errors.h5 "$source/inputs/multigrid.ini" $good $levels quark.light.kappa=0.12 propagator.light.error_estimate=yes
exits 0 "a pion with errors"
same "error and ratio" 1 "$(grep -c '"error": [0-9].*"error_ratio": [0-9]' out)"
try measure --json "$source/inputs/multigrid.ini" $good $levels quark.light.kappa=0.12
same "none without" 1 "$(grep -c '"error": null.*"error_ratio": null' out)"

say "staggered quarks"
cat >q.ini <<'INI'
[run]
seed = 9

[lattice]
time_boundary = antiperiodic

[measure.condensate]
kind = condensate
quark = light
vectors = 3
traces = yes

[measure.mesons]
kind = staggered_mesons
quark = light
source = place
tastes = i5 i4
transport = fat

[source.place]
place = 1.0.3.2

[smearing.gauss]
width = 1
steps = 4

[quark.light]
kind = staggered
links = asqtad
u0 = 0.9
mass = 0.1
solver = cg

[quark.wilson]
kappa = 0.11
solver = cg

[solver.cg]
type = cg
tolerance = 1e-10
INI
say "a quark that is only measured, in a run"
sed '/^\[quark.wilson\]/,/^$/d; /^\[run\]/,/^$/d; /^\[lattice\]/,/^$/d; s/^place/; &/' q.ini | cat gauge.ini - >run.ini
try run run.ini run.output=during run.trajectories=2 lattice.size=4.4.4.8 run.seed=9
exits 0 "a run with a quark that is only measured"
printed "[quark.light] is measured only: mass 0.1"
try measure --json --output after.h5 run.ini during/checkpoint-000002.h5 lattice.size=4.4.4.8 run.seed=9
exits 0 "the same on its checkpoint"
if command -v h5dump >/dev/null; then
    last() { h5dump -A 0 -y -w 1 -m %.17g -d "$2" "$1" | grep -E '^ *[-0-9.e+]+,?$' | tail -n 3 | tr -d ' ,'; }
    for column in condensate imaginary density curvature square; do
        same "$column" "$(last during/history.h5 /measure/condensate/$column)" "$(last after.h5 /measure/condensate/$column)"
    done
fi
grow="run.start=hot run.trajectories=1 run.length=0.1 lattice.size=4.4.8.8"
try run gauge.ini run.output=grown $grow
exits 0 "a configuration for four ranks"
grown=$(echo grown/checkpoint-*.h5)
try measure --json --output q.h5 q.ini $grown
exits 0 "condensate and mesons"
same "objects" 7 "$(wc -l <out)" # the configuration, 3 vectors, a correlator, and a summary each
printed '"kind": "condensate"' '"square": ' '"t": [0, 1, 2, 3, 4, 5, 6, 7], ' '"pion_i4": [' '"pion_1": [null, '
if command -v python3 >/dev/null; then
    checks=$((checks + 1))
    python3 - out <<'PY' || fail "a correlator as arrays"
import json, sys
row = [r for r in map(json.loads, open(sys.argv[1])) if "pion_i4" in r]
assert len(row) == 1 and len(row[0]["pion_i4"]) == 8 and all(c > 0 for c in row[0]["pion_5"]), row
PY
fi
cp out one
for ranks in 2 4; do
    [ -n "${PLAQ_MPIEXEC:-}" ] || break
    OMP_NUM_THREADS=1 try_ranks $ranks measure --json q.ini $grown
    exits 0 "measure on $ranks ranks"
    strip='s/"grid": [^]]*], //'
    same "results on $ranks ranks" "$(sed "$strip" one)" "$(sed "$strip" out)"
done
# refused WHAT WORDS... -- TEXT...
refused() {
    local what=$1 words=()
    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    try measure q.ini $grown "${words[@]}"
    exits 2 "$what"
    printed "$@"
}
refused "mesons of a Wilson quark" measure.mesons.quark=wilson -- "[measure.mesons] kind = staggered_mesons needs a staggered quark" \
    "[quark.wilson] is of kind = wilson_clover"
refused "traces of a Wilson quark" measure.condensate.quark=wilson -- "traces = yes needs a staggered quark" "[quark.wilson]"
refused "an unknown taste" measure.mesons.tastes=i6 -- "tastes" "i6"
refused "fat transport without tastes" measure.mesons.tastes= -- "transport = fat is for the pions of tastes" "[measure.mesons]"
refused "an unknown noise" measure.condensate.noise=z3 -- "noise" "z3" "did you mean 'z2'?"
refused "no noise" measure.condensate.vectors=0 -- "vectors" "1 <= integer"
refused "a key of another observable" measure.condensate.tastes=i5 -- "[measure.condensate] kind = condensate has no key 'tastes'" \
    "quark solver error_estimate noise vectors traces"
refused "a source outside" source.place.place=0.4.0.0 -- \
    "command line: source.place.place=0.4.0.0: [source.place] lies at 0.4.0.0, outside the lattice of extents 4.4.8.8"
refused "a wall of staggered mesons" source.place.kind=wall -- "kind = wall has no key 'place'"
refused "a place of the earlier form" measure.mesons.source=0.0.0.0 -- "[measure.mesons] source = 0.0.0.0 is of an earlier form"
refused "a smeared source of staggered mesons" source.place.smearing=gauss -- "[measure.mesons] solves from [source.place], which is smeared"
refused "an unknown quark" measure.mesons.quark=ligth -- "quark = ligth" "did you mean 'light'?"
try measure q.ini $grown measure.condensate.traces=no measure.condensate.quark=wilson
exits 0 "the condensate of a Wilson quark"
try measure q.ini $grown solver.cg.max_iterations=2
exits 1 "a solve that does not converge"
printed "measure.condensate: " "too many iterations"
finish

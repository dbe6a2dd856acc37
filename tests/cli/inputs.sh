# Every input file of a run, at small size: two trajectories with a restart between, and plaq verify. Walls are four slices
# apart, and no level makes more than two steps. And the input of plaq train, whose transform the solver then uses.
. "$(dirname "$0")/kit.bash"

small="lattice.size=4.4.4.4 run.warmup=2 run.length=0.25 checkpoint.interval=1"
# shellcheck disable=SC2086 # settings are words
for input in "$source"/inputs/*.ini; do
    grep -q '^\[run\]' "$input" || continue # for plaq measure
    name=$(basename "$input" .ini)
    fewer=$(awk '/^\[/ { gsub(/[][]/, ""); section = $0 }
                 /^Ls *=/ { print section ".Ls=4" }
                 /^steps *=/ && section ~ /^integrator/ && $3 > 2 { print section ".steps=2" }' "$input")
    say "$name"
    try run --json "$input" $small $fewer run.output=whole.$name run.trajectories=2
    exits 0 "$name"
    same "trajectories of $name" 2 "$(value trajectories)"
    digest=$(value digest) rows=$(value history_digest)
    for n in 1 2; do
        try run --json "$input" $small $fewer run.output=parts.$name run.trajectories=$n
        exits 0 "$name, part $n"
    done
    same "links of $name after a restart" "$digest" "$(value digest)"
    same "history of $name after a restart" "$rows" "$(value history_digest)"
    try verify --json "$input" $small $fewer
    exits 0 "verify of $name"
    same "failures of $name" 0 "$(grep -c '"verdict": "fail"' out || true)"
    same "forces of $name" "$(grep -c '"check": "force is' out)" "$(grep '"check": "force is' out | grep -c '"verdict": "pass"')"
done

say "transform"
try run "$source/inputs/pure-gauge.ini" $small run.output=links run.trajectories=1
exits 0 "a configuration"
config=links/checkpoint-000001.h5
four="quark.light.Ls=6 solver.blocks.block=4.4.2.2 solver.blocks.steps=4 solver.cg.tolerance=1e-5 solver.trained.tolerance=1e-5
    solver.all_slices.tolerance=1e-5"
cp "$source/inputs/transform.ini" .
try solve transform.ini $config $four
exits 2 "no transform yet"
printed "light-transform.h5: No such file" "plaq train makes it"
for again in "" ", onto the first"; do
    try train transform.ini $config $four --Ls 4 --mu 0.2 --steps 8 --vectors 2 --every 5
    exits 0 "training$again"
    printed "light-transform.h5: 4 of 6 slices, mu 0.2"
done
try solve --json transform.ini $config $four
exits 0 "solves with the transform"
same "solvers of transform.ini" 3 "$(grep -c '"converged": true' out)"
iterations() { grep "\"solver\": \"$1\"" out | sed 's/.*"iterations": *\([0-9]*\).*/\1/'; }
checks=$((checks + 1))
[ "$(iterations trained)" -lt "$(iterations cg)" ] || fail "iterations with the transform: $(iterations trained), without $(iterations cg)"
try solve transform.ini $config $four quark.light.mass=0.02
exits 2 "a transform of another mass"
printed "light-transform.h5"
finish

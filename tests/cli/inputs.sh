# Every input file of a run, at small size: two trajectories with a restart between, and plaq verify. Walls are four slices
# apart, and no level makes more than two steps.
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
finish

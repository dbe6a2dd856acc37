# Continuing a run: with changed parameters, in a folder that is in use, and from checkpoints and histories that are damaged
# or lost.
. "$(dirname "$0")/kit.bash"
write_input a.ini
sed '$a [quark.heavy]\nmass = 1\nsolver = force\n[measure.c]\nkind = condensate\nquark = heavy\nvectors = 2' a.ini >measured.ini

try run --json a.ini run.output=base run.trajectories=6 checkpoint.interval=2
exits 0 "a run to continue"
links=$(value digest) rows=$(value history_digest)
# changed ARGUMENT KEY: refused and named.
changed() {
    try run a.ini run.output=base run.trajectories=7 "$@"
    exits 2 "continued with $*"
    printed "other physics parameters" "--accept-changes"
}
say "changed physics parameters"
changed gauge.beta=5.7
printed "gauge.beta" 5.6 5.7
changed quark.light.kappa=0.131 quark.light.c_sw=1 run.seed=8 lattice.time_boundary=periodic
printed "quark.light.kappa" "quark.light.c_sw" "run.seed" "lattice.time_boundary"
try run a.ini run.output=base lattice.size=4.4.4.8
exits 2 "continued with another lattice"
printed "4.4.4.4" "4.4.4.8"
say "an action less"
write_pure_gauge gauge.ini
try run gauge.ini run.output=base gauge.beta=5.6 run.seed=7 run.length=0.5
exits 2 "continued without the quark"
printed "quark.light"
say "what is no physics may change"
cp -r base base2
try run --json a.ini run.output=base2 run.trajectories=6 solver.force.tolerance=1e-9 integrator.0.steps=4 checkpoint.keep=1
exits 0 "continued with another tolerance"
printed "computed differently since the checkpoint" "solver.force.tolerance: 1e-08 before, 1e-09 now" "integrator.0.steps: 3 before, 4 now"
same "links" "$links" "$(value digest)"
say "a quark that is only measured comes and goes"
cp -r base base2
try run --json measured.ini run.output=base2 run.trajectories=6
exits 0 "continued with a quark that is only measured"
same "links" "$links" "$(value digest)"
try run --json measured.ini run.output=base2 run.trajectories=8 checkpoint.interval=2
exits 0 "and on"
digest=$(value digest)
try run --json measured.ini run.output=base2 run.trajectories=9 quark.heavy.mass=0.9
exits 2 "with another mass under the same name"
printed "quark.heavy.mass: 1 before, 0.9 now"
try run --json a.ini run.output=base2 run.trajectories=8
exits 0 "and without it"
same "links" "$digest" "$(value digest)"
say "changed links and masses of staggered quarks"
sed 's/^\[quark.light\]/&\nkind = staggered\nmass = 0.3/; s/^kind = two_flavours/kind = rational\nflavours = 2\nwith = 0.6:1\nspectrum = auto/; /^kappa/d; /^c_sw/d; /^schur/d; /^link_reals/d' \
    a.ini >staggered.ini
# staggered FOLDER ARGUMENT KEY
staggered_changed() {
    try run staggered.ini run.output="$1" run.trajectories=2 "$2"
    exits 2 "continued with $2"
    printed "other physics parameters" "$3"
}
for kind in "asqtad quark.light.u0=0.9" hisq; do
    try run staggered.ini run.output=with.${kind%% *} run.trajectories=1 quark.light.links=$kind
    exits 0 "a run with links = $kind"
done
staggered_changed with.hisq quark.light.naik_epsilon=-0.1 "quark.light.naik_epsilon"
staggered_changed with.hisq quark.light.links=naive "quark.light.links: hisq before, naive now"
staggered_changed with.hisq action.light.flavours=3 "action.light.flavours: 2 before, 3 now"
staggered_changed with.hisq action.light.with=0.7:1 "action.light.with: 0.6:1 before, 0.7:1 now"
try run staggered.ini run.output=with.asqtad run.trajectories=2 quark.light.links=asqtad quark.light.u0=0.8
exits 2 "continued with another u0"
printed "other physics parameters" "quark.light.u0: 0.9 before, 0.8 now"
try run staggered.ini run.output=with.hisq run.trajectories=2 quark.light.long_reals=13
exits 0 "other storage of long links"
printed "quark.light.long_reals: 18 before, 13 now"
say "--accept-changes"
cp -r base base3
try run --accept-changes --json a.ini run.output=base3 run.trajectories=7 gauge.beta=5.7
exits 0 "--accept-changes"
printed "changed parameters" "gauge.beta"
same "trajectories" 7 "$(value trajectories)"

say "--accept-changes with other columns in the history"
cp -r base base4
try run --accept-changes --json a.ini run.output=base4 run.trajectories=7 quark.light.c_sw=0
exits 0 "without the clover term"
cat a.ini - >heavy.ini <<'INI'

[quark.heavy]
mass = 1
[action.heavy]
kind = two_flavours
quark = heavy
solver = force
INI
sed -i 's/^actions = light/actions = light heavy/' heavy.ini
try run --accept-changes --json heavy.ini run.output=base4 run.trajectories=8
exits 0 "another action"
printed "quark.heavy" "action.heavy"
try run --json heavy.ini run.output=base4 run.trajectories=9
exits 0 "and on"
same "trajectories" 9 "$(value trajectories)"
if command -v h5dump >/dev/null; then
    for column in action_light.det action_heavy force_light plaquette; do
        checks=$((checks + 1))
        h5dump -H -d "/trajectories/$column" base4/history.h5 | grep -q '( 9 )' || fail "$column has not 9 rows"
    done
fi

say "two runs in one folder"
"$plaq" run a.ini run.output=busy run.trajectories=100000 >out.first 2>err.first &
pid=$!
for _ in $(seq 500); do
    grep -q '^trajectory 1/' out.first err.first && break
    sleep 0.02
done
try run a.ini run.output=busy
exits 2 "a second run"
printed "another run uses this output folder"
kill -TERM $pid
status=0
wait $pid || status=$?
exits 0 "the first run"

# ---- damaged checkpoints ----

for damage in flip cut empty; do
    say "the newest checkpoint damaged: $damage"
    rm -rf hurt
    cp -r base hurt
    newest=hurt/checkpoint-000006.h5
    bytes=$(stat -c %s $newest)
    case $damage in
    flip) flip $newest $((bytes / 2)) ;;
    cut) truncate -s $((bytes / 2)) $newest ;;
    empty) : >$newest ;;
    esac
    try run --json a.ini run.output=hurt run.trajectories=6 checkpoint.interval=2
    exits 0 "continued"
    printed "damaged checkpoint, trying the one before" "checkpoint-000006.h5" "continuing from hurt/checkpoint-000004.h5"
    same "links" "$links" "$(value digest)"
    same "history" "$rows" "$(value history_digest)"
    try check $newest
    exits 0 "the checkpoint written anew"
done
say "all checkpoints damaged"
rm -rf hurt
cp -r base hurt
for c in hurt/checkpoint-*.h5; do flip $c 3000; done
sums=$(sha256sum hurt/*.h5)
try run --json a.ini run.output=hurt run.trajectories=6
exits 2 "all damaged"
printed "none of the 3 checkpoints there is good"
same "files as before" "$sums" "$(sha256sum hurt/*.h5)"
say "a history that is lost, one that is damaged"
for what in history.h5 history.journal; do
    rm -rf hurt
    cp -r base hurt
    rm hurt/$what
    try run --json a.ini run.output=hurt run.trajectories=6
    exits 0 "without $what"
    same "history without $what" "$rows" "$(value history_digest)"
    rm -rf hurt
    cp -r base hurt
    flip hurt/$what $(($(stat -c %s hurt/$what) / 2))
    try run --json a.ini run.output=hurt run.trajectories=6
    exits 0 "with a damaged $what"
    same "history with a damaged $what" "$rows" "$(value history_digest)"
done

say "a history that is lost altogether, and one that came after a part was lost"
rm -rf hurt
cp -r base hurt
rm hurt/history.h5 hurt/history.journal
try run --json a.ini run.output=hurt run.trajectories=7
exits 0 "without a history"
printed "warning: the history in hurt lacks 6 of the 6 trajectories done: number 1-6."
try run --json a.ini run.output=hurt run.trajectories=7
printed "lacks 6 of the 7 trajectories done: number 1-6."
rm -rf hurt
cp -r base hurt
rm hurt/history.h5
flip hurt/history.journal $(($(stat -c %s hurt/history.journal) * 9 / 10))
try run --json a.ini run.output=hurt run.trajectories=6
exits 0 "a journal damaged in the middle, nothing else"
printed "warning: the history in hurt lacks" "of the 6 trajectories done"
finish

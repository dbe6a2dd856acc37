# Solvers that do not converge, in trajectories: a safer one takes over where it is named; where not, the run ends with
# status 4, and its last checkpoint stands.
. "$(dirname "$0")/kit.bash"
write_input a.ini

say "a solver that does not converge, with a safer one"
cat a.ini - >safe.ini <<'INI'

[solver.safe]
type = cg
inner_precision = double
tolerance = 1e-11
INI
try run --json safe.ini run.output=safe solver.force.max_iterations=1 solver.accept.max_iterations=1 solver.force.fallback=safe \
    solver.accept.fallback=safe
exits 0 "with a fallback"
same "finished" true "$(value finished)"
printed "safe"
links=$(value digest)
try run --json safe.ini run.output=direct action.light.solver=safe action.light.action_solver=safe
exits 0 "with the safer solver from the start"
same "links are those of the safer solver" "$(value digest)" "$links"

# stopped_at WHERE ARGUMENTS: the run stops there with status 4; its last checkpoint stands, and it can go on.
stopped_at() {
    local where=$1 folder
    shift
    folder=stop.$where
    try run --json a.ini run.output=$folder run.trajectories=2
    exits 0 "before it does not converge"
    try run --json a.ini run.output=$folder run.trajectories=5 "$@"
    exits 4 "does not converge in $where"
    printed "trajectory 3 failed" "light" "The last checkpoint stands" "max_iterations" "fallback"
    same "trajectories" 2 "$(value trajectories)"
    tidy $folder
    try check $folder/checkpoint-000002.h5
    exits 0 "the last checkpoint"
    try run --json a.ini run.output=$folder run.trajectories=5
    exits 0 "gone on"
    local links rows
    links=$(value digest) rows=$(value history_digest)
    try run --json a.ini run.output=$folder.whole run.trajectories=5
    same "links after $where" "$(value digest)" "$links"
    same "history after $where" "$(value history_digest)" "$rows"
}
say "a solver that does not converge, without another"
stopped_at force solver.force.max_iterations=1
stopped_at accept solver.accept.max_iterations=1
say "a fallback that does not converge either, and one that is itself"
try run --json safe.ini run.output=worse solver.force.max_iterations=1 solver.force.fallback=safe solver.safe.max_iterations=1
exits 4 "the fallback fails too"
printed "trajectory 1 failed"
try run --json a.ini run.output=self solver.force.max_iterations=1 solver.force.fallback=force
exits 4 "a fallback that is itself"
say "in the first trajectory, on two ranks"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    OMP_NUM_THREADS=1 try_ranks 2 run --json a.ini run.output=both solver.force.max_iterations=1
    exits 4 "on two ranks"
    printed "trajectory 1 failed"
fi
say "a tolerance that no arithmetic reaches"
try run --json a.ini run.output=tight solver.accept.tolerance=1e-16 solver.accept.max_iterations=500
exits 4 "tolerance 1e-16"
printed "trajectory 1 failed"
say "a spectrum outside the range that is given"
sed 's/^kind = two_flavours/kind = rational/' a.ini >r.ini
try run --json r.ini run.output=narrow "action.light.spectrum=1 2"
exits 4 "a narrow range"
printed "trajectory 1 failed" "is not inside the range" "give [action.light] range_breach = widen, or spectrum = " "wider spectrum"
advice=$(sed -n 's/.*\[action.light\].* spectrum = \([0-9.e+-]* [0-9.e+-]*\).*/\1/p' err | head -n 1)
try run --json r.ini run.output=narrow "action.light.spectrum=$advice"
exits 0 "with the range of the message"
same "trajectories" 4 "$(value trajectories)"
try run --json r.ini run.output=widened "action.light.spectrum=1 2" action.light.range_breach=widen
exits 0 "with range_breach = widen"
printed "which is now"
same "trajectories" 4 "$(value trajectories)"
# Eigenvalues then lie all around zero, which solvers of M itself mind, and conjugate gradients do not.
if [ -e "$data/quenched-8888-b6.0.nersc" ]; then
    say "a mass beyond the critical one"
    beyond=(run --json a.ini run.start=file "run.config=$data/quenched-8888-b6.0.nersc" lattice.size=8.8.8.8 quark.light.kappa=0.2
        run.length=0.05 integrator.0.steps=1 run.trajectories=1 solver.force.max_iterations=300)
    # Residuals of gcr are minimal: one that is not halved in an eighth of the iterations, 50 at least, has stalled. Those of
    # bicgstab go up and down.
    gcr="stalled above the tolerance after 1" bicgstab="too many iterations after 300"
    for type in gcr bicgstab; do
        try "${beyond[@]}" run.output=beyond.$type solver.force.type=$type
        exits 4 "a mass beyond the critical one, $type"
        printed "trajectory 1 failed: light, force: solver force ${!type}" "no fallback is named" \
            "The last checkpoint stands: loosen the tolerance, raise max_iterations or name a fallback"
        tidy beyond.$type
    done
    try "${beyond[@]}" run.output=beyond.bicgstab solver.force.type=bicgstab solver.force.fallback=accept
    exits 0 "a mass beyond the critical one, with a fallback"
    printed "repeating with accept"
    same "trajectories" 1 "$(value trajectories)"
else
    say "no recorded configuration in $data: a mass beyond the critical one is left out"
fi
say "an energy beyond numbers"
try run --json a.ini run.output=wild run.length=1000 integrator.0.steps=1 integrator.1.steps=1
checks=$((checks + 1))
case $status in
1) printed "none of the 4 trajectories of this session" "raise the steps" ;;
4) printed "no tolerance helps" "more steps" ;;
*) fail "exit status $status" ;;
esac
tidy wild
finish

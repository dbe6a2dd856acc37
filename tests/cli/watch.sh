# [watch]: each alarm warns at once, or stops the run at a checkpoint with status 4 and one message; none is raised where nothing
# is wrong, in the warm-up, or where it is off; a run in pieces has those of a run in one go; measuring reversibility leaves the
# bits of the run alone.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini
small="run.length=0.5 integrator.0.steps=3 run.trajectories=30"
# Steps so long that nothing is accepted.
long="run.length=2 integrator.0.steps=2 run.warmup=5 run.trajectories=40"
alarms() { sed -n 's/.*"alarms": {\([^}]*\)}.*/\1/p' out | tail -n 1; }
count() { alarms | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"; }
warned() { grep -c "warning: watch: after trajectory.*\[watch\] $1)" err || true; }
# raised WHAT: warnings and the count of the last run.
raised() {
    checks=$((checks + 2))
    [ "$(count "$1")" -gt 0 ] || fail "no alarm $1: $(alarms)"
    [ "$(warned "$1")" -gt 0 ] || fail "no warning of $1"
}
# stops WHAT FOLDER: at a checkpoint, with one message.
stops() {
    exits 4 "$1 = stop"
    printed "[watch] $1 = stop" "The last checkpoint stands"
    same "one message of $1" 1 "$(grep -c "^error: after trajectory.*\[watch\] $1 = stop" err)"
    local number
    number=$(value trajectories)
    checks=$((checks + 2))
    [ -e "$2/checkpoint-$(printf %06d "$number").h5" ] || fail "no checkpoint $number in $2"
    grep -q "\"finished\": false" out || fail "finished"
}

say "nothing wrong"
try run --json a.ini $small run.output=good
exits 0 "a good run"
same "no alarm" 0 "$(alarms | tr -dc '1-9' | wc -c)"
checks=$((checks + 1))
! grep -q "watch:" err || fail "a warning"

say "nothing is accepted"
try run --json a.ini $long run.output=bad
exits 1 "warnings alone, but a run in which nothing is accepted"
printed "none of the 35 trajectories of this session after the warm-up was accepted, |dH| being" "raise the steps"
same "one message" 1 "$(grep -c '^error: ' err)"
raised rejections
raised dh
same "10, 20 and 30 rejections" 3 "$(count rejections)"
same "a warning in ten trajectories" 4 "$(warned dh)"
same "each trajectory is counted" 35 "$(count dh)"
printed "10 rejections in a row (limit 10)" "|dH| is" "watch: alarms in this session: rejections 3, dh 35"
try run --json a.ini $long run.output=stop watch.rejections=stop watch.dh=off
stops rejections stop
same "after the tenth beyond the warm-up" 15 "$(value trajectories)"
same "off" 0 "$(count dh)"
try run --json a.ini $long run.output=stop_dh watch.dh=stop
stops dh stop_dh
same "at once after the warm-up" 6 "$(value trajectories)"
try run --json a.ini $long run.output=bad_window watch.acceptance=stop watch.window=20 watch.rejections=off watch.dh=off
stops acceptance bad_window
printed "acceptance over the last 20 is 0.000, below 0.3"
same "when the window is full" 25 "$(value trajectories)"

say "a run in pieces"
for n in 9 14 40; do try run --json a.ini $long run.output=pieces watch.rejections=stop watch.dh=off run.trajectories=$n; done
stops rejections pieces
same "it stops where the other did" 15 "$(value trajectories)"
try run --json a.ini $long run.output=pieces watch.rejections=warn watch.dh=off
exits 1 "and goes on with a warning"
same "those that are left" 2 "$(count rejections)"
printed "none of the 25 trajectories of this session"
try run --json a.ini $long run.output=few run.trajectories=7
exits 1 "two of them, with dH far above the limit"
try run --json a.ini $long run.output=few run.trajectories=8
exits 0 "one alone is no proof"
try run --json a.ini $long run.output=off watch.rejections=off
exits 0 "who wants no alarm of rejections has none"

say "averages that jump"
try run --json a.ini $small run.output=jump watch.plaquette=stop watch.plaquette_limit=1
stops plaquette jump
printed "standard deviations from the mean"
try run --json a.ini $small run.output=jump_warn watch.plaquette_limit=1
exits 0 "a warning"
raised plaquette
try run --json a.ini $small run.output=forces watch.forces_limit=1.001
exits 0 "forces"
raised forces
printed "the force of gauge is"
try run --json a.ini $small run.output=forces_stop watch.forces_limit=1.001 watch.forces=stop
stops forces forces_stop

say "solves"
write_input d.ini
quark="run.trajectories=14 run.length=0.1 integrator.0.steps=2 run.start=cold"
try run --json d.ini $quark run.output=quark
exits 0 "a good run with quarks"
same "no alarm of it" 0 "$(alarms | tr -dc '1-9' | wc -c)"
try run --json d.ini $quark run.output=residual watch.residual_limit=1e-10
exits 0 "residuals"
raised residual
printed "tighten the tolerance"
try run --json d.ini $quark run.output=residual_stop watch.residual_limit=1e-10 watch.residual=stop
stops residual residual_stop
try run --json d.ini $quark run.output=iterations watch.iterations_limit=1.0001 watch.iterations=stop
stops iterations iterations
printed "light took"

say "reversibility, and bits without it"
for predictor in 0 3; do
    base="$quark run.trajectories=4 action.light.predictor=$predictor"
    try run --json d.ini $base run.output=plain$predictor
    exits 0 "without"
    digest=$(value digest)
    try run --json d.ini $base run.output=there$predictor watch.reversibility_interval=2
    exits 0 "with"
    same "links" "$digest" "$(value digest)"
    printed "reversibility after trajectory 2: |dH|" "reversibility after trajectory 4: |dH|"
    same "no alarm" 0 "$(count reversibility)"
done
history=$(value history_digest)
for n in 2 3 4; do try run --json d.ini $base run.output=there_pieces watch.reversibility_interval=2 run.trajectories=$n; done
same "in pieces" "$history" "$(value history_digest)"
try run --json d.ini $base run.output=loose watch.reversibility_interval=2 solver.force.tolerance=1e-2
exits 0 "a loose tolerance"
tight=$(sed -n 's/.*reversibility after trajectory 2: |dH| \([^,]*\),.*/\1/p' err)
try run --json d.ini $base run.output=loose_stop watch.reversibility_interval=2 solver.force.tolerance=1e-2 \
    watch.reversibility_limit=1e-12 watch.reversibility=stop
stops reversibility loose_stop
same "the same number" "$tight" "$(sed -n 's/.*reversibility after trajectory 2: |dH| \([^,]*\),.*/\1/p' err)"
try report there3
exits 0 "in the report"
printed "reversibility |dH|"

if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    say "the summary in JSON on two ranks, with the forecast of memory for the way back"
    OMP_NUM_THREADS=1 try_ranks 2 run --json d.ini $base run.output=json_ranks watch.reversibility_interval=2
    exits 0 "two ranks"
    same "finished" true "$(value finished)"
    same "the same history" "$history" "$(value history_digest)"
fi

say "bad limits"
try run a.ini watch.dh=loud
exits 2 "no such answer"
printed "[watch] dh" "off, warn or stop"
try run a.ini watch.window=5
exits 2 "too short a window"
printed "[watch] window"
finish

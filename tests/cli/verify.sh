# plaq verify: passes where all is well, says what cannot be seen, fails where a run would be wrong.
. "$(dirname "$0")/kit.bash"
write_input a.ini
write_pure_gauge gauge.ini

# verdict CHECK OF: of a table in JSON lines.
verdict() { sed -n "s/.*\"check\": \"$1\", \"of\": \"$2\".*\"verdict\": \"\([a-z]*\)\".*/\1/p" out; }

say "clover"
try verify --json a.ini integrator.0.steps=6
exits 0 "verify"
same "no failure" 0 "$(grep -c '"pass": false' out || true)"
for of in gauge light light.det; do
    same "force of $of" pass "$(verdict "force is the derivative, relative" $of)"
    same "order of $of" pass "$(verdict "order of its error in the step" $of)"
done

same "S of the accept step" pass "$(verdict "error of S: accept step" light)"
same "S of the heat bath" pass "$(verdict "error of S: heat bath" light)"
same "precision of actions with solves alone" 2 "$(grep -c '"error of S' out)"

# The error of S is of second order in that of conjugate gradients, and of first order in that of other solvers.
say "solves of the accept step too loose for S"
for solver in "solver.accept.tolerance=1e-2" "solver.accept.type=bicgstab solver.accept.tolerance=1e-2"; do
    try verify --json a.ini integrator.0.steps=6 $solver
    exits 1 "$solver"
    same "S of $solver" fail "$(verdict "error of S: accept step" light)"
    grep '"error of S' out | sed 's/^/  /'
done
try verify a.ini integrator.0.steps=6 solver.accept.tolerance=1e-2
printed "give a smaller tolerance"

say "some of the checks"
try verify --json --only precision a.ini
exits 0 "the precision alone"
same "precision alone" "$(grep -c . out)" "$(grep -c '"error of S' out)"
try verify --only force,precison a.ini
exits 2 "a check that there is not"
printed "--only has no 'precison'" "did you mean 'precision'"
try verify --only "" a.ini
exits 2 "no check"

# Close to the step 0 the error of the rational function shows in place of the order, and at steps where the order shows, what is
# left of it: the smallest of these counts.
say "a rational function that is good enough for its force"
try verify --json --only force "$source/inputs/dwf-2plus1.ini" lattice.size=4.4.4.4 run.seed=4 \
    quark.light.Ls=4
exits 0 "forces of domain wall quarks"
same "force of strange" pass "$(verdict "force is the derivative, relative" strange)"

say "three quarks of one flavour each"
sed 's/^actions = light$/actions = light down strange/; s/^kind = two_flavours/kind = rational/' a.ini >three.ini
for quark in down:0.129 strange:0.125; do
    printf '[quark.%s]\nlike = light\nkappa = %s\n' ${quark%:*} ${quark#*:}
    printf '[action.%s]\nkind = rational\nquark = %s\nsolver = force\naction_solver = accept\n' ${quark%:*} ${quark%:*}
done >>three.ini
try verify --json --only force,precision three.ini
exits 0 "forces of three masses"
for of in light down strange light.det down.det strange.det; do
    same "force of $of" pass "$(verdict "force is the derivative, relative" $of)"
done
for of in light down strange; do same "S of $of" pass "$(verdict "error of S: accept step" $of)"; done
try run --dry-run three.ini
exits 0 "their plan"
same "quarks of one flavour" 3 "$(grep -c '^1 flavour of mass' out)"

say "ratios of determinants alone"
try verify --json --only force "$source/inputs/dsdr-2plus1.ini" lattice.size=4.4.4.4 run.seed=4 quark.light.Ls=4 \
    "integrator.0.actions=light.0 light.1 light.2 strange" "integrator.1.actions=dsdr.0 dsdr.1"
exits 0 "forces of a dislocation-suppressing ratio"
for factor in dsdr.0 dsdr.1; do
    same "force of $factor" pass "$(verdict "force is the derivative, relative" $factor)"
    same "order of $factor" pass "$(verdict "order of its error in the step" $factor)"
done
try verify --json --only force "$source/inputs/dsdr-2plus1.ini" lattice.size=4.4.4.4 quark.light.Ls=4 integrator.1.actions="light.1 light.2 dsdr.1 dsdr.2"
exits 2 "the last of the chain is no factor"
printed "dsdr.2"

say "rectangles and parallelograms"
try verify --json gauge.ini gauge.action=symanzik_1loop_hisq gauge.beta=6.3 gauge.u0=0.87 gauge.flavours=4
exits 0 "one-loop Symanzik"
same "force of gauge" pass "$(verdict "force is the derivative, relative" gauge)"
same "order of gauge" pass "$(verdict "order of its error in the step" gauge)"

say "no force at all"
try verify gauge.ini gauge.beta=0
exits 0 "beta = 0"
printed "no force, and no derivative" "dH is nothing but rounding" "some are unclear"

say "a step too long for the order to show"
try verify gauge.ini gauge.beta=60 integrator.0.steps=1 run.length=4
printed "step is too long for it to show"
checks=$((checks + 1))
! grep "order of dH" out | grep -q FAIL || fail "the order of dH"

say "a force solver too loose for its force"
try verify --json a.ini integrator.0.steps=6 solver.force.tolerance=1e-2
exits 1 "a loose solver"
same "force of light" fail "$(verdict "force is the derivative, relative" light)"

# Guesses are others on the way back, so the tolerance of the solver decides how far that leads to the start.
say "a solver of its own for reversibility"
back() { sed -n 's/.*"check": "reversal: links, r.m.s.".*"value": *\([^,]*\),.*/\1/p' out; }
guesses="integrator.0.steps=6 action.light.predictor=4 solver.force.tolerance=1e-4"
try verify --json --only reversal a.ini $guesses
exits 1 "guesses with a loose solver"
same "reversal of the links" fail "$(verdict "reversal: links, r.m.s." trajectory)"
loose=$(back)
try verify --json --only reversal a.ini $guesses action.light.reversal_solver=accept
exits 0 "guesses with a loose solver, and a reversal_solver"
checks=$((checks + 1))
awk -v a="$loose" -v b="$(back)" 'BEGIN { print "  links " a " and " b; exit !(b > 0 && b < 0.01 * a) }' || fail "reversal: $loose and $(back)"

say "rational functions, on a range that does not contain the spectrum"
sed 's/^kind = two_flavours/kind = rational/' a.ini >r.ini
try verify --json r.ini integrator.0.steps=6 "action.light.spectrum=1 2"
exits 1 "a narrow range"
same "force of light" fail "$(verdict "force is the derivative, relative" light)"
printed "is not inside the range" "range_breach = widen"
try verify --json r.ini integrator.0.steps=6 "action.light.spectrum=1 2" action.light.range_breach=widen
exits 0 "a range that is widened"
same "force of light" pass "$(verdict "force is the derivative, relative" light)"

say "nearly singular smeared links"
sed 's/^\[quark.light\]/&\nkind = staggered\nmass = 0.3/; s/^kind = two_flavours/kind = four_flavours/; /^kappa/d; /^c_sw/d' a.ini >hisq.ini
grow="run.start=hot gauge.beta=0.5 run.length=0.1"
try run --json hisq.ini $grow run.output=whole run.trajectories=2
exits 0 "a run with the filter of the force"
printed "HISQ force: " "HISQ filter  "
count=$(value filtered_links) rows=$(value history_digest)
checks=$((checks + 1))
awk -v n="$count" 'BEGIN { print "  " n " links a trajectory"; exit !(n > 0) }' || fail "filtered_links: $count"
for n in 1 2; do
    try run --json hisq.ini $grow run.output=parts run.trajectories=$n
    exits 0 "part $n"
done
same "links that were filtered, after a restart" "$count" "$(value filtered_links)"
same "history after a restart" "$rows" "$(value history_digest)"
try run --json a.ini run.output=clover run.trajectories=1
same "links filtered without HISQ quarks" null "$(value filtered_links)"
say "HISQ links so rough that their force bounds singular values, and is no derivative on purpose"
try run gauge.ini run.output=hot run.start=hot run.trajectories=1 run.warmup=1 run.length=1e-6
exits 0 "hot links"
sed 's/^actions = gauge/& light/' gauge.ini - >hisq.ini <<'INI'

[quark.light]
kind = staggered
links = hisq
mass = 1
[action.light]
kind = four_flavours
quark = light
solver = cg
[solver.cg]
type = cg
tolerance = 1e-11
INI
try verify --json hisq.ini run.length=0.1 hot/checkpoint-000001.h5
exits 0 "filtered links"
same "force of light" unclear "$(verdict "force is the derivative, relative" light)"
printed "below 1e-5, but HISQ links are filtered"
try verify --json hisq.ini run.length=0.001 hot/checkpoint-000001.h5
exits 0 "filtered links, short steps"
printed "2 +- 0.3, but HISQ links are filtered"
try verify --json hisq.ini run.length=0.1 solver.cg.max_iterations=3 hot/checkpoint-000001.h5
exits 1 "filtered links, solves that fail"
same "force of light" fail "$(verdict "force is the derivative, relative" light)"
finish

# Bad input of every kind: one message that says what and where, the documented exit status, and nothing half-written.
. "$(dirname "$0")/kit.bash"
write_input a.ini
cp a.ini good.ini

# refused WHAT -- ARGUMENTS -- TEXT...: the program ends with status 2 and one message that has those parts.
refused() {
    local what=$1 arguments rest
    shift 2
    until_dashes "$@"
    say "$what"
    try "${arguments[@]}"
    exits 2 "$what"
    printed "${rest[@]}"
    checks=$((checks + 1))
    [ "$(grep -c '^plaq: error: ' err)" -eq 1 ] || fail "$what: not one message"
    checks=$((checks + 1))
    [ ! -e out.run ] || [ -z "$(ls out.run/*.h5 2>/dev/null)" ] || fail "$what: it has written something"
    [ ! -d out.run ] || tidy out.run
    rm -rf out.run
}

# edited NAME SED: another input file.
edited() { sed "$2" good.ini >"$1"; }

edited b.ini 's/^beta/betta/'
refused "unknown key" -- run b.ini -- "b.ini:12" "unknown key 'betta' in [gauge]" "did you mean 'beta'?"
edited b.ini 's/^\[gauge\]/[guage]/'
refused "unknown section" -- run b.ini -- "b.ini:11" "unknown section [guage]" "did you mean '[gauge]'?"
edited b.ini 's/^\[quark.light\]/[quarl.light]/'
refused "unknown section with a name" -- run b.ini -- "[quarl.light]" "did you mean '[quark.light]'?"
edited b.ini 's/^\[lattice\]/[lattice.one]/'
refused "a name where none belongs" -- run b.ini -- "[lattice.one]" "takes no name"
edited b.ini 's/^\[quark.light\]/[quark]/'
refused "no name where one belongs" -- run b.ini -- "section [quark] needs a name"
refused "an assignment that is none" -- run a.ini beta=5 -- "unexpected argument beta=5"
refused "a kappa that no quark has" -- run a.ini quark.light.kappa=13.6 -- "kappa" "'13.6' is out of range"
refused "an unknown measurement" -- run a.ini measure.x.kind=flow -- "measure.x"
refused "unknown key on the command line" -- run a.ini gauge.betta=5 -- "gauge.betta" "did you mean 'beta'?"
refused "an argument too many" -- run a.ini beta -- "unexpected argument beta"
refused "unknown instance on the command line" -- run a.ini solver.forse.tolerance=1 -- "solver.forse" "did you mean 'solver.force'?"
sed 's/^beta/betta/; s/^steps = .*/steps = x/; s/^\[lattice\]/[latice]/' good.ini >b.ini
echo 'and this' >>b.ini
refused "several mistakes at once" -- run b.ini gauge.action=wislon -- "errors in the input:" "unknown section [latice]" \
    "unknown key 'betta' in [gauge]" "steps: 'x' is not an integer" "'and this' is neither" "'wislon' is unknown"
refused "mistakes that are found later" -- run a.ini lattice.size=4.4.4.5 machine.grid=1.1.0.0 save.name=x save.rows=2 -- \
    "4 errors in the input:" "[lattice] size: extent 5" "[machine] grid" "[save] name = x has no %d" "3 rows, not 2"
{
    cat good.ini
    for i in $(seq 70); do printf '[solver.s%d]\ntype = cg\n' $i; done
} >b.ini
refused "sections without end" -- run b.ini -- "is one too many: allowed are 64 [solver.NAME]"
say "as many solvers as anyone has"
{
    cat good.ini
    for i in $(seq 30); do printf '[solver.s%d]\ntype = cg\n' $i; done
} >b.ini
try run --dry-run b.ini
exits 0 "thirty more solvers"
{
    cat good.ini
    for i in $(seq 20); do printf '[quark.f%d]\nkappa = 0.13\n[action.f%d]\nkind = two_flavours\nquark = f%d\nsolver = force\n' $i $i $i; done
} >b.ini
refused "too many actions" -- run b.ini -- "are more than 16 actions"
edited b.ini 's/^beta = .*/this line says nothing/'
refused "a line that is none" -- run b.ini -- "b.ini:12"
edited b.ini 's/^beta = .*/beta = 5.5\nbeta = 5.6/'
refused "a key given twice" -- run b.ini -- "b.ini:13" "beta"
refused "a word for a number" -- run a.ini gauge.beta=large -- "[gauge] beta" "large"
refused "a number with something behind" -- run a.ini gauge.beta=5.6x -- "[gauge] beta" "5.6x"
refused "NaN for a number" -- run a.ini gauge.beta=nan -- "[gauge] beta" "nan"
refused "a fraction for an integer" -- run a.ini run.trajectories=3.5 -- "[run] trajectories" "3.5"
refused "three extents" -- run a.ini lattice.size=4.4.4 -- "[lattice] size" "4.4.4"
refused "an unknown choice" -- run a.ini gauge.action=wislon -- "[gauge] action" "wislon" "wilson"
refused "an unknown scheme" -- run a.ini integrator.0.scheme=omelyan3 -- "scheme" "omelyan3" "omelyan2"
refused "an unknown kind of solver" -- run a.ini solver.force.type=cgg -- "type" "cgg" "did you mean 'cg'?"
refused "out of range" -- run a.ini gauge.beta=-1 -- "[gauge] beta" "'-1' is out of range" "0 <= real <= 1000000"
refused "a tolerance of one" -- run a.ini solver.force.tolerance=1 -- "tolerance" "1e-16 <= real < 1"
refused "no steps" -- run a.ini integrator.0.steps=0 -- "steps" "1 <= integer <= 100000"
refused "an integer too large" -- run a.ini run.trajectories=99999999999999999999 -- "trajectories"
edited b.ini '/^beta/d'
refused "a key missing" -- run b.ini -- "[gauge]" "needs the key 'beta'"
edited b.ini '/^\[gauge\]/,/^$/d'
refused "a section missing" -- run b.ini -- "[gauge]" "beta"
refused "no input file" -- run nowhere.ini -- "nowhere.ini" "No such file"
refused "a folder for an input file" -- run . -- "'.'" "directory"
: >empty.ini
refused "an empty input file" -- run empty.ini -- "empty.ini" "[run]"
head -c 5000 /dev/urandom | tr '\0' x >noise.ini
refused "noise for an input file" -- run noise.ini -- "noise.ini"
printf '[run]\noutput = a\0b\n' >zero.ini
refused "a zero byte in the input file" -- run zero.ini -- "zero byte"

edited b.ini 's/^kappa = .*/kappa = 0.13\nmass = 0.1/'
refused "kappa and mass" -- run b.ini -- "both mass and kappa" "[quark.light]" "b.ini:15"
edited b.ini '/^kappa/d'
refused "neither kappa nor mass" -- run b.ini -- "neither mass nor kappa" "[quark.light]"
refused "c1 of an action that has its own" -- run a.ini gauge.action=iwasaki gauge.c1=0.1 -- "c1" "action = iwasaki"
refused "an action without its u0" -- run a.ini gauge.action=symanzik_1loop -- "action = symanzik_1loop needs the key 'u0'"
refused "quarks in the loops of an action without" -- run a.ini gauge.action=symanzik_1loop gauge.u0=0.8 gauge.flavours=3 -- \
    "action = symanzik_1loop has no key 'flavours'"
refused "an anisotropy of an action with parallelograms" -- run a.ini gauge.action=symanzik_1loop gauge.u0=0.8 gauge.xi_0=2 -- \
    "[gauge] action = symanzik_1loop knows no xi_0" "symanzik_space"
refused "an action of anisotropic lattices without xi_0" -- run a.ini gauge.action=symanzik_space gauge.u_s=0.8 gauge.u_t=1 -- \
    "action = symanzik_space needs the key 'xi_0'"
refused "the same without u_t" -- run a.ini gauge.action=symanzik_space gauge.u_s=0.8 gauge.xi_0=3 -- "needs the key 'u_t'"
refused "u_s of Wilson's action" -- run a.ini gauge.u_s=0.8 -- "u_s" "action = wilson"
refused "no anisotropy" -- run a.ini gauge.xi_0=0 -- "[gauge] xi_0" "'0' is out of range" "0 < real <= 100"
refused "an anisotropy of a quark alone" -- run a.ini quark.light.xi_0=2 -- "[quark.light] has c_sw and xi_0" "clover_R"
edited b.ini '/^c_sw/d'
refused "an anisotropy without nu" -- run b.ini quark.light.xi_0=2 -- "[quark.light] has xi_0 and no nu" "give nu"
refused "nu without an anisotropy" -- run a.ini quark.light.nu=1.2 -- "[quark.light] has nu and no xi_0"
refused "odd extents" -- run a.ini lattice.size=3.4.5.7 -- "3 errors in the input:" "[lattice] size: extent 3 in direction x" \
    "extent 5 in direction z" "extent 7 in direction t of the lattice is not an even number of at least 2"
{
    sed 's/^c_sw = .*/&\nlinks = smeared/' good.ini
    printf '[links.smeared]\nkind = stout\nrho = 0.16\nsteps = 2\n'
} >b.ini
try run --dry-run b.ini
exits 0 "a weight of stout links in the stable range"
same "warnings of rho" 0 "$(grep -c 'rho' err || true)"
try run --dry-run b.ini links.smeared.rho=0.17
exits 0 "a weight of stout links beyond the stable range"
printed "warning: " "[links.smeared] rho = 0.17 is beyond 0.1667, where links of the shortest wavelength grow with each step"
try run --dry-run b.ini links.smeared.rho=0.26 links.smeared.directions=space
exits 0 "the same in space"
printed "[links.smeared] rho = 0.26 is beyond 0.25"
refused "a negative weight of stout links" -- run b.ini links.smeared.rho=-0.1 -- "rho" "'-0.1' is out of range"
edited b.ini '/^c_sw/d'
refused "a negative anisotropy" -- run b.ini quark.light.xi_0=-2 quark.light.nu=1 -- "xi_0" "'-2' is out of range"
refused "one of two clover coefficients" -- run b.ini quark.light.xi_0=2 quark.light.nu=1 quark.light.clover_T=1 -- \
    "has one of clover_R and clover_T; give both"
printf '[measure.flow]\nkind = flow\n' | cat good.ini - >b.ini
refused "a flow that is unstable with its anisotropy" -- run b.ini measure.flow.xi=3 measure.flow.flow_step=0.06 -- \
    "flow_step = 0.06 of [measure.flow] is too long for kernel = wilson and xi = 3" "stable up to 0.05"
refused "a kernel with an anisotropy" -- run b.ini measure.flow.xi=3 measure.flow.flow_step=0.01 measure.flow.kernel=zeuthen -- \
    "kernel = zeuthen of [measure.flow] is for isotropic lattices; take kernel = wilson for xi = 3"
refused "an error of the flow that is none" -- run b.ini measure.flow.flow_error=0.5 -- "measure.flow" "flow_error" "0.01"
printf '[measure.i]\nkind = flow_improved\n' | cat good.ini - >b.ini
refused "long steps of the improved flow" -- run b.ini measure.i.flow_step=0.1 measure.i.kernel=symanzik -- \
    "flow_step = 0.1 of [measure.i] is too long for kernel = symanzik, which is stable up to 0.09"
refused "another number of loops" -- run b.ini measure.i.loops=four -- "loops" "five or three"
printf '[measure.l]\nkind = loops\nlinks = f\n[links.f]\nkind = flow\nflow_time = 1\n' | cat good.ini - >b.ini
refused "flowed links of a kernel with an anisotropy" -- run b.ini links.f.kernel=zeuthen links.f.xi=2 -- \
    "[links.f] kernel = zeuthen is for isotropic lattices; take kernel = wilson for xi = 2"
refused "momenta without an anisotropy" -- run a.ini run.xi_mom=0 -- "[run] xi_mom" "'0' is out of range"
refused "u0 above one" -- run a.ini gauge.action=symanzik_1loop gauge.u0=1.1 -- "u0"
refused "start = file without a file" -- run a.ini run.start=file -- "start = file needs config"
refused "a file without start = file" -- run a.ini run.config=x -- "config is given" "start = hot"
refused "an unknown solver name" -- run a.ini action.light.solver=forse -- "solver = forse" "did you mean 'force'?"
edited b.ini 's/^action_solver = .*/&\nheat_bath_solver = acept/'
refused "an unknown solver of the heat bath" -- run b.ini -- "b.ini:24: heat_bath_solver = acept in [action.light]" "did you mean 'accept'?"
edited b.ini 's/^action_solver = .*/&\nreversal_solver = forse/'
refused "an unknown solver of checks of reversibility" -- run b.ini -- "b.ini:24: reversal_solver = forse in [action.light]" \
    "did you mean 'force'?"
edited b.ini 's/^action_solver = .*/&\nheat_bath_solver = accept/'
refused "a solver of a heat bath without a solve" -- run b.ini -- "b.ini:24: heat_bath_solver" "[action.light] has no solve without a ratio"
refused "a key that its type of solver does not have" -- run a.ini solver.force.restart=5 -- "type = cg has no key 'restart'" "it has" \
    "inner_precision delta"
refused "corrections by no solver" -- run a.ini solver.force.type=refine -- "type = refine needs the key 'correction'"
refused "a solver inside itself" -- run a.ini solver.force.type=gcr solver.force.preconditioner=force -- "[solver.force] has itself inside"
refused "solvers inside each other" -- run a.ini solver.force.type=gcr solver.force.preconditioner=accept solver.accept.type=refine \
    solver.accept.correction=force -- "has itself inside"
refused "an unknown preconditioner" -- run a.ini solver.force.type=gcr solver.force.preconditioner=acept -- "preconditioner = acept" \
    "did you mean 'accept'?"
refused "an unknown fallback" -- run a.ini solver.force.fallback=accep -- "fallback = accep" "did you mean 'accept'?"
# A solver that is an action's too may have one.
try run --dry-run a.ini solver.force.type=gcr solver.force.preconditioner=accept solver.accept.fallback=force \
    action.light.action_solver=accept
exits 0 "the fallback of a solver inside another and of the accept step"
refused "a fallback inside another solver" -- run a.ini solver.force.type=gcr solver.force.preconditioner=accept \
    solver.accept.fallback=force action.light.action_solver=force quark.light.solver=force -- "[solver.accept] has a fallback" "inside [solver.force]"
edited b.ini '/^\[solver\./,/^$/d'
cat >>b.ini <<'INI'

[solver.force]
type = gcr
inner_precision = half
preconditioner = steps
delta = 0.2
fallback = accept

[solver.accept]
type = cg
inner_precision = single
delta = 0.2

[solver.steps]
type = mr
steps = 4
INI
say "keys that have an effect"
try run --dry-run b.ini
exits 0 "keys that have an effect"
for key in tolerance=0.2 max_iterations=5 delta=0.3; do
    refused "${key%=*} of a preconditioner" -- run b.ini solver.steps.$key -- "command line: solver.steps.$key: ${key/=/ = } of [solver.steps]" \
        "no effect" "only a preconditioner" "fixed number of steps"
done
try run --dry-run b.ini solver.steps.tolerance=0.2 solver.accept.fallback=steps
exits 0 "the tolerance of a preconditioner that is a fallback too"
refused "steps of a solver" -- run a.ini solver.force.type=mr solver.force.steps=3 -- "steps = 3 of [solver.force] has no effect" \
    "no section has preconditioner = force"
refused "a refresh where links do not change" -- solve "$source/inputs/multigrid.ini" none solver.multigrid.refresh_at=2 -- \
    "refresh_at = 2 of [solver.multigrid] has no effect" "no action has this solver"
refused "delta with one precision" -- run b.ini solver.accept.inner_precision=double -- "b.ini:" "delta = 0.2 of [solver.accept] has no effect" \
    "with inner_precision = double"
try run --dry-run b.ini solver.force.inner_precision=double
exits 0 "delta of gcr in one precision"
try run --dry-run b.ini solver.force.type=pcg solver.steps.type=multisplitting
exits 0 "multisplitting without a precision"
printed "solver.steps.inner_precision = half"
try run --dry-run b.ini solver.force.type=pcg solver.steps.type=multisplitting solver.steps.inner_precision=quarter
exits 0 "multisplitting in a precision of its own"
printed "solver.steps.inner_precision = quarter"
refused "a precision above that around" -- run b.ini solver.steps.inner_precision=single -- \
    "inner_precision = single of [solver.steps] has no effect" "half precision or lower"
try run --dry-run b.ini solver.steps.inner_precision=quarter
exits 0 "a precision below that around"
try run --dry-run b.ini solver.steps.inner_precision=single solver.force.inner_precision=single
exits 0 "the precision around"
refused "range_breach where there is no range" -- run a.ini action.light.range_breach=widen -- "has no key 'range_breach'"
refused "an unknown action on a level" -- run a.ini integrator.0.actions=lihgt -- "lihgt" "did you mean 'light'?"
refused "an action on no level" -- run a.ini "integrator.1.actions=light.det" -- "the action gauge is not assigned to an integrator level"
edited b.ini '$a [quark.heavy]\nmass = 1\n[action.heavy]\nkind = two_flavours\nquark = heavy\nsolver = force'
refused "an action of a quark on no level" -- run b.ini -- "the action heavy is not assigned to an integrator level; add it to actions of an [integrator.N]"
edited measured.ini '$a [quark.heavy]\nmass = 1\nsolver = force\n[measure.c]\nkind = condensate\nquark = heavy\nvectors = 2'
try run --dry-run measured.ini
exits 0 "a quark that is only measured"
printed "[quark.heavy] is measured only: mass 1"
refused "it on a level" -- run measured.ini "integrator.1.actions=gauge heavy" -- "actions = heavy in [integrator.1] names no action"
refused "it with the key of an action" -- run measured.ini quark.heavy.predictor=2 -- "unknown key 'predictor' in [quark.heavy]" \
    "it is a key of [action.NAME]"
sed '/^\[quark.heavy/,/^\[measure/{/^solver/d}' measured.ini >d.ini
refused "a measurement without a solver" -- run d.ini -- "[measure.c] has no solver, and [quark.heavy] no solver; give one of them"
refused "an action on two levels" -- run a.ini "integrator.0.actions=light gauge" -- "action gauge is assigned to more than one integrator level"
edited b.ini 's/^\[integrator.1\]/[integrator.2]/'
refused "a level left out" -- run b.ini -- "no [integrator.1]"
edited b.ini '/^\[integrator/,/^$/d'
refused "no integrator" -- run b.ini -- "no section [integrator.0]"
edited b.ini '$a [measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = ligth\nsource = s\n[source.s]'
refused "an unknown quark of a propagator" -- run b.ini -- "quark = ligth in [propagator.p] names no [quark.NAME]" "did you mean 'light'?"
edited b.ini '$a [measure.f]\nkind = flow\nflow_step = 0.12\nkernel = symanzik'
refused "a flow that is not stable" -- run b.ini -- "flow_step = 0.12 of [measure.f] is too long for kernel = symanzik, which is stable up to 0.09"
refused "an unknown kernel" -- run b.ini measure.f.kernel=iwasaki -- "kernel" "zeuthen"
edited b.ini '$a [measure.w]\nkind = wilson_loops'
loops=(run b.ini)
refused "loops longer than the lattice" -- "${loops[@]}" measure.w.r_max=5 -- "measure.w.r_max=5: r_max = 5 of [measure.w] is longer than the extent 4 of the lattice 4.4.4.4"
refused "loops longer than its time" -- "${loops[@]}" measure.w.t_max=5 -- "t_max = 5 of [measure.w] is longer than the extent 4"
refused "a direction that is not sorted" -- "${loops[@]}" measure.w.directions='1.0.0 0.1.0' -- "directions of [measure.w] has 0.1.0; a direction is x.y.z with x >= y >= z >= 0"
refused "a direction twice" -- "${loops[@]}" measure.w.directions='1.0.0 1.0.0' -- "has 1.0.0" "given once"
refused "a direction of too many steps" -- "${loops[@]}" measure.w.directions=3.2.1 -- "has 3.2.1" "of at most 5 steps"
refused "no direction" -- "${loops[@]}" measure.w.directions= -- "[measure.w] directions: the value is empty"
refused "nine directions" -- "${loops[@]}" measure.w.directions='1.0.0 1.1.0 1.1.1 2.1.0 2.1.1 2.2.0 2.0.0 3.0.0 3.1.0' -- "directions of [measure.w] are 9; allowed are 1 to 8"
refused "a quark of loops" -- "${loops[@]}" measure.w.quark=light -- "quark" "r_max t_max directions"
edited b.ini '$a [measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = light\nsource = s\n[source.s]\nplace = 0.0.0.4'
refused "a source outside the lattice" -- run b.ini -- "[source.s] lies at 0.0.0.4, outside the lattice of extents 4.4.4.4"
positions=(run b.ini source.s.place=0.0.0.0)
refused "more exact positions than positions" -- "${positions[@]}" measure.p.exact_positions=2 -- "exact_positions = 2 of positions = 1"
refused "rough positions without a rough solver" -- "${positions[@]}" measure.p.positions=4 measure.p.exact_positions=1 -- "has 3 positions beside exact_positions = 1" "rough_solver"
refused "a rough solver for nothing" -- "${positions[@]}" propagator.p.rough_solver=force -- "rough_solver = force of [propagator.p] has no effect"
refused "a rough solver that is not there" -- "${positions[@]}" propagator.p.rough_solver=fors -- "rough_solver" "did you mean 'force'?"
refused "positions of one file" -- "${positions[@]}" measure.p.positions=4 propagator.p.file=p.h5 -- "positions = 4, and [propagator.p] a file"
walls=("${positions[@]}" propagator.p.sink=wall)
refused "a wall with momenta" -- "${walls[@]}" measure.p.kind=mesons measure.p.momentum2=1 -- "momentum2 = 1, but the sink of [propagator.p] is a wall"
refused "a sink that is not there" -- "${positions[@]}" propagator.p.sink=sites -- "sink" "did you mean 'site'?"
edited w.ini '$a [measure.p]\nkind = reweighting\nquark = light'
refused "a weight of no change" -- run w.ini -- "needs one of to_mass, to_kappa and to_mu, and has none"
refused "a weight of a twisted mass that is not there" -- run w.ini measure.p.to_mu=0 -- "to_mu = 0 of [measure.p] is for a quark of kind = twisted_mass"
refused "no position" -- "${positions[@]}" measure.p.positions=0 -- "positions" "1"

say "the input of an earlier form"
sed '/^\[quark.light/,/^solver = force/d' good.ini >b.ini
cat >>b.ini <<'INI'
[fermion.light]
kind = wilson_clover
kappa = 0.13
c_sw = 1.5
ratio_to = heavy
solver = force
INI
refused "a section of the earlier form" -- run b.ini -- "[fermion.light] is of an earlier form" "[quark.light]" "[action.light]" \
    "kappa: [quark]" "ratio_to: [action] masses or kappas" "fermion of [measure.NAME] is now quark"

say "sections like others"
edited b.ini '$a [quark.heavy]\nlike = light\nkappa = 0.12'
try run --dry-run b.ini
exits 0 "a quark like another"
printed "quark.heavy.c_sw = 1.5" "quark.heavy.kappa = 0.12"
refused "like no section" -- run b.ini quark.heavy.like=ligth -- "like = ligth in [quark.heavy] names no [quark.NAME]" "did you mean 'quark.light'?"
refused "like itself" -- run b.ini quark.light.like=heavy -- "the section is like itself"
refused "like in a section without a name" -- run b.ini gauge.like=light -- "only sections [type.NAME] can be like others"

# ---- chains of masses ----

chain=(run a.ini action.light.kappas="0.12 0.11")
refused "masses and kappas" -- "${chain[@]}" action.light.masses=1 -- "both masses and kappas are given for [action.light]"
refused "a chain that does not rise" -- run a.ini action.light.masses=-1 -- "'-1' of masses = -1 of [action.light] is not a number above"
refused "a chain that rises and falls" -- run a.ini action.light.kappas="0.12 0.125" -- "'0.125' of kappas" "below the one before it, 0.12"
refused "a word in a chain" -- run a.ini action.light.masses="1 two" -- "'two' of masses = 1 two"
refused "a level that leaves a factor out" -- "${chain[@]}" integrator.0.actions=light.0 -- "the action light.1 is not assigned to an integrator level"
refused "a factor twice" -- "${chain[@]}" "integrator.0.actions=light light.0" "integrator.1.actions=gauge light.0" -- "light.0 is assigned to more than one integrator level"
refused "a whole action of which nothing is left" -- "${chain[@]}" "integrator.0.actions=light light.0 light.1 light.2 light.det" -- "all factors of light stand on levels"
refused "a factor that there is not" -- "${chain[@]}" integrator.0.actions=light.3 -- "names no action" "did you mean 'light.0'?"
refused "two solvers for three factors" -- "${chain[@]}" action.light.solver="force accept" -- "has 2 names, and the action 3 factors"
try run --dry-run a.ini action.light.kappas="0.12 0.11" "action.light.solver=force accept force" "integrator.0.actions=light.0" \
    "integrator.1.actions=gauge light.2 light.1"
exits 0 "a chain on two levels"
printed "integrator.1.actions = gauge light.2 light.det light.1" "2 flavours of mass -0.1538"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo -n "$i " >>masses; done
refused "more factors than there are places" -- run a.ini action.light.masses="$(cat masses)" -- "are 17 actions; a run has at most 16"

# ---- kinds of quarks and actions ----

# Two quarks, and one by rational functions.
sed 's/^actions = light$/actions = light heavy strange/' good.ini >c.ini
cat >>c.ini <<'INI'
[quark.heavy]
kappa = 0.12
c_sw = 1.5
[action.heavy]
kind = two_flavours
quark = heavy
solver = force
[quark.strange]
kind = wilson_clover
kappa = 0.125
c_sw = 1.5
[action.strange]
kind = rational
quark = strange
solver = force
action_solver = accept
[solver.general]
type = bicgstab
INI
refused "an action of no quark" -- run c.ini action.light.quark=havy -- "quark = havy in [action.light]" "did you mean 'heavy'?"
refused "four flavours of a clover quark" -- run c.ini action.light.kind=four_flavours -- "makes 2 flavours; choose kind = two_flavours or rational"
refused "the exact algorithm for a clover quark" -- run c.ini action.light.kind=eofa -- "is for domain wall quarks"
refused "the exact algorithm for a twisted mass" -- run a.ini quark.light.kind=twisted_mass quark.light.mu=0.1 action.light.kind=eofa -- \
    "[action.light] kind = eofa is for domain wall quarks, and [quark.light] is of kind = twisted_mass"
refused "factors of a clover quark" -- run c.ini action.strange.with=1:1 -- "is for staggered quarks"
refused "a Pauli-Villars field of a clover quark" -- run c.ini "action.strange.pauli_villars_spectrum=1 2" -- "has no Pauli-Villars field"
refused "a chain of a kind that has none" -- run c.ini action.strange.masses=1 -- "has no key 'masses'"
refused "guesses with shifts" -- run c.ini action.strange.predictor=3 -- "has no key 'predictor'"
refused "flavours of a kind for two" -- run c.ini action.heavy.flavours=1 -- "kind = two_flavours has no key 'flavours'"
# Coefficients of each slice, of quarks for measurements.
edited z.ini ''
printf '[quark.slices]\nkind = zmobius\nmass = 0.1\nLs = 4\nomega = 1 0.5+0.1i 0.5-0.1i 2\n[source.s]\nkind = point\n' >>z.ini
try run --dry-run z.ini
exits 0 "a quark with coefficients of each slice"
refused "an action of it" -- run z.ini action.light.quark=slices -- "[action.light] quark = slices" \
    "kind = zmobius are for measurements alone" "kind = mobius"
refused "numbers for fewer slices" -- run z.ini quark.slices.Ls=5 -- "[quark.slices] omega has 4 numbers, and Ls = 5"
refused "a number alone" -- run z.ini quark.slices.omega="1 1 0.5+0.1i 2" -- "0.5+0.1i of slice 2 has no conjugate"
for number in 0 0.5+i 0.5+0.1 0.5i0 0.5+0.1j nan; do
    refused "a number like $number" -- run z.ini quark.slices.omega="1 1 1 $number" -- "'$number' is not a complex number other than 0"
done
{
    cat z.ini
    printf '[measure.wall]\nkind = residual_mass\nquark = slices\nsource = s\n'
} >wall.ini
refused "the residual mass of it" -- run wall.ini -- "[measure.wall] kind = residual_mass needs the conserved axial current of uniform slices" \
    "kind = mobius"
sed -i '/^omega/d' z.ini
refused "no numbers" -- run z.ini -- "[quark.slices] needs the key 'omega'"
# Doublets with two masses.
heavy=(run c.ini quark.strange.kind=twisted_doublet quark.strange.mu_sigma=0.15 quark.strange.mu_delta=0.17)
try run --dry-run "${heavy[@]:1}" action.strange.flavours=2
exits 0 "a non-degenerate doublet"
printed "mu_sigma 0.15, mu_delta 0.17 (times 2 kappa 0.0375, 0.0425)" "2 flavours"
refused "one flavour of a doublet" -- "${heavy[@]}" -- "flavours = 1 of [action.strange]" "give flavours = 2"
refused "four flavours on one pseudofermion and more" -- "${heavy[@]}" action.strange.flavours=6 -- "give more pseudofermions"
refused "a doublet without masses" -- run c.ini quark.strange.kind=twisted_doublet -- "neither mu_sigma nor mu_delta" "kind = wilson_clover"
refused "a splitting that is too large" -- "${heavy[@]}" quark.strange.mu_delta=5 -- "mu_delta = 5 is too large" "has to be below"
refused "two flavours of a doublet without a root" -- "${heavy[@]}" action.heavy.quark=strange -- "makes 4 flavours; choose kind = four_flavours"
refused "a twisted mass of one flavour" -- "${heavy[@]}" quark.strange.mu=0.1 -- "kind = twisted_doublet has no key 'mu'"
refused "multigrid of a doublet" -- "${heavy[@]}" action.strange.flavours=2 action.strange.kind=rational solver.general.type=multigrid \
    action.strange.solver=general -- "by conjugate gradients"
printf '\n[measure.m]\nkind = condensate\nquark = strange\nsolver = force\n' | cat c.ini - >d.ini
refused "a doublet that is measured" -- run d.ini "${heavy[@]:2}" action.strange.flavours=2 -- "[measure.m] names [quark.strange]" "kind = twisted_mass"
# A doublet of twisted mass, of which not everything is there.
sed 's/^kappa = 0.130$/&\nkind = twisted_mass\nmu = 0.1/' good.ini >twisted.ini
printf '\n[solver.levels]\ntype = multigrid\n[propagator.p]\nquark = light\nsolver = force\nsource = s\n[source.s]\n[measure.m]\nkind = mesons\npropagator = p\noperators = pseudoscalar\n' >>twisted.ini
try run --dry-run twisted.ini action.light.mus="0.2 0.7"
exits 0 "a doublet of twisted mass"
printed "mu 0.1 (2 kappa mu 0.026)"
refused "a twisted mass that is none" -- run twisted.ini quark.light.mu=0 -- "[quark.light] of kind = twisted_mass has mu = 0" "kind = wilson_clover"
refused "a twisted mass of another kind" -- run c.ini quark.light.mu=0.1 -- "kind = wilson_clover has no key 'mu'"
refused "roots of a doublet" -- run twisted.ini action.light.kind=rational -- "[action.light] kind = rational" "kind = twisted_mass of [quark.light]" "choose kind = two_flavours"
try run --dry-run twisted.ini action.light.solver=levels action.light.mus=0.2
exits 0 "multigrid of a twisted mass"
refused "a factor of twisted masses without any" -- run c.ini action.light.solver=general solver.general.type=multigrid solver.general.mu_factor=2 -- \
    "mu_factor of [solver.general] has no effect" "kind = twisted_mass"
refused "mesons of a doublet that are none" -- run twisted.ini "measure.m.operators=pseudoscalar vector" -- \
    "operators = pseudoscalar vector of [measure.m]" "[quark.light] is of the other flavour" "only operators = pseudoscalar and axial"
try run --dry-run twisted.ini "measure.m.operators=pseudoscalar axial" measure.m.pairs=all
exits 0 "charged currents of a doublet"
sed '/^operators = pseudoscalar$/d; s/^kind = mesons$/kind = baryons/' twisted.ini >protons.ini
refused "baryons of a doublet" -- run protons.ini -- "[measure.m] kind = baryons is not for kind = twisted_mass of [quark.light]" "another quark"
sed -i 's/^operators = pseudoscalar$/kind = trace/; /^kind = mesons$/d; s/^propagator = p$/quark = light/' twisted.ini
refused "low modes of a twisted mass" -- run twisted.ini measure.m.low_modes=yes -- "low_modes = yes" "kind = twisted_mass of [quark.light]"
refused "twisted masses that fall" -- run twisted.ini action.light.mus="0.2 0.15" -- "'0.15' of mus = 0.2 0.15" "above the one before it, 0.2"
refused "a twisted mass below the quark's" -- run twisted.ini quark.light.mu=-0.1 action.light.mus=0.05 -- "above the one before it, 0.1"
refused "masses and twisted masses" -- run twisted.ini action.light.mus=0.2 action.light.masses=1 -- "both masses and mus are given for [action.light]"
refused "ratios of nothing" -- run twisted.ini action.light.ratios_only=yes -- "ratios_only = yes of [action.light] needs masses, kappas or mus"
refused "a ratio whose clover determinant is not divided" -- run twisted.ini action.light.mus=0.5 action.light.ratios_only=yes quark.light.c_sw=1 -- "takes a quark without a clover term" "c_sw = 0 in [quark.light]"
refused "twisted masses of another kind" -- run c.ini action.light.mus=0.2 -- "kind = wilson_clover has no twisted mass; give masses"
{
    cat c.ini
    printf '\n[solver.levels]\ntype = multigrid\n'
} >levels.ini
printf '\n[solver.around]\ntype = pcg\npreconditioner = levels\n[solver.more]\ntype = multigrid\n' >>levels.ini
refused "multigrid inside a solver of positive operators" -- run levels.ini action.heavy.solver=around -- "[solver.around] type = pcg" "type = multigrid" "type = gcr"
refused "a smoother of positive operators" -- run levels.ini action.heavy.solver=levels solver.levels.smoother=around solver.around.preconditioner= -- \
    "[solver.levels] type = multigrid is for M itself, and smoother = around solves for positive operators"
refused "multigrid as a smoother" -- run levels.ini action.heavy.solver=levels solver.levels.smoother=around solver.around.type=gcr solver.around.preconditioner=more solver.more.type=multigrid -- \
    "[solver.levels] type = multigrid has type = multigrid inside"
refused "vectors of a lattice that there is not" -- run levels.ini solver.levels.vectors_3=8 -- "vectors_3 = 8 of [solver.levels] has no effect" "levels = 4"
refused "a cycle of two lattices" -- run levels.ini solver.levels.levels=2 solver.levels.cycle=v -- "cycle = v of [solver.levels] has no effect" "levels = 2"
refused "a tolerance of cycles without Krylov solves" -- run levels.ini solver.levels.cycle=w solver.levels.coarse_tolerance=0.1 -- \
    "coarse_tolerance = 0.1 of [solver.levels] has no effect" "cycle = k"
refused "a smoother without steps" -- run levels.ini solver.levels.post_steps=0 solver.levels.relaxation=0.8 -- \
    "relaxation = 0.8 of [solver.levels] has no effect" "post_steps = 0"
refused "a negative number of ranks" -- run levels.ini solver.levels.ranks_2=-1 -- "ranks_2" "'-1' is out of range"
refused "a smoother that there is not" -- run levels.ini action.heavy.solver=levels solver.levels.smoother=arund -- "arund" "around"
refused "too few pseudofermions" -- run c.ini action.strange.flavours=3 -- "add up to 3" "2 pseudofermions = 2; give more pseudofermions"
refused "half a range" -- run c.ini action.strange.spectrum=0.1 -- "spectrum = 0.1" "neither auto nor two numbers LO HI"
refused "a range upside down" -- run c.ini "action.strange.spectrum=4, 0.1" -- "0 < LO < HI"
refused "a word for a range" -- run c.ini action.strange.spectrum=automatic -- "spectrum = automatic"
refused "an approximation beyond numbers" -- run c.ini action.strange.approximation=1e-17 -- "approximation" "1e-17"
refused "shifts by another solver" -- run c.ini action.strange.action_solver=general -- "[solver.general] is of type bicgstab" "type cg"
refused "shifts of the heat bath by another solver" -- run c.ini action.strange.heat_bath_solver=general -- \
    "[solver.general] is of type bicgstab" "its heat_bath_solver"
refused "shifts in checks of reversibility by another solver" -- run c.ini action.strange.reversal_solver=general -- \
    "[solver.general] is of type bicgstab" "its reversal_solver"
refused "shifts by another fallback" -- run c.ini solver.force.fallback=general -- "[solver.general] is of type bicgstab" "type cg"
refused "too many vectors" -- run c.ini action.heavy.predictor=33 -- "predictor" "<= 32"

# Staggered quarks.
cp "$source"/inputs/hisq-2plus1plus1.ini s.ini
staggered=(run s.ini lattice.size=4.4.4.4)
refused "a hopping parameter of a staggered quark" -- "${staggered[@]}" quark.light.kappa=0.12 -- "has no key 'kappa'"
refused "a clover term of a staggered quark" -- "${staggered[@]}" quark.light.c_sw=1 -- "has no key 'c_sw'" "links u0"
refused "an anisotropy of a staggered quark" -- "${staggered[@]}" quark.light.xi_0=2 -- "has no key 'xi_0'"
refused "a massless staggered quark" -- "${staggered[@]}" quark.light.mass=0 -- "mass = 0" "not positive"
refused "a tadpole factor of HISQ" -- "${staggered[@]}" quark.light.u0=0.9 -- "u0 is for links = fat7 or asqtad" "links = hisq"
refused "asqtad links without a tadpole factor" -- "${staggered[@]}" quark.heavy.links=asqtad -- "[quark.heavy] with links = asqtad has no u0" "tadpole factor"
refused "compressed links of naive quarks" -- "${staggered[@]}" quark.heavy.links=naive quark.heavy.long_reals=13 -- "long_reals is for links = asqtad or hisq"
refused "compressed links of fat7 quarks" -- "${staggered[@]}" quark.heavy.links=fat7 quark.heavy.u0=0.9 quark.heavy.long_reals=13 -- "long_reals is for links = asqtad or hisq" "links = fat7"
refused "a charm term of asqtad" -- "${staggered[@]}" quark.charm.links=asqtad -- "naik_epsilon is for links = hisq"
refused "a word for whole powers" -- "${staggered[@]}" action.heavy.flavours=12 "action.heavy.with=0.5:-12" -- "with whole powers" "pseudofermions = 6"
refused "a charm term that leaves no long links" -- "${staggered[@]}" quark.light.naik_epsilon=-1 -- "naik_epsilon" "-1"
{
    cat s.ini
    printf '[quark.plain]\nkind = staggered\nmass = 0.5\n[action.plain]\nkind = four_flavours\nquark = plain\nsolver = blocks\n'
    printf '[solver.blocks]\ntype = gcr\npreconditioner = inside\n[solver.inside]\ntype = schwarz\nsteps = 4\n'
} >p.ini
refused "blocks of a staggered quark" -- run p.ini lattice.size=4.4.4.4 "integrator.0.actions=light heavy charm plain" -- "solver = blocks of [action.plain]" "type = schwarz"
refused "blocks in checks of a staggered quark" -- run p.ini lattice.size=4.4.4.4 "integrator.0.actions=light heavy charm plain" \
    action.plain.solver=force action.plain.reversal_solver=blocks -- "reversal_solver = blocks of [action.plain]" "type = schwarz"
printf '[solver.levels]\ntype = multigrid\n' >>p.ini
refused "multigrid of a staggered quark" -- run p.ini lattice.size=4.4.4.4 "integrator.0.actions=light heavy charm plain" \
    action.plain.solver=levels -- "solver = levels of [action.plain]" "type = multigrid"
refused "multisplitting of a staggered quark" -- run p.ini lattice.size=4.4.4.4 "integrator.0.actions=light heavy charm plain" \
    solver.blocks.type=pcg solver.inside.type=multisplitting -- "solver = blocks of [action.plain]" "type = multisplitting"
refused "a solver of a heat bath that has no solve" -- run p.ini lattice.size=4.4.4.4 action.plain.heat_bath_solver=accept -- \
    "the heat bath of [action.plain] has no solve"
try run --dry-run s.ini lattice.size=4.4.4.4 solver.force.fallback=accept solver.accept.fallback=force
exits 0 "fallbacks of a staggered quark in a circle"
refused "a factor without its mass" -- "${staggered[@]}" action.light.with=3 -- "'3' of with = 3" "MASS:N"
refused "a factor of a lighter mass" -- "${staggered[@]}" action.light.with=0.001:1 -- "a mass above 0.013"
refused "a mass twice" -- "${staggered[@]}" "action.light.with=0.1:1, 0.1:2" -- "mass 0.1 twice"
refused "more flavours below than above" -- "${staggered[@]}" action.light.with=0.2:-3 -- "add up to -1" "between 0 and 4"
refused "a factor that no section makes good" -- "${staggered[@]}" action.light.with=0.2:-3,strange:1 quark.heavy.mass=0.25 -- "-3 flavours of mass 0.2" "links of [quark.light]"
refused "a factor that a section makes good in part" -- "${staggered[@]}" action.heavy.flavours=2 -- "s.ini:37" "-1 flavours of mass 0.2" "links of [quark.light]"
refused "a factor made good with other links" -- "${staggered[@]}" action.light.with=0.2:-3,strange:1 quark.heavy.links=asqtad quark.heavy.u0=0.9 -- "-3 flavours of mass 0.2"
refused "a factor of a quark with other links" -- "${staggered[@]}" quark.strange.links=naive -- "s.ini:37" "takes the mass of [quark.strange]" "links, u0 or naik_epsilon"
refused "a factor of no quark" -- "${staggered[@]}" action.light.with=strang:1 -- "with = strang in [action.light]" "did you mean 'strange'"
refused "a charm term beyond its series" -- "${staggered[@]}" quark.charm.mass=1.5 quark.charm.naik_epsilon=auto -- "has to be below 1" "at tree level it is -0.66939"
refused "a charm term that is a word" -- "${staggered[@]}" quark.charm.naik_epsilon=best -- "'best' is not a real number" "or auto"
for mass in 0.018 0.037 0.7; do
    square=$(awk -v m=$mass 'BEGIN { printf "%.6g", m * m }')
    try run --dry-run s.ini lattice.size=4.4.4.4 quark.charm.mass=$mass "action.charm.spectrum=$square 40" quark.charm.naik_epsilon=0
    exits 0 "a spectrum from the square of the mass, $mass"
done
refused "an approximation of what is exact" -- "${staggered[@]}" action.charm.flavours=4 action.charm.force_approximation=1e-4 -- \
    "take no root of [action.charm]"
refused "a spectrum above the square of the mass" -- "${staggered[@]}" "action.light.spectrum=2e-4 30" -- "begins above 0.000169"
refused "the clover determinant of a staggered quark" -- "${staggered[@]}" "integrator.0.actions=light light.det heavy charm" -- "[action.light] has no light.det"
refused "five flavours on one pseudofermion" -- "${staggered[@]}" action.charm.flavours=5 -- "add up to 5" "pseudofermions = 4"
printf '[measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = charm\nsolver = force\nsource = s\n[source.s]\n' >>s.ini
refused "a Wilson propagator of a staggered quark" -- "${staggered[@]}" -- "needs a Wilson quark" "kind = staggered"
sed -i 's/^propagator = p$/quark = charm\nsolver = force\nsource = s/' s.ini
refused "a residual mass of a staggered quark" -- "${staggered[@]}" measure.p.kind=residual_mass -- "needs a domain wall quark"

write_pure_gauge many.ini
sed -i 's/^actions = gauge/& q1 q2 q3 q4 q5 q6 q7 q8/' many.ini
printf '[solver.s]\ntype = cg\n' >>many.ini
for i in 1 2 3 4 5 6 7 8; do
    printf '[quark.q%d]\nkappa = 0.1\nc_sw = 1\n[action.q%d]\nkind = two_flavours\nquark = q%d\nsolver = s\naction_solver = s\n' $i $i $i >>many.ini
done
refused "more actions than there are places" -- run many.ini -- "are 17 actions" "at most 16"

refused "an odd extent" -- run a.ini lattice.size=4.4.4.5 -- "extent 5" "direction t" "even number"
refused "an extent of zero" -- run a.ini lattice.size=4.0.4.4 -- "size" "4.0.4.4"
refused "a grid of other ranks" -- run a.ini machine.grid=1.1.1.2 -- "process grid 1.1.1.2" "2 ranks" "there are 1"
refused "a grid chosen in part" -- run a.ini machine.grid=0.1.1.1 -- "process grid 0.1.1.1" "0.0.0.0"
refused "a lattice beyond indices of 32 bits" -- run a.ini lattice.size=512.512.512.512 -- "512.512.512.512" "use more ranks"
refused "a number of ranks without a plan" -- run a.ini --ranks 2 -- "--ranks" "--dry-run"
refused "a number of ranks that is none" -- run a.ini --dry-run --ranks two -- "--ranks two"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    # ranks_refused WHAT N ARGUMENTS -- TEXT...
    ranks_refused() {
        local what=$1 n=$2 arguments rest
        shift 2
        until_dashes "$@"
        say "$what"
        try_ranks $n "${arguments[@]}"
        exits 2 "$what"
        printed "${rest[@]}"
        checks=$((checks + 1))
        [ "$(grep -c 'plaq: error: ' err)" -eq 1 ] || fail "$what: not one message"
        rm -rf out.run
    }
    export OMP_NUM_THREADS=1
    ranks_refused "a lattice that the grid does not divide" 4 run a.ini lattice.size=4.4.4.6 machine.grid=1.1.1.4 -- \
        "process grid 1.1.1.4" "4.4.4.6"
    ranks_refused "boxes of odd extents" 2 run a.ini lattice.size=4.4.4.6 machine.grid=1.1.1.2 -- "even extents"
    ranks_refused "a number of ranks without a grid" 3 run a.ini lattice.size=4.4.4.4 -- "cannot be split over 3 ranks"
    ranks_refused "more ranks than boxes" 8 run a.ini lattice.size=2.2.2.4 -- "cannot be split over 8 ranks"
    ranks_refused "an unknown key, on two ranks" 2 run a.ini gauge.betta=5 -- "did you mean 'beta'?"
    ranks_refused "no such configuration, on two ranks" 2 run a.ini run.start=file run.config=nowhere -- "nowhere" "No such file"
    export OMP_NUM_THREADS=2
fi

# ---- configurations to start from ----

try run --json a.ini run.output=seed run.trajectories=1
exits 0 "a configuration to damage"
first=seed/checkpoint-000001.h5
for format in nersc ildg h5; do
    try convert $first good.$format
    exits 0 "convert to $format"
done

from() { echo run a.ini run.start=file run.config="$1"; }
refused "no such configuration" -- $(from nowhere.nersc) -- "nowhere.nersc" "No such file"
refused "a configuration of other size" -- $(from good.nersc) lattice.size=4.4.4.8 -- "good.nersc" "4.4.4.4" "4.4.4.8"
refused "an input file for a configuration" -- $(from a.ini) -- "a.ini"
refused "a folder for a configuration" -- $(from seed) -- "seed"
: >nothing
refused "a configuration of zero length" -- $(from nothing) -- "nothing"

for format in nersc ildg h5; do
    bytes=$(stat -c %s good.$format)
    for part in 10 500 5000 $((bytes - 1)); do
        head -c $part good.$format >cut.$format
        refused "$format cut off after $part bytes" -- $(from cut.$format) -- "cut.$format"
    done
    for offset in $((bytes / 3)) $((bytes / 2)) $((bytes * 9 / 10)); do
        cp good.$format bent.$format
        flip bent.$format $offset
        refused "$format with a flipped bit at $offset" -- $(from bent.$format) -- "bent.$format"
        try check bent.$format
        exits 1 "check finds it"
    done
done

say "NaN in links, with a right checksum"
cp good.nersc nan.nersc
bytes=$(stat -c %s nan.nersc)
place=$((bytes - 144 * 40)) # a number of the fortieth site from the end; two words whose sum stays
read -r high low < <(od -An -tu4 --endian=big -j $place -N 8 nan.nersc)
new=$(((high + low - 0x7ff80000) & 0xffffffff))
poke nan.nersc $place 0x7f 0xf8 0 0 $((new >> 24)) $((new >> 16 & 255)) $((new >> 8 & 255)) $((new & 255))
refused "NaN in a NERSC file" -- $(from nan.nersc) -- "nan.nersc" "NaN"
try check nan.nersc
exits 1 "check of NaN"
printed "NaN"
# same_in_plan FILE WORDS...: a dry run says of a file to start from what the run says.
same_in_plan() {
    local of=$1 said
    shift
    say "a dry run and $of"
    try $(from "$of") "$@"
    said=$(grep '^plaq: error: ' err)
    try $(from "$of") "$@" --dry-run
    exits 2 "a dry run and $of"
    same "what it says" "$said" "$(grep '^plaq: error: ' err)"
}
same_in_plan nowhere.nersc
same_in_plan good.nersc lattice.size=4.4.4.8
same_in_plan bent.h5
same_in_plan nan.nersc
try $(from bent.h5) --dry-run --ranks 4
exits 0 "a plan for other ranks, which looks at the header alone"
try $(from good.ildg) --dry-run
exits 0 "a dry run and a good file"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    try_ranks 2 $(from good.ildg) --dry-run
    exits 0 "a dry run of two ranks and a good file"
    try_ranks 2 $(from bent.h5) --dry-run
    exits 2 "a dry run of two ranks and a bent file"
fi
mkdir gone.run
: >gone.run/checkpoint-000003.h5
try $(from gone.ildg) run.output=gone.run --dry-run
exits 0 "a dry run and a file that is not needed any more"
printed "continues from the newest checkpoint in gone.run: gone.ildg is not read"
if [ -d "$data" ]; then
    file=$data/openQCD_qcd1_pb_L8T8_b6.0_c1.234_k0.13_r0_id4n1
    cp "$file" nan.openqcd
    chmod u+w nan.openqcd
    poke nan.openqcd 100008 0 0 0 0 0 0 0xf8 0x7f
    cp "$file" off.openqcd
    chmod u+w off.openqcd
    poke off.openqcd 100008 0 0 0 0 0 0 0x44 0x40
    refused "NaN in a file without checksum" -- $(from nan.openqcd) lattice.size=8.8.8.8 -- "nan.openqcd" "NaN"
    refused "a link off the group, without checksum" -- $(from off.openqcd) lattice.size=8.8.8.8 -- "off.openqcd"
    refused "fat links" -- $(from "$data/fat.l8") lattice.size=8.8.8.8 -- "fat.l8" "not in SU(3)"
    same_in_plan off.openqcd lattice.size=8.8.8.8
    same_in_plan "$data/fat.l8" lattice.size=8.8.8.8
else
    say "left out for want of $data: NaN without checksum, fat links"
fi

# ---- output folders ----

: >file
refused "a file in place of the output folder" -- run a.ini run.output=file -- "file" "cannot be made an output folder"
refused "a file above the output folder" -- run a.ini run.output=file/deep -- "file" "Not a directory"
refused "a folder that cannot be" -- run a.ini run.output=/proc/plaq -- "/proc/plaq"
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod a-w closed
    refused "a folder without permission to write" -- run a.ini run.output=closed -- "closed" "Permission denied"
fi

# After a failure in a full folder: the message, no half-written file, and what is there is good. A run that had begun
# ends with status 4 and its summary, one that had not with 2.
full_folder() {
    if grep -q '^trajectory 1/' out err; then
        exits 4 "$1"
        printed "The last checkpoint stands" "stopped: after trajectory" "to continue: "
    else
        exits 2 "$1"
    fi
    checks=$((checks + 1))
    [ "$(grep -c '^plaq: error: \|^error: ' err)" -eq 1 ] || fail "$1: not one message"
    checks=$((checks + 1))
    ! grep -q 'HDF5-DIAG' err || fail "$1: the HDF5 library speaks for itself"
    tidy "$2"
    local c
    for c in "$2"/checkpoint-*.h5; do
        [ -e "$c" ] || continue
        "$plaq" check "$c" >out 2>&1 || fail "$1: $c is not good"
        checks=$((checks + 1))
    done
}
mkdir mount.full
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m none mount.full 2>/dev/null; then
    # Room for some checkpoints and a growing history, for fewer, for none.
    for room in 0 500 800 900 960 1000; do
        say "an output folder that becomes full, $room KiB taken before"
        head -c ${room}k /dev/zero >mount.full/ballast
        try run a.ini run.output=mount.full/run run.trajectories=40 checkpoint.interval=1 checkpoint.keep=1000
        full_folder "a full folder" mount.full/run
        printed "mount.full/run"
        rm -rf mount.full/run mount.full/ballast
    done
    say "room is made, the run goes on"
    head -c 500k /dev/zero >mount.full/ballast
    try run --json a.ini run.output=mount.full/run run.trajectories=6 checkpoint.interval=1 checkpoint.keep=1000
    exits 4 "no room"
    same "summary says unfinished" false "$(value finished)"
    newest=$(ls mount.full/run/checkpoint-*.h5 | tail -n 1)
    same "summary says where it stands" "mount.full/run/checkpoint-$(printf %06d "$(value trajectories)").h5" "$newest"
    links=$(value digest)
    try check --json "$newest"
    same "digest of the summary" "$links" "$(value digest)"
    rm mount.full/ballast
    try run --json a.ini run.output=mount.full/run run.trajectories=4 checkpoint.keep=2
    exits 0 "room made"
    links=$(value digest) rows=$(value history_digest)
    try run --json a.ini run.output=roomy run.trajectories="$(value trajectories)"
    same "links after a full folder" "$(value digest)" "$links"
    same "history after a full folder" "$(value history_digest)" "$rows"
    umount mount.full
else
    say "no tmpfs can be mounted: the full folder is left out"
fi
# MPI has files of its own, so the limit leaves room for those.
say "a limit on the length of files"
write_pure_gauge gauge.ini
status=0
(ulimit -f 6144 && "$plaq" run gauge.ini run.output=limited run.start=cold run.trajectories=1 lattice.size=12.12.12.12) >out 2>err || status=$?
full_folder "files of at most 6 MiB" limited
printed "checkpoint-000001.h5"

# ---- what is allowed and likely wrong ----

say "a GPU asked for where there is none"
try run a.ini machine.device=gpu run.output=none
exits 2 "device = gpu"
printed "device = gpu, but" "or use device = cpu"
checks=$((checks + 1))
[ ! -e none ] || fail "an output folder was made"
say "keys for GPUs on a CPU"
try run --dry-run a.ini machine.device=cpu machine.tune=file machine.transport=host
exits 0 "keys for GPUs on a CPU"
printed "[machine] keys without effect on the CPU: transport tune"
try run --dry-run a.ini machine.device=cpu
checks=$((checks + 1))
! grep -q "without effect" err out || fail "a word on keys that are not given"

say "spellings of other programs, and words for other names"
edited d.ini 's/^tolerance = 1e-8/tolerance = 1.0d-8/'
refused "an exponent of Fortran" -- run d.ini -- "[solver.force] tolerance: '1.0d-8' is not a real number" "did you mean '1.0e-8'?"
refused "a part of a kind's name" -- run a.ini quark.light.kind=clover -- "'clover' is unknown" "did you mean 'wilson_clover'?"
refused "a key of another section" -- run a.ini gauge.kappa=0.13 -- "unknown key 'kappa' in [gauge]; it is a key of [quark.NAME]"
printf '\n[measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = light\nsource = s\nerror_estimate = true\n[source.s]\n' | cat a.ini - >t.ini
refused "true for yes" -- run t.ini -- "error_estimate: 'true' is unknown; allowed: no or yes" "did you mean 'yes'?"
refused "a first configuration that is not there" -- run a.ini run.start=file run.config=nosuch.h5 -- \
    "command line: run.config=nosuch.h5: [run] config = nosuch.h5: nosuch.h5: No such file or directory"
refused "the same in a dry run" -- run --dry-run a.ini run.start=file run.config=nosuch.h5 -- "[run] config = nosuch.h5: "
sed 's/^start = hot/start = file\nconfig = good.ini/' a.ini >f.ini
refused "a first configuration that is none, by line" -- run f.ini -- "f.ini:6: [run] config = good.ini: "

# warns WHAT ARGUMENTS -- TEXT: a dry run goes on, and says it.
warns() {
    local what=$1 arguments rest
    shift
    until_dashes "$@"
    say "$what"
    try run --dry-run "${arguments[@]}"
    exits 0 "$what"
    grep -q "^warning: .*${rest[0]}" err || fail "no warning: ${rest[0]}"
    checks=$((checks + 1))
}
sed '/^c_sw/d' a.ini >wilson.ini
warns "a clover quark without c_sw" wilson.ini -- "wilson.ini:[0-9]*: \[quark.light\] has no c_sw"
warns "an anisotropic quark without clover coefficients" wilson.ini quark.light.xi_0=2 quark.light.nu=1 -- "wilson.ini:[0-9]*: \[quark.light\] has no clover_R and clover_T"
warns "kappa among the doublers" a.ini quark.light.kappa=0.26 -- "\[quark.light\] kappa = 0.26 is a mass of -2.077"
warns "a very long trajectory" a.ini run.length=11 -- "\[run\] length = 11 is a very long trajectory"
warns "a fallback that is itself" a.ini solver.force.fallback=force -- "\[solver.force\] fallback = force is the solver itself"
echo text >file.txt
warns "an output folder that cannot be made" a.ini run.output=file.txt/run -- "run.output=file.txt/run: .*the run will not begin here"
try run --dry-run a.ini run.output=new/folder
checks=$((checks + 1))
[ ! -e new ] || fail "a dry run left a folder"
! grep -q "has no c_sw\|is a mass of\|very long\|the solver itself\|will not begin" err || fail "a warning of a good input"
sed 's/^c_sw = 1.5/c_sw = 0/' a.ini >zero.ini
try run --dry-run zero.ini
checks=$((checks + 1))
! grep -q "has no c_sw" err || fail "a warning of c_sw = 0"
rm -f d.ini t.ini f.ini zero.ini wilson.ini file.txt

say "a loose accept step, <exp(-dH)> that is not 1"
try run a.ini run.output=loose run.trajectories=1 solver.accept.tolerance=1e-5
exits 0 "a loose accept step"
printed "warning: [solver.accept] tolerance = 1e-05 decides about acceptance for [action.light]"
try run a.ini run.output=tight1 run.trajectories=1
checks=$((checks + 1))
! grep -q "decides about acceptance" err || fail "a warning of a tight tolerance"
try run gauge.ini run.output=far run.start=cold run.trajectories=5 integrator.0.steps=4 lattice.size=8.8.8.8
exits 1 "out of equilibrium"
printed "is not 1. Likely causes:" "raise steps" "raise warmup" "none of the 5 trajectories of this session"
finish

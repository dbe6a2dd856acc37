# The memory that a dry run predicts: fields within 10% of what the run takes, and all between 0.95 and 1.25 of the peak
# resident size of its process.
. "$(dirname "$0")/kit.bash"
write_input clover.ini
write_pure_gauge gauge.ini
printf '\n[measure.flow]\nkind = flow\nflow_time = 0.1\n' >>gauge.ini
cat clover.ini - >pion.ini <<'INI'

[measure.pion]
kind = pion
propagator = light
[propagator.light]
quark = light
source = origin
[source.origin]
INI

# within WHAT RANKS INPUT ARGUMENTS...
within() {
    local what=$1 ranks=$2
    shift 2
    say "$what, $ranks ranks"
    try_ranks "$ranks" run --json "$@" run.output=out.$checks run.start=cold run.trajectories=2 run.length=0.05 run.warmup=2
    exits 0 "$what"
    local used
    used=$(value fields_peak)
    same "the run predicts what the dry run does" "$(value fields_predicted)" \
        "$("$plaq" run --json --dry-run --ranks "$ranks" "$@" 2>err | tail -n 1 | sed 's/.*"fields_predicted": *\([0-9]*\).*/\1/')"
    checks=$((checks + 1))
    awk -v a="$used" -v b="$(value fields_predicted)" 'BEGIN { r = b / a; print "  fields " r; exit !(r > 0.9 && r < 1.1) }' ||
        fail "$what: fields took $used, predicted $(value fields_predicted)"
    resident "$what" "$(value memory_peak)" "$(value memory_predicted)"
}

# resident WHAT USED PREDICTED: sanitizers have memory of their own.
resident() {
    ! ldd "$plaq" | grep -q libasan || return 0
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN { r = b / a; print "  all " r; exit !(r > 0.95 && r < 1.25) }' ||
        fail "$1: resident $2, predicted $3"
}

# As large as blocks ask for, and half of it elsewhere.
whole=lattice.size=8.8.8.8
large=lattice.size=8.8.8.4
within "pure gauge and flow" 1 gauge.ini $large
within "pure gauge, no measurement" 1 gauge.ini $large measure.flow.interval=100
within "clover" 1 clover.ini $large
within "clover and pion" 1 pion.ini $large
within "c_sw = 0" 1 clover.ini $large quark.light.c_sw=0
within "c_sw = 0, symmetric, links whole, all double" 1 clover.ini $large quark.light.c_sw=0 quark.light.schur=symmetric \
    quark.light.link_reals=18 solver.force.inner_precision=double solver.accept.inner_precision=double
# On a lattice on which the solver fills it.
within "a Krylov space" 1 clover.ini $whole solver.force.type=gcr solver.force.restart=20 solver.force.inner_precision=half
# The first solver fails, so that its fallback is what takes memory; which fills its space before the residual has fallen by
# delta. What lies on extended blocks is a part of more than the tenth that the prediction may be wrong by.
cat clover.ini - >blocks.ini <<'INI'

[solver.outside]
type = gcr
tolerance = 1e-4
inner_precision = single
restart = 6
delta = 1e-6
preconditioner = inside
[solver.inside]
type = schwarz
inner_precision = half
block = 4.8.8.8
overlap = 1
steps = 2
INI
within "blocks that overlap, of a fallback" 1 blocks.ini $whole quark.light.kappa=0.122 integrator.0.steps=1 \
    solver.force.tolerance=1e-4 solver.force.max_iterations=1 solver.force.fallback=outside
# Cold links have no quarks lighter than kappa = 1/8, and BiCGStab(l) minds.
within "corrections" 1 clover.ini $large quark.light.kappa=0.122 solver.force.type=refine solver.force.correction=accept \
    solver.accept.type=bicgstab
# Quarks on levels of their own: the largest moment of each is the peak of the run.
{
    sed 's/^actions = light$/actions = light.0 light.1/; s/^kappa = 0.130/kappa = 0.122/; s/^kind = two_flavours/&\nkappas = 0.115/' clover.ini
    cat <<'INI'
[solver.general]
type = bicgstab
tolerance = 1e-8
[solver.space]
type = gcr
inner_precision = double
restart = 12
delta = 1e-9
tolerance = 1e-11
INI
} >heavy.ini
within "a ratio" 1 heavy.ini $large
within "a ratio, other solvers, guesses" 1 heavy.ini $large action.light.solver=general action.light.predictor=7 \
    quark.light.schur=symmetric
within "a ratio whose heat bath takes most" 1 heavy.ini $large action.light.heat_bath_solver=space
sed 's/^kind = two_flavours/kind = rational\nspectrum = 0.01 60/' clover.ini >rational.ini
within "one flavour" 1 rational.ini $large
printf '[solver.whole]\ntype = cg\ninner_precision = double\ntolerance = 1e-11\n' >>rational.ini
within "one flavour, its heat bath in double" 1 rational.ini $large action.light.heat_bath_solver=whole \
    solver.force.inner_precision=half solver.accept.inner_precision=half
within "three flavours, symmetric, all double" 1 rational.ini $large action.light.flavours=3 action.light.pseudofermions=2 \
    quark.light.schur=symmetric "action.light.spectrum=1e-4 10" solver.force.inner_precision=double \
    solver.accept.inner_precision=double
# What nobody has measured is planned for as wide; cold links have a narrow spectrum.
say "no range given"
try run --dry-run rational.ini $large action.light.spectrum=auto
exits 0 "no range given"
printed "memory is that of a spectrum of width 10000"
sed 's/^\[quark.light\]/&\nkind = staggered\nmass = 0.2/; s/^kind = two_flavours/kind = four_flavours/; /^kappa/d; /^c_sw/d; /^schur/d; /^link_reals/d' clover.ini >hisq.ini
within "HISQ quarks, long links of 9 reals" 1 hisq.ini $large quark.light.long_reals=9
within "naive quarks" 1 hisq.ini $large quark.light.links=naive solver.force.type=gcr solver.force.restart=8 \
    solver.force.inner_precision=double
within "fat7 quarks" 1 hisq.ini $large quark.light.links=fat7 quark.light.u0=0.9
within "2+1+1 HISQ" 1 "$source/inputs/hisq-2plus1plus1.ini" $large integrator.0.steps=1 integrator.1.steps=1
within "multigrid" 1 "$source/inputs/clover-multigrid.ini" $whole integrator.0.steps=1
# Measurements on a configuration, which have no run: the peak is that which the system tells.
say "plaq measure"
try run gauge.ini $whole run.output=measured run.trajectories=1 run.length=0.05
predicted=$("$plaq" measure --dry-run --json "$source/inputs/measure.ini" measured/checkpoint-000001.h5 2>err | tail -n 1 |
    sed 's/.*"memory_predicted": *\([0-9]*\).*/\1/')
try measure "$source/inputs/measure.ini" measured/checkpoint-000001.h5
exits 0 "plaq measure"
resident "plaq measure" "$(cat out err | sed -n 's/^memory: \([0-9.]*\) MiB per rank at the peak$/\1/p' | awk '{ print $1 * 1048576 }')" "$predicted"
# Quarks that are only measured have operators while they are.
cat gauge.ini - >quenched.ini <<'INI'

[quark.hisq]
kind = staggered
mass = 0.3
solver = cg
[quark.clover]
mass = 0.4
c_sw = 1
solver = cg
[measure.hisq]
kind = condensate
quark = hisq
vectors = 1
[measure.clover]
kind = condensate
quark = clover
vectors = 1
[solver.cg]
type = cg
tolerance = 1e-8
INI
within "a HISQ quark that is only measured" 1 quenched.ini $large measure.clover.interval=100
within "a naive quark that is only measured" 1 quenched.ini $large measure.clover.interval=100 quark.hisq.links=naive
within "a fat7 quark that is only measured" 1 quenched.ini $large measure.clover.interval=100 quark.hisq.links=fat7 \
    quark.hisq.u0=0.9
within "a clover quark that is only measured" 1 quenched.ini $large measure.hisq.interval=100
# The fifth dimension is in the operator, its work and the vectors of the solver.
cat gauge.ini - >mobius.ini <<'INI'

[quark.wall]
kind = mobius
mass = 0.3
Ls = 6
solver = cg
[measure.pion]
kind = pion
propagator = wall
[propagator.wall]
quark = wall
source = origin
[source.origin]
[solver.cg]
type = cg
tolerance = 1e-6
[solver.outside]
type = pcg
tolerance = 1e-6
preconditioner = inside
[solver.inside]
type = multisplitting
inner_precision = half
block = 8.8.8.4
steps = 2
INI
within "a domain wall quark" 1 mobius.ini $large
within "a domain wall quark in blocks" 1 mobius.ini $whole quark.wall.solver=outside
sed 's/^kind = pion/kind = residual_mass/; s/^propagator = wall/quark = wall\nsource = origin/' mobius.ini >residual.ini
within "its residual mass" 1 residual.ini $large
within "a domain wall quark, all double" 1 mobius.ini $large quark.wall.link_reals=18 solver.cg.inner_precision=double
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    export OMP_NUM_THREADS=1
    within "clover" 2 clover.ini $large
    within "blocks that overlap" 2 blocks.ini $whole solver.inside.block=4.8.8.4 quark.light.kappa=0.122 integrator.0.steps=1 \
        solver.force.tolerance=1e-4 solver.force.max_iterations=1 solver.force.fallback=outside
    within "pure gauge and flow" 2 gauge.ini $large machine.grid=2.1.1.1
fi
finish

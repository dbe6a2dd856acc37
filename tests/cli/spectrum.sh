# Correlators and smeared loops as other codes have recorded them, from the command line: mesons of two clover quarks from a
# smeared source, pions of one, stout, HEX, HYP and APE links; and what is refused of their keys.
. "$(dirname "$0")/kit.bash"
cat >m.ini <<'INI'
[quark.up]
mass = 0.1
c_sw = 1.17
solver = s

[quark.down]
mass = 0.2
c_sw = 1.17
solver = s

[quark.strange]
kind = staggered
links = naive
mass = 0.1
solver = c

[solver.s]
type = bicgstab
tolerance = 1e-12

[solver.c]
type = cg

[links.space]
kind = stout
directions = space
rho = 0.15625
steps = 16

[measure.pi]
kind = mesons
propagator = down
propagator_2 = up
operators = pseudoscalar

[propagator.down]
quark = down
source = gauss

[propagator.up]
quark = up
source = gauss

[propagator.strange]
quark = strange
source = elsewhere

[propagator.elsewhere]
quark = up
source = elsewhere

[propagator.random]
quark = up
source = random

[source.random]
kind = noise

[source.gauss]
smearing = gauss

[source.elsewhere]
place = 0.0.0.2

[smearing.gauss]
width = 2
steps = 5

[measure.smooth]
kind = loops
links = space

[measure.proton]
kind = baryons
propagator = up
propagator_2 = down
baryons = sigma
spin = up
components = upper
INI

# near WHAT WANTED FOUND DIGITS: to so many significant digits, as records have.
near() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" -v d="$4" 'BEGIN { exit !(b != "" && (a - b)^2 <= (10^-d * a)^2) }' || fail "$1: $2 and $3"
}
member() { sed -n "s/.*\"$1\": \[*\([^]}]*\).*/\1/p" | tr ',' '\n' | sed 's/^ *//'; }

if [ -e "$data/pyquda.weak_field.lime" ]; then
    say "pi+ of two masses, recorded by lalibe"
    try measure --json m.ini "$data/pyquda.weak_field.lime"
    exits 0 "mesons"
    grep '"kind": "mesons", "source": 15' out | member real >have
    printf '%s\n' .2151362071 .03641575046 .02742811278 .02323036574 .02189481899 >want
    while read -r t wanted; do near "pi+ at $((t - 1))" "$wanted" "$(sed -n "${t}p" have)" 9; done < <(cat -n want)
    say "the proton, whose record is of a fourth of ours"
    grep '"kind": "baryons", "baryon": 1, "parity": 1' out >line
    member real <line >have
    near "proton at 0" .015118796136 "$(sed -n 1p have)" 9
    near "proton at 1" .0016163557612 "$(sed -n 2p have)" 9
    near "proton at 2" 8.958538744e-4 "$(sed -n 3p have)" 9
    near "proton at 3" 5.828109752e-4 "$(sed -n 4p have)" 9
    member imaginary <line >have
    near "imaginary at 0" -1.6911796576e-4 "$(sed -n 1p have)" 8
    near "imaginary at 2" -1.4241434656e-5 "$(sed -n 3p have)" 7
fi
if [ -e "$data/qlua.random-gauge.lime" ]; then
    # The record is in single precision.
    say "stout links in space, recorded by another code"
    try measure --json m.ini "$data/qlua.random-gauge.lime"
    exits 0 "loops"
    grep '"measure": "smooth"' out >line
    near "plaquette" .998190904268995 "$(member plaquette <line | head -n 1)" 6
    near "in space" .999997427066167 "$(member plaquette_space <line | head -n 1)" 6
    near "in time" .996384381471823 "$(member plaquette_time <line | head -n 1)" 6
fi

cat >twisted.ini <<'INI'
[quark.up]
kind = twisted_mass
kappa = 0.205
mu = 0.01
c_sw = 0
solver = s

[solver.s]
type = cg
tolerance = 1e-12

[measure.charged_pion]
kind = mesons
propagator = up
operators = pseudoscalar

[propagator.up]
quark = up
source = gauss

[source.gauss]
smearing = gauss

[smearing.gauss]
width = 2
steps = 5
INI
if [ -e "$data/pyquda.weak_field.lime" ]; then
    # In single precision, too; without the twisted mass the fourth digit is another.
    say "a quark of twisted mass, recorded by another code"
    try measure --json twisted.ini "$data/pyquda.weak_field.lime"
    exits 0 "twisted mass"
    grep '"kind": "mesons", "source": 15' out | member real >have
    printf '%s\n' .240750708407748 .0924521379717651 >want
    while read -r t wanted; do near "twisted mass at $((t - 1))" "$wanted" "$(sed -n "${t}p" have)" 7; done < <(cat -n want)
fi

cat >maps.ini <<'INI'
[links.hex]
kind = hex
steps = 2

[links.hyp]
kind = hyp

[links.ape]
kind = ape
link_weight = 2.5
directions = space

[quark.light]
mass = 0.05
c_sw = 1
links = hex
solver = s

[quark.wilson]
mass = 0.5454545454545455
solver = s

[solver.s]
type = bicgstab
tolerance = 1e-12

[measure.pion]
kind = pion
propagator = light

[propagator.light]
quark = light
source = origin

[source.origin]

[measure.hyp]
kind = loops
links = hyp

[measure.ape]
kind = loops
links = ape

[measure.gauss]
kind = mesons
propagator = wilson
operators = pseudoscalar

[measure.baryon]
kind = baryons
propagator = wilson
spin = up

[propagator.wilson]
quark = wilson
source = gauss

[source.gauss]
smearing = gauss

[smearing.gauss]
width = 2
steps = 5
links = ape
INI
if [ -e "$data/chroma.weak.4.4.4.4.seed11.11.11.0.lime" ]; then
    say "clover quarks on HEX links, recorded by another code"
    try measure --json maps.ini "$data/chroma.weak.4.4.4.4.seed11.11.11.0.lime"
    exits 0 "HEX links"
    grep '"kind": "pion", "t"' out | member pion >have
    printf '%s\n' .832287979166727 .0799316698092181 .0483132390478958 .0799267561951838 >want
    while read -r t wanted; do near "HEX at $((t - 1))" "$wanted" "$(sed -n "${t}p" have)" 10; done < <(cat -n want)
fi
# Projections of the records stop early: APE at 5e-6 of the converged ones.
if [ -e "$data/qlua.random-gauge.lime" ]; then
    say "HYP links, recorded by another code"
    try measure --json maps.ini "$data/qlua.random-gauge.lime"
    exits 0 "HYP links"
    plaquette=$(grep '"measure": "hyp"' out | member plaquette)
    near "1 - plaquette" 2.4915062305e-4 "$(awk -v p="$plaquette" 'BEGIN { printf "%.15g", 1 - p }')" 3
fi
if [ -e "$data/pyquda.weak_field.lime" ]; then
    say "sources smeared on APE links, recorded by another code"
    try measure --json maps.ini "$data/pyquda.weak_field.lime"
    exits 0 "APE links"
    grep '"kind": "mesons", "source": 15' out | member real >have
    printf '%s\n' .1926089313 .01598078068 .00618062912 .002841809626 .001982667431 .002838897726 .006175888309 .01596312697 >want
    while read -r t wanted; do near "APE at $((t - 1))" "$wanted" "$(sed -n "${t}p" have)" 5; done < <(cat -n want)
    grep '"kind": "baryons", "baryon": 0, "parity": 1' out | member real >have
    printf '%s\n' .02224379 6.697738e-4 1.429035e-4 3.982481e-5 1.52052e-5 1.162935e-5 1.558186e-5 2.849017e-5 >want
    while read -r t wanted; do near "baryon at $((t - 1))" "$wanted" "$(sed -n "${t}p" have)" 5; done < <(cat -n want)
fi
if [ -e "$data/lat.sample.l4444" ]; then
    say "loops of links smeared by APE five times, recorded by another code"
    try measure --json maps.ini "$data/lat.sample.l4444" links.ape.steps=5
    exits 0 "loops of APE links"
    near "W(1, 1)" .6668572 "$(grep '"measure": "ape"' out | member plaquette_time)" 5
fi

say "rows of another second quark, or of other links, do not mix"
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.trajectories=1
sed 's/^steps = 16/steps = 2/' m.ini >few.ini
config=made/checkpoint-000001.h5
try measure --output h.h5 few.ini $config
exits 0 "the first"
try measure --output h.h5 few.ini $config
printed "measure.pi of these links is in h.h5 already" "measure.smooth of these links is in h.h5 already"
try measure --output h.h5 few.ini $config quark.up.mass=0.15
exits 2 "another second quark"
printed "mass"
try measure --output h.h5 few.ini $config links.space.rho=0.1
exits 2 "other links"
printed "rho"

say "flowed links"
cat >flowed.ini <<'INI'
[links.flowed]
kind = flow
flow_time = 0.25
flow_step = 0.1
[links.first]
kind = flow
flow_time = 0.2
flow_step = 0.1
[measure.whole]
kind = flow
flow_time = 0.25
flow_step = 0.1
[measure.rest]
kind = flow
links = first
flow_time = 0.05
flow_step = 0.05
[measure.loops]
kind = loops
links = flowed
[measure.pion]
kind = pion
propagator = light
[measure.thin]
kind = pion
propagator = thin
[propagator.light]
quark = light
source = origin
[source.origin]
[propagator.thin]
quark = thin
source = origin
[quark.light]
kind = mobius
Ls = 6
M5 = 1.2
mass = 0.1
links = flowed
solver = s
[quark.thin]
kind = mobius
Ls = 6
M5 = 1.2
mass = 0.1
solver = s
[solver.s]
type = cg
tolerance = 1e-10
INI
try run gauge.ini run.output=rough run.trajectories=1 run.start=hot
rough=rough/checkpoint-000001.h5
try measure --json flowed.ini $rough
exits 0 "flowed links"
last() { grep "\"measure\": \"$1\"" out | member "$2" | tail -n 1; }
same "E of a flow in two parts" "$(last whole e_clover)" "$(last rest e_clover)"
near "plaquette" "$(last whole e_plaquette)" "$(awk -v p="$(grep '"measure": "loops"' out | member plaquette | head -n 1)" 'BEGIN { printf "%.15g", 36 * (1 - p) }')" 11
checks=$((checks + 1))
awk -v a="$(last pion pion)" -v b="$(last thin pion)" 'BEGIN { exit !(a > 0 && b > 0 && a > 1.2 * b) }' ||
    fail "pions on flowed links and on thin ones: $(last pion pion) and $(last thin pion)"
pion=$(last thin pion)
try measure --json flowed.ini $rough links.flowed.flow_time=1e-13
near "a pion on links that have hardly flowed" "$pion" "$(last pion pion)" 8
write_input clover.ini
printf '[links.flowed]\nkind = flow\nflow_time = 1\n' >>clover.ini
try run --dry-run clover.ini quark.light.links=flowed
exits 2 "an action on links without a force"
printed "[quark.light] links = flowed, of kind flow, have no force"
printf '[links.projected]\nkind = hyp\n' >>clover.ini
try run --dry-run clover.ini quark.light.links=projected
exits 2 "an action on HYP links"
printed "[quark.light] links = projected, of kind hyp, have no force"
printf '[links.hex]\nkind = hex\nsteps = 2\n' >>clover.ini
try run clover.ini quark.light.links=hex run.output=hex run.trajectories=1
exits 0 "an action on HEX links"

# measure_refused INPUT WHAT TEXT ARGUMENTS
measure_refused() {
    local input=$1 what=$2 text=$3
    shift 3
    try measure $input $config "$@"
    exits 2 "$what"
    printed "$text"
}
say "three-point functions of a nucleon"
cat >nucleon.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s
[solver.s]
type = bicgstab
tolerance = 1e-10
[smearing.gauss]
width = 2
steps = 5
[source.origin]
smearing = gauss
[source.noise]
kind = noise
[propagator.light]
quark = light
source = origin
[propagator.smeared]
quark = light
source = origin
sink_smearing = gauss
[propagator.random]
quark = light
source = noise
[source.sink]
kind = sequential_nucleon
propagator = smeared
smearing = gauss
time = 2
flavour = u
momentum = 0.0.1.0
[propagator.through_u]
quark = light
source = sink
[measure.current]
kind = mesons
propagator = through_u
propagator_2 = light
operators = vector axial
pairs = unit
momentum2 = 1
INI
try measure --dry-run nucleon.ini $config
exits 0 "a dry run of a nucleon"
try measure --json nucleon.ini $config
exits 0 "currents of a nucleon"
same "rows" 56 "$(grep -c '"kind": "mesons", "source": 0, "sink": ' out)"
cp out up
try measure --json nucleon.ini $config source.sink.flavour=d source.sink.polarisation=z
exits 0 "currents of d"
cmp -s up out && fail "u and d are the same"
measure_refused nucleon.ini "no flavour" "did you mean 'u'?" source.sink.flavour=up
measure_refused nucleon.ini "no direction" "polarisation" source.sink.polarisation=t
measure_refused nucleon.ini "a gamma matrix" "[source.sink] kind = sequential_nucleon has no key 'gamma'" source.sink.gamma=15
measure_refused nucleon.ini "pairs of mesons" "it needs that one as propagator, a propagator from the first source as propagator_2, and pairs = unit" \
    measure.current.pairs=all
measure_refused nucleon.ini "the other order" "and pairs = unit" measure.current.propagator=light measure.current.propagator_2=through_u
measure_refused nucleon.ini "a nucleon alone" "and pairs = unit" measure.current.propagator_2=
measure_refused nucleon.ini "a nucleon of noise" "three quarks from [source.noise] of kind noise, which have no mean" source.sink.propagator=random
measure_refused nucleon.ini "a sink at the source" "of the sink is that of the source, [source.origin]" source.sink.time=0
measure_refused nucleon.ini "a sink outside" "outside the lattice" source.sink.time=4
measure_refused nucleon.ini "a nucleon of twisted mass" "which is not for kind = twisted_mass of [quark.light], whose u and d have mu and -mu" \
    quark.light.kind=twisted_mass quark.light.mu=0.1 measure.current.operators=axial
measure_refused nucleon.ini "a nucleon of itself" "is made of the source itself" source.sink.propagator=through_u
printf '[source.second]\nkind = sequential\npropagator = light\ntime = 1\n[propagator.second]\nquark = light\nsource = second\n' >>nucleon.ini
measure_refused nucleon.ini "a nucleon of a sequential propagator" "[propagator.second] is sequential itself; name one from [source.origin]" \
    source.sink.propagator=second

say "the conserved current as a source"
cat >current.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s
[quark.heavy]
like = light
kappa = 0.11
[solver.s]
type = bicgstab
tolerance = 1e-10
[smearing.wide]
width = 1
steps = 2
[source.origin]
[source.current]
kind = sequential_current
propagator = light
time = 1
direction = x
momentum = 1.0.0.0
[propagator.light]
quark = light
source = origin
[propagator.struck]
quark = light
source = current
[measure.current]
kind = mesons
propagator = light
propagator_2 = struck
INI
try measure --dry-run current.ini lattice.size=4.4.4.4
exits 0 "a current that fits"
measure_refused current.ini "a current of a twisted mass" "is that of Wilson quarks at a sink without smearing" quark.light.kind=twisted_mass quark.light.mu=0.1
measure_refused current.ini "a smeared current" "and the conserved vector current is a sum over links" source.current.smearing=wide
measure_refused current.ini "a current of a smeared sink" "with sink_smearing = wide" propagator.light.sink_smearing=wide
measure_refused current.ini "another quark behind the current" "goes on from the conserved current of [quark.light] with [quark.heavy]" propagator.struck.quark=heavy
measure_refused current.ini "a direction that is none" "x, y, z or t" source.current.direction=w

say "a current on all sites"
cat >summed.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s
[solver.s]
type = bicgstab
tolerance = 1e-10
[smearing.wide]
width = 1
steps = 2
[source.origin]
smearing = wide
[source.current]
kind = feynman_hellmann
propagator = light
gamma = 11
[propagator.light]
quark = light
source = origin
[propagator.smeared]
quark = light
source = origin
sink_smearing = wide
[propagator.struck]
quark = light
source = current
sink_smearing = wide
[measure.plain]
kind = baryons
propagator = smeared
[measure.axial]
kind = baryons
propagator = smeared
insertion = struck
INI
try measure --json summed.ini $config
exits 0 "a nucleon through a current"
for parity in 1 -1; do
    same "rows" 1 "$(grep -c "\"measure\": \"axial\", \"kind\": \"baryons\", \"baryon\": 0, \"parity\": $parity" out)"
done
measure_refused summed.ini "a time of such a current" "[source.current] kind = feynman_hellmann has no key 'time'" source.current.time=1
measure_refused summed.ini "a smeared current" "[source.current] has smearing, and its current is local" source.current.smearing=wide
measure_refused summed.ini "a current on a smeared sink" "name a propagator without sink_smearing, with sink = site" source.current.propagator=smeared
measure_refused summed.ini "an insertion without a current" "name a [propagator.NAME] from a source of kind = feynman_hellmann" measure.axial.insertion=light
measure_refused summed.ini "a flavour without an insertion" "[measure.plain] inserted = d has no effect without an insertion" measure.plain.inserted=d
measure_refused summed.ini "strangeness of a nucleon" "inserted = s, and the nucleon has no such quark" measure.axial.inserted=s
measure_refused summed.ini "a baryon that begins with the current" "kind = baryons takes no sequential propagators, as [propagator.struck] is" \
    measure.plain.propagator=struck

say "keys that do not fit"
measure_refused few.ini "a second propagator that is none" "did you mean 'up'?" measure.pi.propagator_2=ups
measure_refused few.ini "a smeared staggered propagator" "smearing is for quarks with spin" propagator.up.quark=strange
measure_refused few.ini "a staggered second quark" "needs a Wilson quark" measure.pi.propagator_2=strange
measure_refused few.ini "propagators of two places" "that do not go together" measure.pi.propagator_2=elsewhere
measure_refused few.ini "noise and a point" "of the same noise" measure.pi.propagator_2=random
measure_refused few.ini "a sequential source of itself" "is made of the source itself" source.gauss.kind=sequential source.gauss.propagator=up source.gauss.time=2
measure_refused few.ini "a sink at the source" "of the sink is that of the source, [source.elsewhere]" source.gauss.kind=sequential \
    source.gauss.propagator=elsewhere source.gauss.time=2
measure_refused few.ini "a baryon of a sequential propagator" "kind = baryons takes no sequential propagators, as [propagator.up] is" source.gauss.kind=sequential \
    source.gauss.propagator=elsewhere source.gauss.time=1
measure_refused few.ini "no such source" "did you mean 'gauss'?" propagator.up.source=gaus
measure_refused few.ini "no such links" "names no [links.NAME]" smearing.gauss.links=spac
measure_refused few.ini "links of loops that are none" "did you mean 'space'?" measure.smooth.links=spce
measure_refused few.ini "no steps" "[smearing.gauss] steps: '0' is out of range" smearing.gauss.steps=0
measure_refused few.ini "too few steps" "take more steps" smearing.gauss.steps=3
measure_refused few.ini "baryons of noise" "three quarks from [source.gauss] of kind noise have no mean" source.gauss.kind=noise source.gauss.smearing=
measure_refused few.ini "no baryon" "'sigmas' contains an unknown name" measure.proton.baryons=sigmas
measure_refused few.ini "a momentum in time" "[source.gauss] momentum has a last number other than 0" source.gauss.kind=wall \
    source.gauss.momentum=0.0.0.1
measure_refused few.ini "a place of a wall" "[source.gauss] kind = wall has no key 'place'; beside smearing it has time momentum" \
    source.gauss.kind=wall source.gauss.place=0.0.0.1
measure_refused few.ini "a source outside" "lies at 0.0.0.4, outside the lattice of extents 4.4.4.4" source.gauss.place=0.0.0.4
measure_refused few.ini "a wall outside" "lies at 0.0.0.9, outside the lattice of extents 4.4.4.4" source.gauss.kind=wall source.gauss.time=9
measure_refused few.ini "keys of an earlier form" "[measure.pi] quark is of an earlier form of the input; it is now: [propagator.NAME] quark" \
    measure.pi.quark=up
measure_refused few.ini "smearing of an earlier form" "[measure.pi] width is of an earlier form of the input; it is now: [smearing.NAME]" \
    measure.pi.width=2
sed '/^rho/d' few.ini >none.ini
try measure none.ini $config
exits 2 "links without rho"
printed "[links.space] needs the key 'rho'"
measure_refused few.ini "links of a staggered quark" "'space' is unknown" quark.strange.links=space
try measure few.ini $config links.space.rho=0.3
exits 0 "a large rho"
printed "warning: " "[links.space] rho = 0.3 is beyond 0.25"
finish

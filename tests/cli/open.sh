# Open boundaries in time: a run of two flavours and a strange quark, stopped and continued; verify, also of a doublet; files of every format; an open
# ensemble that begins with a periodic configuration; what is refused.
. "$(dirname "$0")/kit.bash"
write_input periodic.ini
sed 's/^actions = light$/actions = light strange/; s/^size = .*/&\ntime_boundary = open/; s/^beta = .*/action = symanzik\nbeta = 4.4/
    s/^c_sw = .*/&\nc_F = 1.1/' periodic.ini >a.ini
cat >>a.ini <<'INI'
[quark.strange]
like = light
kappa = 0.125
schur = symmetric
[action.strange]
kind = rational
quark = strange
solver = accept
action_solver = accept
[solver.reference]
type = bicgstab
tolerance = 1e-10
fallback = accept
[solver.multigrid]
type = multigrid
tolerance = 1e-10
block = 2.2.2.2
[solver.gcr]
type = gcr
tolerance = 1e-10
preconditioner = blocks
[solver.blocks]
type = schwarz
block = 4.4.2.2
inner_precision = half
[source.s]
kind = point
place = 0.1.2.3
[propagator.p]
quark = light
source = s
[measure.pion]
kind = pion
propagator = p
[measure.loops]
kind = loops
[measure.slices]
kind = flow_slices
flow_time = 0.1
[measure.flow]
kind = flow
flow_time = 0.1
first_slice = 2
last_slice = 5
[measure.condensate]
kind = condensate
quark = light
vectors = 2
INI
small="lattice.size=4.4.4.8"

say "a run, whole and in parts"
# shellcheck disable=SC2086 # settings are words
try run --json a.ini $small run.output=whole
exits 0 "a run"
links=$(value digest) rows=$(value history_digest)
for n in 1 2 4; do
    try run --json a.ini $small run.output=parts run.trajectories=$n checkpoint.interval=1
    exits 0 "part $n"
done
same "links after restarts" "$links" "$(value digest)"
same "history after restarts" "$rows" "$(value history_digest)"

say "verify"
try verify --json a.ini $small whole/checkpoint-000004.h5
exits 0 verify
same "failures" 0 "$(grep -c '"verdict": "fail"' out || true)"

# shellcheck disable=SC2086
try verify --json a.ini $small quark.strange.kind=twisted_doublet quark.strange.mu_sigma=0.3 quark.strange.mu_delta=0.25 \
    action.strange.flavours=2 whole/checkpoint-000004.h5
exits 0 "verify with a non-degenerate doublet"
same "its failures" 0 "$(grep -c '"verdict": "fail"' out || true)"

say "files of every format"
config=whole/checkpoint-000004.h5
for format in ildg scidac nersc milc openqcd; do
    try convert --format $format $config copy.$format
    exits 0 "convert to $format"
    try check copy.$format --size 4.4.4.8
    exits 0 "check of $format"
    printed "open boundaries in time"
    try measure --json a.ini $small copy.$format
    exits 0 "measure on $format"
    printed '"kind": "flow_slices"'
done
{ cat periodic.ini; printf '[measure.loops]\nkind = loops\n'; } >loops.ini
try measure loops.ini copy.ildg lattice.size=4.4.4.8
[ $status -ne 0 ] || fail "an open configuration in a periodic lattice"
printed "open boundaries in time" "time_boundary"

sed '/^size = /d; s/^place = .*/place = 0.0.0.7/' a.ini >end.ini
try measure end.ini copy.ildg
exits 2 "a source on an end, which the file tells"
printed "place is on time slice 7, an end"

say "solvers"
try solve --json a.ini $small $config
exits 0 "solvers on an open lattice"
same "solvers that converge" 0 "$(grep -c '"converged": false' out || true)"
printed '"solver": "multigrid"' '"solver": "gcr"' '"solver": "reference"'

say "a cut"
try run --json periodic.ini $small run.output=closed run.trajectories=1
exits 0 "a periodic run"
start="run.config=closed/checkpoint-000001.h5"
try run a.ini $small run.output=refused run.start=file $start
exits 2 "a periodic configuration in an open lattice"
printed "a periodic configuration" "start = cut"
try run --json a.ini $small run.output=cut run.start=cut $start run.trajectories=1
exits 0 "a cut"
try run --dry-run a.ini $small run.output=planned run.start=cut $start
exits 0 "the plan of a cut"
try run periodic.ini $small run.output=refused run.start=file run.config=whole/checkpoint-000004.h5
exits 2 "an open configuration in a periodic lattice"
printed "open boundaries in time" "time_boundary = open"
try run a.ini $small run.output=refused run.start=cut run.config=whole/checkpoint-000004.h5
exits 2 "a cut of an open configuration"
printed "open boundaries in time" "start = cut takes configurations of periodic lattices"
for format in ildg scidac nersc milc openqcd; do
    try run periodic.ini $small run.output=refused run.start=file run.config=copy.$format
    exits 2 "an open configuration of format $format in a periodic run"
    printed "[run] config = copy.$format" "open boundaries in time" "time_boundary = open"
done
[ ! -e refused ] || fail "a refused run leaves a folder"

say "what is refused"
refused_plan "c_G without ends" periodic.ini gauge.c_G=1 -- "[gauge] c_G is of lattices"
refused_plan "c_F without ends" periodic.ini quark.light.c_F=1 -- "[quark.light] c_F is of lattices"
refused_plan "a cut of nothing" periodic.ini run.start=cut $start -- "[run] start = cut is of lattices"
refused_plan "two slices" a.ini lattice.size=4.4.4.2 source.s.place=0.1.2.1 -- "2 time slices are too few"
refused_plan "parallelograms" a.ini $small gauge.action=symanzik_1loop gauge.u0=0.87 -- "[gauge] action = symanzik_1loop has parallelograms"
refused_plan "a source on an end" a.ini $small source.s.place=0.0.0.0 -- "place is on time slice 0, an end" "1 to N_t - 2"
refused_plan "a source on the other end" a.ini $small source.s.place=0.0.0.7 -- "place is on time slice 7, an end"
refused_plan "a flow without window" a.ini $small measure.flow.first_slice=-1 -- "needs first_slice and last_slice"
refused_plan "a window outside" a.ini $small measure.flow.last_slice=8 -- "last_slice = 8"
refused_plan "zeuthen" a.ini $small measure.slices.kernel=zeuthen -- "periodic in time"
refused_plan "Polyakov loops" a.ini $small measure.loops.kind=polyakov -- "[measure.loops] kind = polyakov is for lattices that are periodic in time"
sed 's/^time_boundary.*/time_boundary = opne/' a.ini >b.ini
refused_plan "a spelling" b.ini $small -- "'opne' is unknown" "open"
cat >staggered.ini <<'INI'
[quark.s]
kind = staggered
mass = 0.1
links = naive
INI
cat a.ini staggered.ini >c.ini
refused_plan "staggered quarks" c.ini $small -- "[quark.s] kind = staggered is for lattices that are periodic in time"
finish

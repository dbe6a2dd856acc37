# Schroedinger functional: a run of two flavours, stopped and continued; verify, also of improved gauge actions; correlators of the classical
# solution against recorded numbers; an open end below a wall; what is refused.
. "$(dirname "$0")/kit.bash"
write_input periodic.ini
low="-0.5235987755982988 0 0.5235987755982988" up="-2.617993877991494 1.0471975511965976 1.5707963267948966"
sed "s/^size = .*/size = 4.4.4.8\ntime_boundary = schroedinger\nlow_phases = $low\nup_phases = $up/
    s/^beta = .*/beta = 7\nc_G = 0.9/; s/^c_sw = .*/&\nc_F = 1.1/" periodic.ini >a.ini
cat >>a.ini <<'INI'
[measure.walls]
kind = schroedinger
quark = light
[measure.slices]
kind = flow_slices
flow_time = 0.1
[measure.loops]
kind = loops
INI

say "a run, whole and in parts"
try run --json a.ini run.output=whole
exits 0 "a run"
links=$(value digest) rows=$(value history_digest)
for n in 1 2 4; do
    try run --json a.ini run.output=parts run.trajectories=$n checkpoint.interval=1
    exits 0 "part $n"
done
same "links after restarts" "$links" "$(value digest)"
same "history after restarts" "$rows" "$(value history_digest)"

say "verify"
try verify --json a.ini whole/checkpoint-000004.h5
exits 0 verify
same "failures" 0 "$(grep -c '"verdict": "fail"' out || true)"

# f_P, from the wall with the larger phases, and f_1 of the classical solution, recorded in single precision: 2 g_P(T - t) and 4 f_1.
say "recorded correlators"
classical="run.start=cold quark.light.kappa=0.12468827930174564 quark.light.c_sw=1.17 quark.light.c_F=1"
# shellcheck disable=SC2086 # settings are words
try run a.ini $classical run.trajectories=0 run.output=cold
exits 0 "the classical solution"
# shellcheck disable=SC2086
try run a.ini $classical lattice.low_phases="0 0 0" lattice.up_phases="0 0 0" run.trajectories=0 run.output=free
exits 0 "free links"
# shellcheck disable=SC2086
try measure --json a.ini $classical cold/checkpoint-000000.h5
exits 0 "correlators"
grep '"measure": "walls"' out >walls
numbers() { sed -n "s/.*\"$1\": \[\([^]]*\)\].*/\1/p" walls | tr -d ','; }
same "g_P" "0.717518 1.37733 3.36513" "$(numbers g_P | awk '{ printf "%.6g %.6g %.6g", 2 * $5 - 1.2e-6, 2 * $6 - 1.2e-6, 2 * $7 - 2e-6 }')"
same "f_1" 0.72229 "$(sed -n 's/.*"f_1": \([0-9.e-]*\).*/\1/p' walls | awk '{ printf "%.5f", 4 * $1 }')"

# m_f, m_g and m_pcac are those of the correlators, whatever c_A.
# shellcheck disable=SC2086
try measure --json a.ini $classical measure.walls.c_A=-0.05 cold/checkpoint-000000.h5
exits 0 "correlators with c_A"
grep '"measure": "walls"' out >walls
mass_of() {
    paste <(numbers $1_P | tr ' ' '\n') <(numbers $1_A | tr ' ' '\n') |
        awk -v s=$2 '{ p[NR] = $1; a[NR] = $2 } END { for (t = 4; t <= 5; t++)
            printf "%.9g ", (s * (a[t+1] - a[t-1]) / 2 - 0.05 * (p[t+1] - 2 * p[t] + p[t-1])) / (2 * p[t]) }'
}
same "m_f" "$(mass_of f 1)" "$(numbers m_f | awk '{ printf "%.9g %.9g ", $4, $5 }')"
same "m_g" "$(mass_of g -1)" "$(numbers m_g | awk '{ printf "%.9g %.9g ", $4, $5 }')"
same "m_pcac" "$(echo "$(mass_of f 1)$(mass_of g -1)" | awk '{ printf "%.8g", ($1 + $2 + $3 + $4) / 4 }')" \
    "$(sed -n 's/.*"m_pcac": \([0-9.e-]*\).*/\1/p' walls | awk '{ printf "%.8g", $1 }')"
# Free massless quarks: f_A = -3, f_P = 3, and no mass.
# shellcheck disable=SC2086
try measure --json a.ini $classical quark.light.kappa=0.125 lattice.low_phases="0 0 0" lattice.up_phases="0 0 0" free/checkpoint-000000.h5
exits 0 "free massless quarks"
grep '"measure": "walls"' out >walls
same "their f_A" "-3.0000000 -3.0000000" "$(numbers f_A | awk '{ printf "%.7f %.7f", $2, $6 }')"
same "their mass" 0.00000000 "$(sed -n 's/.*"m_pcac": \([0-9.e-]*\).*/\1/p' walls | awk '{ printf "%.8f", $1 < 0 ? -$1 : $1 }')"

# shellcheck disable=SC2086
try measure --json a.ini $classical cold/checkpoint-000000.h5
grep '"measure": "loops"' out >loops
# The record has links of one in time behind the upper wall, too, and so the plaquettes from there to the lower one.
same "plaquettes of the classical solution" "1 0.99035473" \
    "$(sed -n 's/.*"plaquette_space": \([0-9.]*\), "plaquette_time": \([0-9.]*\),.*/\1 \2/p' loops |
        awk '{ a = atan2(1, 1) / 3; t = (7 * $2 + (cos(2 * a) + 2 * cos(a)) / 3) / 8; printf "%.9g %.8f", $1, t }')"

say "improved actions at walls"
for rectangles in winding weighted; do
    try verify --json a.ini gauge.action=symanzik gauge.wall_rectangles=$rectangles whole/checkpoint-000004.h5
    exits 0 "verify with rectangles that are $rectangles"
    same "failures" 0 "$(grep -c '"verdict": "fail"' out || true)"
done

say "an open end below a wall"
sed "s/^time_boundary.*/time_boundary = open-schroedinger/; /^low_phases/d; s/^c_G.*/&\nc_G_upper = 1.2\naction = iwasaki/; s/^c_F.*/&\nc_F_upper = 0.8/
    /^\[measure.walls/,/^quark/d" a.ini >half.ini
try run --json half.ini run.output=half run.start=hot
exits 0 "a run"
links=$(value digest)
for n in 2 4; do
    try run --json half.ini run.output=half-parts run.start=hot run.trajectories=$n
    exits 0 "part $n"
done
same "links after a restart" "$links" "$(value digest)"
try verify --json half.ini half/checkpoint-000004.h5
exits 0 "verify with an open end"
same "failures" 0 "$(grep -c '"verdict": "fail"' out || true)"
try run --json half.ini run.output=half-cold run.start=cold run.trajectories=0
exits 0 "a cold start"
try measure --json half.ini half-cold/checkpoint-000000.h5
exits 0 "a constant field"
same "its plaquette" 1.000000000000 "$(grep '"measure": "loops"' out | sed -n 's/.*"plaquette": \([0-9.]*\),.*/\1/p' | awk '{ printf "%.12f", $1 }')"
try measure half.ini lattice.up_phases="0 0 0" half/checkpoint-000004.h5
[ $status -ne 0 ] || fail "a wall with other phases"
printed "links of the walls differ by"

say "an even distance of the walls"
sed 's/^size.*/size = 4.4.4.6\nidle_slices = 1/; s/^c_G.*/&\naction = symanzik/' a.ini >even.ini
printf '[solver.multigrid]\ntype = multigrid\ntolerance = 1e-10\nblock = 2.2.2.2\n' >>even.ini
try run --json even.ini run.output=even
exits 0 "a run"
links=$(value digest)
for n in 2 4; do
    try run --json even.ini run.output=even-parts run.trajectories=$n
    exits 0 "part $n"
done
same "links after a restart" "$links" "$(value digest)"
try verify --json even.ini even/checkpoint-000004.h5
exits 0 "verify with an idle slice"
same "failures" 0 "$(grep -c '"verdict": "fail"' out || true)"
try solve --json even.ini even/checkpoint-000004.h5
exits 0 "solvers"
same "solvers that converge" 0 "$(grep -c '"converged": false' out || true)"
try measure --json even.ini even/checkpoint-000004.h5
exits 0 "correlators"
grep '"measure": "walls"' out >walls
same "slices with quarks" "3 3" "$(numbers f_P | awk '{ for (i = 1; i <= NF; i++) n += $i > 0; print n }') $(numbers g_P | awk '{ for (i = 1; i <= NF; i++) n += $i > 0; print n }')"
same "f_P of the far wall's neighbour" 1 "$(numbers g_P | awk '{ print ($4 > $3 && $3 > $2) }')"
for format in ildg scidac nersc milc openqcd; do
    try convert --format $format even/checkpoint-000004.h5 even.$format
    exits 0 "convert to $format"
    try check even.$format --size 4.4.4.6
    exits 0 "check of $format"
    printed "with an idle slice"
    try measure even.ini even.$format
    exits 0 "measure on $format"
done
try measure even.ini lattice.idle_slices=0 even.ildg
[ $status -ne 0 ] || fail "an idle slice that is not expected"
printed "the last time slice has no links" "give [lattice] idle_slices = 1"
try measure even.ini lattice.size=4.4.4.8 whole/checkpoint-000004.h5
[ $status -ne 0 ] || fail "an idle slice that is missing"
printed "the last time slice has active links" "give [lattice] idle_slices = 0"

say "walls of another ensemble"
try measure a.ini lattice.up_phases="0 0 0" whole/checkpoint-000004.h5
[ $status -ne 0 ] || fail "walls with other phases"
printed "links of the walls differ by" "low_phases and up_phases"

say "a configuration without walls"
try run --json periodic.ini lattice.size=4.4.4.8 run.output=closed run.trajectories=1
exits 0 "a periodic run"
try run a.ini run.output=refused run.start=file run.config=closed/checkpoint-000001.h5
exits 2 "a periodic configuration between walls"
printed "a periodic configuration" "start = cut"

say "what is refused"
refused_plan "two phases" a.ini lattice.low_phases="0 1" -- "[lattice] low_phases = 0 1 is not three angles"
refused_plan "phases outside of SU(3)" a.ini lattice.low_phases="0 1 1" -- "add up to 2" "2 pi"
refused_plan "parallelograms" a.ini gauge.action=symanzik_1loop gauge.u0=0.87 -- "[gauge] action = symanzik_1loop has parallelograms"
refused_plan "rectangles of an action without" a.ini gauge.wall_rectangles=weighted -- "[gauge] wall_rectangles is of actions with rectangles"
refused_plan "an upper end of its own" a.ini gauge.c_G_upper=1 quark.light.c_F_upper=1 -- "2 errors in the input" \
    "[gauge] c_G_upper is of lattices with [lattice] time_boundary = open-schroedinger" "[quark.light] c_F_upper is of lattices"
refused_plan "phases of an open end" half.ini lattice.low_phases="0 0 0" -- "[lattice] low_phases is of lattices"
refused_plan "phases without walls" periodic.ini lattice.low_phases="0 0 0" -- "[lattice] low_phases is of lattices with [lattice] time_boundary = schroedinger"
refused_plan "an idle slice of a periodic lattice" periodic.ini lattice.idle_slices=1 -- "[lattice] idle_slices is of lattices with [lattice] time_boundary"
refused_plan "two idle slices" even.ini lattice.idle_slices=2 -- "idle_slices" "'2' is out of range"
refused_plan "slices too few" even.ini lattice.size=4.4.4.4 -- "4 time slices are too few" "it needs 6"
sed 's/^time_boundary.*/time_boundary = open/; /phases/d' a.ini >b.ini
refused_plan "correlators of walls without walls" b.ini -- "kind = schroedinger needs [lattice] time_boundary = schroedinger"
finish

# Schroedinger functional: a run of two flavours, stopped and continued; verify; correlators of the classical solution against recorded
# numbers; what is refused.
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
try measure --json a.ini $classical cold/checkpoint-000000.h5
exits 0 "correlators"
grep '"measure": "walls"' out >walls
numbers() { sed -n "s/.*\"$1\": \[\([^]]*\)\].*/\1/p" walls | tr -d ','; }
same "g_P" "0.717518 1.37733 3.36513" "$(numbers g_P | awk '{ printf "%.6g %.6g %.6g", 2 * $5 - 1.2e-6, 2 * $6 - 1.2e-6, 2 * $7 - 2e-6 }')"
same "f_1" 0.72229 "$(sed -n 's/.*"f_1": \([0-9.e-]*\).*/\1/p' walls | awk '{ printf "%.5f", 4 * $1 }')"

grep '"measure": "loops"' out >loops
# The record has links of one in time behind the upper wall, too, and so the plaquettes from there to the lower one.
same "plaquettes of the classical solution" "1 0.99035473" \
    "$(sed -n 's/.*"plaquette_space": \([0-9.]*\), "plaquette_time": \([0-9.]*\),.*/\1 \2/p' loops |
        awk '{ a = atan2(1, 1) / 3; t = (7 * $2 + (cos(2 * a) + 2 * cos(a)) / 3) / 8; printf "%.9g %.8f", $1, t }')"

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
refused_plan "rectangles" a.ini gauge.action=symanzik -- "[gauge] action = symanzik has rectangles"
refused_plan "phases without walls" periodic.ini lattice.low_phases="0 0 0" -- "[lattice] low_phases is of time_boundary = schroedinger"
sed 's/^time_boundary.*/time_boundary = open/; /phases/d' a.ini >b.ini
refused_plan "correlators of walls without walls" b.ini -- "kind = schroedinger needs [lattice] time_boundary = schroedinger"
finish

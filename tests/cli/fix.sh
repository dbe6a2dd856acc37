# plaq fix: gauge-invariant numbers stay, what is fixed stays fixed, ranks leave no trace, and mistakes are named.
. "$(dirname "$0")/kit.bash"
need_mpi
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.start=hot run.trajectories=3 run.length=0.5 save.interval=1
exits 0 "a run"
config=made/checkpoint-000003.h5

# number KEY FILE: what plaq check says of a file.
number() {
    "$plaq" check --json "$2" >out
    value "$1"
}

# near WHAT A B: within 1e-12.
near() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && b != "" && a - b < 1e-12 && b - a < 1e-12) }' ||
        fail "$1: '$2' and '$3'"
}

for gauge in coulomb landau; do
    say "$gauge gauge"
    try fix --gauge $gauge $config $gauge.lime
    exits 0 "fix"
    printed "$gauge gauge after" "iteration 0: functional"
    near "plaquette" "$(number plaquette $config)" "$(number plaquette $gauge.lime)"
    same "trajectory" "$(number sequence $config)" "$(number sequence $gauge.lime)"
    same "links are others" "yes" "$([ "$(number digest $config)" != "$(number digest $gauge.lime)" ] && echo yes)"
    try fix --gauge $gauge --tolerance 1e-13 $gauge.lime again.lime
    exits 0 "fix of what is fixed"
    printed "after 0 iterations"
    same "fixed links stay" "$(number digest $gauge.lime)" "$(number digest again.lime)"
    try_ranks 2 fix --gauge $gauge $config ranks.nersc
    exits 0 "fix on two ranks"
    same "two ranks" "$(number digest $gauge.lime)" "$(number digest ranks.nersc)"
done
same "Landau gauge has the larger trace" 1 "$(awk -v a="$(number link_trace landau.lime)" -v b="$(number link_trace $config)" 'BEGIN { print (a > b + 0.1) }')"

say "the transformation in a file"
try fix --gauge landau --transformation g.h5 $config with.lime
exits 0 "fix with the transformation"
printed "g.h5: the gauge transformation"
same "the same fixed links" "$(number digest landau.lime)" "$(number digest with.lime)"
try_ranks 2 fix --gauge landau --transformation g2.h5 $config with2.lime
exits 0 "the transformation on two ranks"
same "its bytes" "$(sha256sum <g.h5)" "$(sha256sum <g2.h5)"
try fix --apply g.h5 $config applied.lime
exits 0 "the transformation applied"
same "the fixed links again" "$(number digest landau.lime)" "$(number digest applied.lime)"
before=$(number digest $config) after=$(number digest landau.lime)
try check g.h5
exits 0 "check of a transformation"
printed "g.h5: whole" "gauge transformation (hdf5), 4.4.4.4, 64 bits" "links        $before" "gauge = landau" \
    "links_fixed = $after"
if command -v h5dump >/dev/null && command -v python3 >/dev/null; then
    try convert $config before.lime
    exits 0 "the links before"
    h5dump -d /transformation -b LE -o g.raw g.h5 >out
    checks=$((checks + 1))
    worst=$(python3 "$(dirname "$0")/rotate_links.py" g.raw before.lime landau.lime 4 4 4 4)
    awk -v w="$worst" 'BEGIN { exit !(w != "" && w < 1e-14) }' || fail "g U g^dagger is off the fixed links by '$worst'"
fi
cp g.h5 damaged.h5
flip damaged.h5 20000
try check damaged.h5
exits 1 "a damaged transformation"
printed "the gauge transformation is damaged"
for case in "damaged.h5 $config:is damaged" "g.h5 landau.lime:of another configuration" "$config $config:not a propagator"; do
    # shellcheck disable=SC2086 # two names
    try fix --apply ${case%%:*} none.lime
    exits 2 "--apply ${case%%:*}"
    printed "${case#*:}"
    same "no file" no "$([ -e none.lime ] && echo yes || echo no)"
done

say "a corner source of HISQ quarks in Coulomb gauge: MILC's record, whose gauge is fixed less far, within 0.3%"
if [ -e "$data/lat.sample.l8888" ]; then
    cat >hisq.ini <<'INI'
[quark.light]
kind = staggered
links = hisq
mass = 0.03
solver = s

[solver.s]
type = cg
tolerance = 1e-10

[measure.mesons]
kind = staggered_mesons
quark = light
source = corner

[source.corner]
kind = corner
INI
    try fix --gauge coulomb "$data/lat.sample.l8888" milc.lime
    exits 0 "Coulomb gauge of lat.sample.l8888"
    try measure hisq.ini milc.lime
    exits 0 "staggered mesons"
    same "pion_5 at the eight times" 8 "$(awk 'BEGIN { n = split("35.60567 32.43948 13.18096 22.16325 6.722624 21.35927 11.11621 30.97987", c) }
        $1 ~ /^[0-7]$/ { r = $2 / 4 / c[$1 + 1] - 1; near += r < 0.003 && r > -0.003 } END { print near }' out)"
    say "staggered nucleons of masses .03 .03 .03 and .03 .03 .05 there, within 1%"
    cat >>hisq.ini <<'INI'

[quark.heavy]
like = light
mass = 0.05

[propagator.light]
quark = light
source = corner

[propagator.heavy]
quark = heavy
source = corner

[measure.nucleon]
kind = staggered_baryons
propagator = light

[measure.mixed]
kind = staggered_baryons
propagator = light
propagator_2 = heavy
INI
    try measure --json hisq.ini milc.lime
    exits 0 "staggered baryons"
    # recorded NAME VALUES: real and imaginary parts at the eight times.
    recorded() {
        checks=$((checks + 1))
        grep "\"measure\": \"$1\"" out | grep '"real"' | tr -d '[]:,"' |
            awk -v record="$2" '{ for (i = 1; i <= NF; i++) { if ($i == "real") re = i; if ($i == "imaginary") im = i }
                n = split(record, c)
                for (t = 0; t < 8; t++) {
                    a = $(re + 1 + t) / 48 - c[2 * t + 1]; b = $(im + 1 + t) / 48 - c[2 * t + 2]
                    near += sqrt(a * a + b * b) < 0.01 * sqrt(c[2 * t + 1] ^ 2 + c[2 * t + 2] ^ 2)
                } }
                END { exit !(n == 16 && near == 8) }' || fail "$1 is not that of the record"
    }
    recorded nucleon "1.097686e-02 -6.208899e-05 2.938014e+00 1.219109e-02 1.997892e-03 2.331357e-04 1.435912e+00 -3.520557e-02
        3.764441e-05 2.069067e-04 1.349016e+00 2.514390e-02 -1.779164e-03 3.075451e-04 2.662939e+00 -1.243679e-03"
    recorded mixed "1.793504e-02 -9.795108e-05 2.908013e+00 5.020318e-03 3.243555e-03 3.790176e-04 1.405143e+00 -3.622008e-02
        6.087070e-05 3.319934e-04 1.318659e+00 2.471174e-02 -2.881520e-03 4.984670e-04 2.634161e+00 4.551225e-03"
else
    echo "skipped: no $data/lat.sample.l8888"
fi

say "a format without names"
try fix --gauge coulomb $config lost.milc
exits 0 "fix to milc"
printed "files of format milc have no place for trajectory number"

say "too few iterations: nothing is written"
try fix --gauge landau --iterations 2 $config none.lime
exits 1 "two iterations"
printed "nothing was written" "--iterations" "theta is"
same "no file" no "$([ -e none.lime ] && echo yes || echo no)"

say "mistakes"
# refused WHAT WORDS... -- TEXTS...: status 2, and no file.
refused() {
    local what=$1
    shift
    until_dashes "$@"
    try fix "${arguments[@]}" $config none.lime
    exits 2 "$what"
    printed "${rest[@]}"
    same "$what: no file" no "$([ -e none.lime ] && echo yes || echo no)"
}
refused "no gauge" -- "give --gauge coulomb or --gauge landau"
refused "a gauge that is none" --gauge coulom -- "did you mean 'coulomb'?"
refused "two gauges" --gauge coulomb,landau -- "give one gauge"
refused "over-relaxation of 2" --gauge landau --over-relaxation 2 -- "--over-relaxation 2" "from 1 to below 2"
refused "a tolerance of zero" --gauge landau --tolerance 0 -- "--tolerance 0" "from 1e-28"
refused "no iterations" --gauge landau --iterations 0 -- "--iterations 0" "from 1 to"
refused "a transformation without a place" --gauge landau --transformation g.lime -- "transformations are HDF5 files"
refused "a transformation onto a configuration" --gauge landau --transformation $config -- "is not replaced"
refused "a transformation onto OUT" --gauge landau --format ildg --transformation none.lime -- "HDF5 files"
refused "old and new" --gauge landau --apply g.h5 -- "--gauge is of a new one"
refused "two devices" --gauge landau --device cpu,gpu -- "give one device, cpu or gpu"
refused "a device that is none" --gauge landau --device tpu -- "--device" "tpu"
try fix --gauge landau $config fixed.txt
exits 2 "an ending of no format"
printed "names no format" "--format"
try fix --gauge landau missing.lime none.lime
exits 2 "a file that is not there"
printed "missing.lime"
finish

# plaq effective: means, jackknife errors and effective masses of correlators are those of the rows, by awk; blocks; the choice of
# tables and columns; a page; and what is refused.
. "$(dirname "$0")/kit.bash"
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.start=hot run.trajectories=5 run.length=0.1 checkpoint.interval=1 checkpoint.keep=5
exits 0 "five configurations"
cat >m.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s
[solver.s]
type = bicgstab
tolerance = 1e-10
[source.origin]
[propagator.light]
quark = light
source = origin
[measure.pion]
kind = pion
propagator = light
[measure.rho]
kind = mesons
propagator = light
operators = vector
[measure.loops]
kind = loops
INI
try measure --json --output m.h5 m.ini made/checkpoint-00000[1-5].h5
exits 0 "five pions"
# The arrays of five configurations, a line each.
grep '"kind": "pion", "t"' out | sed 's/.*"pion": \[\([^]]*\)\].*/\1/; s/,//g' >rows
same "rows" 5 "$(wc -l <rows)"

# Numbers of gamma matrices have words.
same "names of vectors" "vector_t vector_x vector_y vector_z" \
    "$(grep '"measure": "rho"' out | sed -n 's/.*"source_name": "\([a-z_]*\)", "sink_name": "\1".*/\1/p' | sort -u | tr '\n' ' ' | sed 's/ $//')"
if command -v h5dump >/dev/null; then
    same "names in the file" '"pseudoscalar", "", "conserved_x"' \
        "$(h5dump -a /measure/rho/sink/names m.h5 | grep -o '"pseudoscalar", "", "conserved_x"')"
fi

# expected BLOCK: C, its error, ln C(t)/C(t+1) with error, and arcosh with error at each time, by the jackknife over blocks.
expected() {
    awk -v block="$1" '
        function value(which, s, n, t) {
            if (which == 0) return s[t] / n
            if (which == 1) return log(s[t] / s[t + 1])
            r = (s[(t + T - 1) % T] + s[(t + 1) % T]) / (2 * s[t])
            return log(r + sqrt(r * r - 1))
        }
        { T = NF; for (t = 0; t < T; t++) c[int((NR - 1) / block), t] += $(t + 1) }
        END {
            B = int(NR / block)
            for (b = 0; b < B; b++) for (t = 0; t < T; t++) all[t] += c[b, t]
            for (which = 0; which < 3; which++) for (t = which == 2; t < 2; t++) {
                mean = 0; square = 0
                for (b = 0; b < B; b++) {
                    for (k = 0; k < T; k++) left[k] = all[k] - c[b, k]
                    x[b] = value(which, left, (B - 1) * block, t); mean += x[b] / B
                }
                for (b = 0; b < B; b++) square += (x[b] - mean)^2
                printf "%d %d %.12g %.12g\n", which, t, value(which, all, B * block, t), sqrt(square * (B - 1) / B)
            }
        }' rows
}
names=(C log_mass cosh_mass)
errors=(C_error log_error cosh_error)
# member NAME TIME: from the line of JSON.
member() { sed -n "s/.*\"$1\": \[\([^]]*\)\].*/\1/p" line | tr ',' '\n' | sed -n "$(($2 + 1))p" | tr -d ' '; }
close_to() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(b != "" && b != "null" && (a - b)^2 <= (1e-6 * a)^2 + 1e-26) }' || fail "$1: $2 and $3"
}

say "means, masses and errors"
for block in 1 2; do
    try effective --json --measure pion --block $block m.h5
    exits 0 "blocks of $block"
    cp out line
    same "correlators" 1 "$(wc -l <line)"
    printed '"configurations": 5, ' "\"blocks\": $((5 / block)), "
    while read -r which t value error; do
        close_to "${names[$which]} at $t" "$value" "$(member "${names[$which]}" "$t")"
        close_to "${errors[$which]} at $t" "$error" "$(member "${errors[$which]}" "$t")"
    done < <(if [ $block = 2 ]; then sed -i 5d rows; fi; expected $block)
done

say "tables and pages"
try effective --output page.html m.h5
exits 0 "all tables"
same "correlators" 5 "$(grep -c 'configurations, ' out)"
printed "pion, pion, lattice = 4.4.4.4: 5 configurations, 5 blocks" "rho, real, lattice = 4.4.4.4 nx = 0 ny = 0 nz = 0 sink = 8 source = 8"
same "headings" 5 "$(grep -c '<h2' page.html)"
try effective --column imaginary m.h5
exits 0 "imaginary parts"
same "imaginary parts" 4 "$(grep -c 'rho, imaginary' out)"
try effective --output page.html m.h5
exits 0 "a page again"
try run gauge.ini run.output=longer run.trajectories=1 run.length=0.1 lattice.size=4.4.4.8
try measure --output m.h5 m.ini longer/checkpoint-000001.h5
exits 0 "a longer lattice"
try effective --measure pion m.h5
exits 0 "two lattices"
printed "pion, pion, lattice = 4.4.4.4: 5 configurations" "pion, pion, lattice = 4.4.4.8: 1 configuration, 1 block"
same "times of both" 12 "$(grep -c '^ *[0-9]* *[0-9.-]*e' out)"
say "PCAC masses"
sed 's/^\[measure.rho\]/[measure.charged]/; s/^operators = vector/operators = pseudoscalar axial\npairs = all\nmomentum2 = 1/' m.ini >charged.ini
try measure --json --output charged.h5 charged.ini made/checkpoint-00000[1-5].h5
exits 0 "charged currents"
for sink in 15 7; do
    grep "\"source\": 15, \"sink\": $sink, \"nx\": 0, \"ny\": 0, \"nz\": 0" out | sed 's/.*"real": \[\([^]]*\)\].*/\1/; s/,//g' >of$sink
done
same "rows" "5 5" "$(wc -l <of15) $(wc -l <of7)"
try effective --json --pcac --c_A -0.1 --from 1 --to 3 charged.h5
exits 0 "PCAC masses"
cp out line
same "masses" 1 "$(wc -l <line)"
printed '"measure": "charged"' '"configurations": 5, ' '"c_A": -0.'
# m and its error at each time.
paste -d ' ' of7 of15 | awk '
    function mass(a, p, t,    n, l) {
        n = (t + 1) % 4; l = (t + 3) % 4
        return ((a[l] - a[n]) / 2 - 0.1 * (p[n] - 2 * p[t] + p[l])) / (2 * p[t])
    }
    { for (t = 0; t < 4; t++) { a[NR, t] = $(t + 1); p[NR, t] = $(t + 5); A[t] += $(t + 1); P[t] += $(t + 5) } }
    END {
        for (t = 0; t < 4; t++) {
            mean = square = 0
            for (b = 1; b <= NR; b++) {
                for (k = 0; k < 4; k++) { la[k] = A[k] - a[b, k]; lp[k] = P[k] - p[b, k] }
                x[b] = mass(la, lp, t); mean += x[b] / NR
            }
            for (b = 1; b <= NR; b++) square += (x[b] - mean)^2
            printf "%d %.12g %.12g\n", t, mass(A, P, t), sqrt(square * (NR - 1) / NR)
        }
    }' >want
while read -r t value error; do
    close_to "PCAC mass at $t" "$value" "$(member pcac_mass "$t")"
    close_to "its error at $t" "$error" "$(member pcac_error "$t")"
done <want
try effective --pcac --from 1 --output pcac.html charged.h5
exits 0 "a page of PCAC masses"
printed "charged, PCAC mass with c_A = 0, lattice = 4.4.4.4 nx = 0 ny = 0 nz = 0: 5 configurations, 5 blocks" "plateau of 3 times"
same "headings" 1 "$(grep -c '<h2' pcac.html)"
cp m.h5 before.h5
# refused WHAT ARGUMENTS -- TEXT
refused() {
    local what=$1 text=${*: -1}
    try effective "${@:2:$#-2}"
    exits 2 "$what"
    printed "$text"
}
refused "a table that is not there" --measure kaon m.h5 "m.h5: no table measure/kaon; there are loops pion rho"
refused "a table without times" --measure loops m.h5 "no correlators"
refused "a column that is not there" --column pio m.h5 "no correlator has a column pio"
refused "too large blocks" --block 6 m.h5 "--block 6 is more than the 5 configurations"
refused "no block" --block 0 m.h5 "--block"
refused "pions without axial currents" --pcac --measure pion m.h5 "it and the axial current at the sink; measure with kind = mesons, operators = pseudoscalar axial and pairs = all"
refused "vectors alone" --pcac m.h5 "m.h5: no mesons at rest with the pseudoscalar"
refused "times beyond the lattice" --pcac --from 9 charged.h5 "no PCAC mass of measure/charged lies between --from 9 and --to inf; times go from 0 to 3"
refused "a text for c_A" --pcac --c_A none charged.h5 "--c_A none is not a number"
refused "c_A without a PCAC mass" --c_A 0.1 charged.h5 "--c_A is given without --pcac"
refused "a range of effective masses" --from 1 charged.h5 "--from is given without --potential or --pcac"
refused "a negative time" --pcac --to -1 charged.h5 "--to -1 is not a number from 0 on"
refused "two choices" --pcac --potential 1 charged.h5 "--potential and --pcac are given"
refused "a column of PCAC masses" --pcac --column real charged.h5 "--pcac has the column real"
refused "a text" --json m.ini "m.ini"
refused "a lattice file" made/checkpoint-000001.h5 "no correlators"
refused "a page over its file" --output m.h5 m.h5 "m.h5"
cmp -s m.h5 before.h5 || fail "the file has changed"
try effective made
exits 2 "a folder"

say "amputated vertices"
cat >v.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s
[solver.s]
type = bicgstab
tolerance = 1e-10
[source.one]
kind = volume
momentum = 1.0.0.0
[source.two]
kind = volume
momentum = 0.1.0.0
[propagator.one]
quark = light
source = one
[propagator.two]
quark = light
source = two
[measure.v]
kind = vertices
propagator = one
propagator_2 = two
INI
try measure --output v.h5 v.ini made/checkpoint-00000[1-3].h5
exits 0 "vertices"
for n in 2 4; do
    [ -n "${PLAQ_MPIEXEC:-}" ] || break
    "$plaq" measure --json v.ini made/checkpoint-000001.h5 2>err | grep '"part"' >one
    OMP_NUM_THREADS=1 try_ranks $n measure --json v.ini made/checkpoint-000001.h5
    exits 0 "vertices on $n ranks"
    same "vertices on $n ranks" "$(cat one)" "$(grep '"part"' out)"
done
try effective --vertices --json v.h5
exits 0 "effective --vertices"
same "configurations" 3 "$(value configurations)"
checks=$((checks + 1))
awk -v v="$(value vector)" -v e="$(value vector_error)" 'BEGIN { exit !(v > 0.5 && v < 2 && e > 0) }' ||
    fail "the vector vertex is '$(value vector)' with an error of '$(value vector_error)'"
try effective --vertices m.h5
exits 2 "a file without vertices"
printed "no table with an axis element"
try effective --vertices --pcac v.h5
exits 2 "two choices"
printed "--vertices goes with --measure, --block and --json alone"
try measure v.ini made/checkpoint-000001.h5 measure.v.kind=mesons
exits 2 "a pion of waves"
printed "takes no source on all sites, as [source.one] of kind = volume is"
try measure v.ini made/checkpoint-000001.h5 source.two.kind=point
exits 2 "vertices of a point"
try measure v.ini made/checkpoint-000001.h5 measure.v.positions=4
exits 2 "positions of waves"
printed "positions = 4, and sources on all sites have one"
finish

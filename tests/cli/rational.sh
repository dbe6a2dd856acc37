# plaq rational: what it prints is the approximation that was asked for, and bad arguments are named. The degrees are those of
# tables that HiRep has for these ranges.
. "$(dirname "$0")/kit.bash"

# The largest relative error of the printed partial fractions to x^(num/den), in the arithmetic of awk.
worst() {
    awk -v e="$1" -v lo="$2" -v hi="$3" '
        $1 == "c" { c = $2 }
        $1 ~ /^[0-9]+$/ { residue[++n] = $2; pole[n] = $3 }
        END {
            for (k = 0; k <= 2000; k++) {
                x = lo * exp(log(hi / lo) * k / 2000)
                r = c
                for (i = 1; i <= n; i++) r += residue[i] / (x + pole[i])
                d = r / exp(e * log(x)) - 1
                if (d < 0) d = -d
                if (d > w) w = d
            }
            print n, w
        }' out
}

while read -r num den lo hi tolerance degree; do
    say "x^($num/$den) on [$lo, $hi] to $tolerance"
    try rational $num $den $lo $hi $tolerance
    exits 0 "rational"
    read -r n error <<<"$(worst "$(awk "BEGIN { print $num / $den }")" $lo $hi)"
    [ $degree = any ] || same "degree" $degree "$n"
    checks=$((checks + 1))
    awk -v a="$error" -v b="$tolerance" 'BEGIN { exit !(a > 0 && a <= b * 1.001) }' || fail "error $error of $tolerance"
done <<'LIST'
-1 2 5.1294538879394516 64 1e-10 6
-1 16 8.0799109782783596 64 1e-10 5
-1 4 1e-4 10 1e-6 any
3 4 1e-2 1 1e-5 any
LIST

say "the inverse too"
try rational -1 4 1e-2 1 1e-6 --inverse
exits 0 "--inverse"
printed "x^(-1/4)" "x^(1/4)"

say "bad arguments"
# words | what is said
while IFS='|' read -r words what; do
    try rational $words
    exits 2 "rational $words"
    printed "plaq: error: plaq rational: " "$what"
done <<'LIST'
|missing
-1 2 1e-3 1|missing
-1 2 1e-3 1 1e-6 7|unexpected argument 7
x 2 1e-3 1 1e-6|NUM, the numerator of the exponent: 'x'
1.5 2 1e-3 1 1e-6|NUM, the numerator of the exponent: '1.5'
-1 0 1e-3 1 1e-6|DEN, the denominator of the exponent: '0'
-1 2 0 1 1e-6|LO, the lower end of the range: '0'
-1 2 2 1 1e-6|LO = 2 is not below HI = 1
-1 2 1e-3 1 0|TOLERANCE, the largest relative error: '0'
-1 2 1e-3 1 1e-6x|TOLERANCE, the largest relative error: '1e-6x'
0 2 1e-3 1 1e-6|x^(0/2): the function is constant
4 2 1e-3 1 1e-6|x^(4/2): with integer exponents the function is rational itself
-3 2 1e-3 1 1e-6|x^(-3/2): the best approximation has poles that are not real
1 2 1e-8 1 1e-15|x^(1/2): 
LIST

say "functions that are not to be had: a dry run says what the run does"
write_input a.ini
sed 's/^\[quark.light\]/&\nkind = staggered\nlinks = naive/; s/^kind = two_flavours/kind = rational/; s/^kappa.*/mass = 0.1/; /^c_sw/d' a.ini >s.ini
said() { sed -n 's/.*\(light: no rational functions on .* a larger approximation\).*/\1/p' err | tail -n 1; }
# mass | spectrum
while IFS='|' read -r mass spectrum; do
    try run s.ini quark.light.mass=$mass "action.light.spectrum=$spectrum" run.output=out.$mass run.trajectories=1
    exits 4 "mass $mass"
    before=$(said)
    try run --dry-run s.ini quark.light.mass=$mass "action.light.spectrum=$spectrum"
    exits 2 "dry run, mass $mass"
    same "what is said" "$before" "$(said)"
done <<'LIST'
1e-7|1e-15 20
1e-100|1e-201 20
LIST
try run --dry-run s.ini quark.light.mass=1e-9
exits 2 "dry run, the upper end not known"
printed "s.ini:22: light: no rational functions on 1.000e-18 to 1.000e+00"
try run --dry-run s.ini quark.light.mass=1e-300
exits 2 "a mass without a square"
printed "mass = 1e-300 of the staggered quark [quark.light] is too small"
try run --dry-run s.ini
exits 0 "dry run, mass 0.1"
walls="lattice.size=4.4.4.4 quark.light.Ls=4"
# shellcheck disable=SC2086 # settings are words
try run --dry-run "$source/inputs/dwf-2plus1.ini" $walls "action.strange.pauli_villars_spectrum=1e-201 20"
exits 2 "dry run, no functions of the Pauli-Villars field"
printed "strange: no rational functions on 1.000e-201 to 2.000e+01"
try run --dry-run "$source/inputs/dwf-2plus1.ini" $walls "action.strange.pauli_villars_spectrum=0.5 20"
exits 0 "dry run, functions of the Pauli-Villars field"
finish

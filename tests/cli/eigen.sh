# plaq eigen: pairs of a quark on a configuration, the same on two ranks; their file makes solves shorter, alone and in blocks,
# and is refused by name for another quark or configuration; eigenvalues that another code recorded.
. "$(dirname "$0")/kit.bash"
write_input a.ini
try run a.ini lattice.size=4.4.4.8 run.output=made run.trajectories=2 checkpoint.interval=1
exits 0 "a configuration"
try run a.ini lattice.size=4.4.4.8 run.output=others run.trajectories=2 run.seed=99
exits 0 "another one"
config=made/checkpoint-000002.h5 other=others/checkpoint-000002.h5
cat >e.ini <<'INI'
[quark.light]
kind = staggered
links = asqtad
u0 = 0.9
mass = 0.02
solver = cg

[solver.cg]
type = cg
tolerance = 1e-10
inner_precision = double
INI
cat >deflated.ini <<'INI'
[solver.deflated]
type = cg
tolerance = 1e-10
inner_precision = double
eigenvectors = low.h5

[solver.block]
type = block_cg
tolerance = 1e-10

[solver.deflated_block]
type = block_cg
tolerance = 1e-10
eigenvectors = low.h5
low_modes = 10

[solver.gcr]
type = gcr
tolerance = 1e-10
eigenvectors = low.h5
INI
cat e.ini deflated.ini >d.ini

say "pairs"
try eigen --json --pairs 16 --block 4 --output low.h5 e.ini $config
exits 0 "eigen"
same "pairs" 16 "$(grep -c '"pair":' out)"
checks=$((checks + 1))
grep '"pair":' out | sed 's/.*"value": *\([^,]*\), *"residual": *\([^,}]*\).*/\1 \2/' |
    awk '!($1 >= before && $1 >= 0.0004 && $2 <= 1e-10) { exit 1 } { before = $1 }' || fail "values and residuals"
cp out one
cp out one.pairs
try check low.h5
printed "eigenvectors of an operator"
try eigen --pairs 16 --block 4 e.ini $config
exits 0 "a table"
printed "applications of the operator"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    OMP_NUM_THREADS=1 try_ranks 2 eigen --json --pairs 16 --block 4 --output two.h5 e.ini $config
    exits 0 "eigen on two ranks"
    strip='s/, "seconds": [^}]*//'
    same "pairs on two ranks" "$(sed "$strip" one)" "$(sed "$strip" out)"
    checks=$((checks + 1))
    cmp low.h5 two.h5 || fail "files of one rank and of two"
fi

say "deflation"
try solve --json --rhs 4 d.ini $config
exits 0 "solves with eigenvectors"
iterations() { grep "\"solver\": \"$1\"" out | sed 's/.*"iterations": *\([0-9]*\).*/\1/'; }
for pair in "deflated cg" "deflated_block block"; do
    set -- $pair
    checks=$((checks + 1))
    [ "$(iterations $1)" -gt 0 ] && [ "$(iterations $1)" -lt "$(iterations $2)" ] || fail "iterations of $1 and $2"
done
same "converged" 5 "$(grep -c '"converged": true' out)"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    cp out one
    OMP_NUM_THREADS=1 try_ranks 2 solve --json --rhs 4 d.ini $config
    strip='s/"seconds": [^,]*, "flops": [^,]*, //; s/, "setup": [^,}]*//'
    same "solves on two ranks" "$(sed "$strip" one)" "$(sed "$strip" out)"
fi
printf '\n[measure.c]\nkind = condensate\nquark = light\nvectors = 4\nsolver = deflated_block\n' >m.ini
cat d.ini m.ini >measured.ini
try measure --json measured.ini $config
exits 0 "a measurement with eigenvectors"
try measure --profile measured.ini $config
exits 0 "the same with a profile"
checks=$((checks + 1))
awk '$1 == "files" { found = $2 > 0 } END { exit !found }' out || fail "time for files"

say "another mass of a staggered quark"
# K is shifted, so its eigenvectors are the same: residuals of the solves show that the values are shifted, too.
try eigen --json --pairs 10 --block 4 e.ini $config quark.light.mass=0.03
exits 0 "pairs of another mass"
shifted=$(grep '"pair": 9' out | sed 's/.*"value": *\([^,]*\),.*/\1/')
checks=$((checks + 1))
grep '"pair": 9' one.pairs | sed 's/.*"value": *\([^,]*\),.*/\1/' |
    awk -v shifted="$shifted" '{ d = $1 + 0.03 ^ 2 - 0.02 ^ 2 - shifted; if (d < 0) d = -d; exit !(d < 1e-9) }' || fail "values are not shifted"
try solve --json --rhs 4 d.ini $config quark.light.mass=0.03
exits 0 "solves of another mass"
for pair in "deflated cg" "deflated_block block"; do
    set -- $pair
    checks=$((checks + 1))
    [ "$(iterations $1)" -gt 0 ] && [ "$(iterations $1)" -lt "$(iterations $2)" ] || fail "iterations of $1 and $2 at another mass"
done

say "both forms of the Schur complement"
printf '[quark.w]\nkappa = 0.15\nc_sw = 1\nsolver = cg\n\n[solver.cg]\ntype = cg\ntolerance = 1e-9\n' >w.ini
{ cat w.ini; printf '\n[solver.low]\ntype = cg\ntolerance = 1e-9\neigenvectors = w-%%d.h5\n'; } >wd.ini
for form in symmetric asymmetric; do
    rm -f w-2.h5
    try eigen --pairs 8 --block 4 --tolerance 1e-8 --output w-%d.h5 w.ini $config quark.w.schur=$form
    exits 0 "pairs of the form $form, named by a pattern"
    try solve --json wd.ini $config quark.w.schur=$form
    exits 0 "solves with them"
    checks=$((checks + 1))
    [ "$(iterations low)" -lt "$(iterations cg)" ] || fail "iterations with eigenvectors of the form $form"
done
try solve wd.ini $config quark.w.schur=symmetric
exits 2 "eigenvectors of the other form"
printed "eigenvectors = w-2.h5 is of another operator" "quark.schur: asymmetric before, symmetric now"
try solve wd.ini $config quark.w.kappa=0.149
exits 2 "eigenvectors of another mass of a Wilson quark"
printed "quark.kappa: 0.15 before, 0.149 now" "those of one mass"

say "a file for each configuration of a list"
list="$config made/checkpoint-000001.h5"
printf '\n[measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = w\nsolver = low\nsource = s\n[source.s]\n' >>wd.ini
try measure wd.ini $list
exits 2 "a file is missing"
printed "[solver.low] eigenvectors: w-1.h5: No such file"
try eigen --pairs 8 --block 4 --tolerance 1e-8 --output w-%d.h5 w.ini made/checkpoint-000001.h5
exits 0 "the pairs of the other one"
try measure --json wd.ini $list
exits 0 "a list with a pattern"
same "pions" 2 "$(grep -c '"residual"' out)"

say "low-mode averaging"
{ cat wd.ini; printf '\n[measure.m]\nkind = mesons\npropagator = p\nlow_modes = yes\n'; } >wl.ini
try measure --json wl.ini $config
exits 0 "mesons with low modes"
for n in 2 4; do
    [ -n "${PLAQ_MPIEXEC:-}" ] || break
    grep '"measure": "m"' out | sed 's/, "seconds": [^}]*//' >one
    OMP_NUM_THREADS=1 try_ranks $n measure --json wl.ini $config
    exits 0 "on $n ranks"
    same "rows on $n ranks" "$(cat one)" "$(grep '"measure": "m"' out | sed 's/, "seconds": [^}]*//')"
done
try measure --dry-run wl.ini $config
exits 0 "a dry run of it"
for bad in "source.s.kind=noise:averages over the positions of a point, and [source.s] of [propagator.p] is of kind = noise" \
    "propagator.p.solver=cg:needs the key eigenvectors in the section of the solver of [propagator.p]" \
    "propagator.p.sink=wall:needs sink = site" "quark.w.kind=twisted_mass quark.w.mu=0.1 measure.m.operators=pseudoscalar:M^dagger = gamma_5 M gamma_5" \
    "measure.m.operators=conserved:operators = conserved has conserved"; do
    # shellcheck disable=SC2086 # settings are words
    try measure wl.ini $config ${bad%%:*}
    exits 2 "${bad%%:*}"
    printed "low_modes = yes of [measure.m]" "${bad#*:}"
done

say "dry runs with a pattern"
try measure --dry-run wd.ini $config
exits 0 "a dry run"
try measure --dry-run wd.ini lattice.size=4.4.4.8
exits 2 "a dry run without a configuration"
printed "takes the trajectory number of the configuration, which bears none"
try measure --dry-run wd.ini lattice.size=4.4.4.8 solver.low.low_modes=8
exits 0 "one that says how many vectors"
try solve wd.ini $config solver.low.eigenvectors=w-%x.h5
exits 2 "a pattern that is none"
printed "has a % that is no %d"
try convert $config bare.milc
try solve wd.ini bare.milc
exits 2 "a configuration without a number"
printed "which bears none; name the file itself"

say "what is refused"
try run a.ini lattice.size=8.4.4.4 run.output=wide run.trajectories=2
exits 0 "a lattice of other extents"
try solve d.ini wide/checkpoint-000002.h5
exits 2 "another lattice"
printed "is of a lattice of 4.4.4.8 sites, and the configuration has 8.4.4.4"
try solve d.ini $other
exits 2 "another configuration"
printed "d.ini:16: [solver.deflated] eigenvectors = low.h5 is of another configuration" "plaq eigen"
try solve d.ini $config quark.light.u0=0.91
exits 2 "another quark"
printed "eigenvectors = low.h5 is of another operator" "quark.u0: 0.9 before, 0.91 now" "the mass alone may differ"
try solve d.ini $config quark.light.parity=even
exits 2 "the other parity"
printed "eigenvectors = low.h5 is of odd sites, and the quark's parity is even"
try solve d.ini $config solver.deflated_block.low_modes=17
exits 2 "more modes than there are"
printed "low_modes = 17, but low.h5 has 16 eigenvectors"
try solve d.ini $config solver.gcr.eigenvectors=none.h5
exits 2 "no file"
printed "[solver.gcr] eigenvectors: none.h5" "plaq eigen makes it"
try solve d.ini $config solver.gcr.eigenvectors=$config
exits 2 "another kind of file"
printed "$config is a checkpoint, and not eigenvectors of an operator"
head -c 5000 low.h5 >cut.h5
try solve d.ini $config solver.gcr.eigenvectors=cut.h5
exits 2 "a damaged file"
printed "cut.h5"
write_input with.ini
sed -i 's/^type = cg$/type = cg\neigenvectors = low.h5/' with.ini
try run with.ini run.output=never
exits 2 "a run with eigenvectors"
printed "plaq run changes the links"
try eigen --output no/such/low.h5 e.ini $config
exits 2 "a folder that is not there"
printed "plaq eigen: no/such/low.h5"
try eigen --pairs 1000 e.ini $config
exits 2 "more pairs than a lattice has room for"
printed "1000 pairs"
for bad in "--pairs 0" "--pairs x" "--block 65" "--order 3" "--cutoff -1" "--quark heavy"; do
    try eigen $bad e.ini $config
    exits 2 "$bad"
    printed "${bad%% *}"
done
try eigen --pairs 16 --order 2 --restarts 1 --tolerance 1e-14 --output few.h5 e.ini $config
exits 1 "too few restarts"
checks=$((checks + 1))
[ ! -e few.h5 ] || fail "a file of pairs that did not converge"

say "cutoffs, orders and pairs"
try run a.ini lattice.size=4.2.2.4 run.output=small run.trajectories=1 checkpoint.interval=1
exits 0 "a small lattice"
small=small/checkpoint-000001.h5
values() { grep '"pair":' out | sed 's/.*"value": *\([^,]*\),.*/\1/' | awk '{ printf "%.10f ", $1 }'; }
try eigen --json --pairs 8 e.ini $small
exits 0 "the lowest"
lowest=$(values)
for setting in "--cutoff 0.0005" "--cutoff 0.005" "--order 2000"; do
    try eigen --json --pairs 8 $setting e.ini $small
    exits 0 "$setting"
    same "the lowest with $setting" "$lowest" "$(values)"
done
try eigen --pairs 8 --cutoff 0.0005 e.ini $small
printed "the cutoff 0.0005 is too low: 1 of 8 eigenvalues are below it; it is raised to"
# refused_numbers OPTIONS TEXT: status 2, nothing found.
refused_numbers() {
    try eigen $1 e.ini $small
    exits 2 "$1"
    printed "$2"
}
refused_numbers "--cutoff 1e9" "a cutoff of 1e+09 is above the spectrum, which ends below"
refused_numbers "--cutoff 1 --order 2000" "an order of 2000 is too high with a cutoff of 1 of"
refused_numbers "--pairs 385" "385 pairs: an operator on 96 components has at most 24, in blocks of 8 vectors"
refused_numbers "--block 40" "blocks of 40 vectors are too large for an operator on 96 components; at most 15 are possible"
refused_numbers "--pairs 8 --basis 30" "a basis of 30 vectors: 8 pairs in blocks of 8 need 32, and 48 are possible"

# Eigenvalues of -D^2 in the normalisation of others, 4 (A - m^2), each with its multiplets.
if [ -d "$data" ]; then
    say "recorded eigenvalues"
    recorded() {
        sed "s/^u0 = .*/$2/; s/^links = .*/links = $1/; s/^mass = .*/mass = 0.1/" e.ini >recorded.ini
        try eigen --json --pairs 64 --block 8 --tolerance 1e-12 recorded.ini "$data/lat.sample.inst"
        exits 0 "$1"
        shift 2
        checks=$((checks + 1))
        grep '"pair":' out | sed 's/.*"value": *\([^,]*\),.*/\1/' |
            awk -v want="$*" '{ x = 4 * ($1 - 0.01); if (n == 0 || x - last > 1e-6) found[++n] = x; last = x }
                 END { k = split(want, w, " "); if (n < k) exit 1
                       for (i = 1; i <= k; i++) { d = found[i] - w[i]; if (d > 2e-9 || d < -2e-9) { print found[i], w[i]; exit 1 } } }' ||
            fail "recorded eigenvalues"
    }
    recorded asqtad "u0 = 1" 0.03344212592 1.946451058 1.955962216 1.981036181 2.013302111 2.117684613
    recorded hisq "" 0.04613507862594 1.984240261247 2.033701817202 2.073985251042 2.092368340174 2.135127120067
fi
finish

# plaq solve: all solvers of an input find one solution, on one rank and on two, and leave their histories in a file.
. "$(dirname "$0")/kit.bash"
write_input a.ini
try run a.ini run.output=made run.trajectories=2
exits 0 "a configuration"
config=made/checkpoint-000002.h5
cat >s.ini <<'INI'
[quark.light]
kappa = 0.130
c_sw = 1.5
solver = cg

[solver.cg]
type = cg
inner_precision = double
tolerance = 1e-11

[solver.half]
type = cg
inner_precision = half
tolerance = 1e-11

[solver.bicgstab]
type = bicgstab
inner_precision = half
tolerance = 1e-11

[solver.gcr]
type = gcr
inner_precision = half
preconditioner = steps
tolerance = 1e-11

[solver.steps]
type = mr

[solver.mr]
type = mr
inner_precision = half
tolerance = 1e-9

[solver.refine]
type = refine
correction = rough
tolerance = 1e-11

[solver.rough]
type = bicgstab
inner_precision = quarter
tolerance = 1e-3
INI

say "every solver"
try solve --json --output h.h5 s.ini $config
exits 0 "solve"
same "solves" 7 "$(grep -c '"converged": true' out)"
printed "[solver.steps] of type mr is left out: it preconditions other solvers"
for solver in cg half bicgstab gcr refine; do
    checks=$((checks + 1))
    grep "\"solver\": \"$solver\"" out | sed 's/.*"residual": *\([^,]*\), *"whole": *\([^,]*\),.*"distance": *\([^,}]*\).*/\1 \2 \3/' |
        awk '{ good = $1 <= 1.5e-11 && $2 < 1e-9 && $3 < 1e-9 } END { exit !good }' || fail "residuals and distance of $solver"
done
cp out one
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    OMP_NUM_THREADS=1 try_ranks 2 solve --json s.ini $config
    exits 0 "solve on two ranks"
    strip='s/"seconds": [^,]*, "flops": [^,]*, //; s/, "setup": [^,}]*//'
    same "results on two ranks" "$(sed "$strip" one)" "$(sed "$strip" out)"
fi
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    say "a slower network"
    OMP_NUM_THREADS=1 try_ranks 2 solve --json s.ini $config machine.delay=2000
    exits 0 "solve on two ranks with a delay"
    same "results with a delay" "$(sed "$strip" one)" "$(sed "$strip" out)"
    # An iteration has sums over the ranks and exchanges of halos, each 2 ms longer: nothing sleeps less than it should.
    checks=$((checks + 1))
    sed 's/.*"iterations": *\([^,]*\),.*"seconds": *\([^,]*\),.*/\1 \2/' out |
        awk '{ n++; if (!($1 > 0 && $2 >= 0.002 * $1)) bad = 1 } END { exit bad || n != 7 }' || fail "seconds with a delay"
    # Of conjugate gradients on Mhat^dagger Mhat: four exchanges, and at least one sum.
    checks=$((checks + 1))
    grep '"type": "cg"' out | sed 's/.*"iterations": *\([^,]*\),.*"seconds": *\([^,]*\),.*/\1 \2/' |
        awk '{ n++; if (!($2 >= 0.0099 * $1)) bad = 1 } END { exit bad || n < 2 }' || fail "seconds of exchanges and of sums"
fi

say "shifts"
try solve --json --shifts 0.1,0,1e-3 --output shifts.h5 s.ini $config
exits 0 "solve with shifts"
# Three at once and three one after another for each of the two solvers of type cg; that without a shift is the solution
# of all others.
same "solves" 19 "$(grep -c '"converged": true' out)"
# value KEY TYPE: of all solvers.
value() { grep -F "\"type\": \"$2\"" out | sed "s/.*\"$1\": *\([^,}]*\).*/\1/"; }
for shift in 0 0.001 0.1; do
    for type in multi+$shift cg+$shift; do
        same "lines of $type" 2 "$(grep -cF "\"type\": \"$type\"" out)"
        checks=$((checks + 1))
        value residual $type | awk '$1 > 1.5e-11 || $1 <= 0 { exit 1 }' || fail "residuals of $type"
    done
    # Both ways find the same.
    checks=$((checks + 1))
    value distance cg+$shift | awk '!($1 > 0 && $1 < 1e-9) { exit 1 }' || fail "distances of cg+$shift"
    # Seconds at once are those of all shifts.
    same "seconds at once, $shift" "$(value seconds multi+0)" "$(value seconds multi+$shift)"
done
checks=$((checks + 1))
value distance multi+0 | awk '!($1 < 1e-9) { exit 1 }' || fail "distances of multi+0"
same "no distance with a shift" 4 "$(grep -c '"distance": null' out)"
# Iterations fall as the shift grows.
for way in multi cg; do
    iterations() { value iterations "$way+$1" | head -n 1; }
    checks=$((checks + 1))
    [ "$(iterations 0.1)" -lt "$(iterations 0.001)" ] && [ "$(iterations 0.001)" -le "$(iterations 0)" ] || fail "iterations by shift, $way"
done
try solve --shifts 0,0.1 s.ini $config
exits 0 "a table with shifts"
printed "multi+0.1" "cg+0.1" "light          cg             all shifts at once: " "; one after another: "
for bad in x 0,,1 0.1x -1 0,-1e-3 nan inf 1,; do
    try solve --shifts $bad s.ini $config
    exits 2 "--shifts $bad"
    printed "--shifts $bad" "at least 0"
done
try solve --shifts 0 s.ini $config solver.cg.type=bicgstab solver.half.type=bicgstab
exits 2 "no solver of type cg"
printed "of type cg"

say "staggered quarks"
cat >q.ini <<'INI'
[quark.light]
kind = staggered
links = hisq
mass = 0.2
solver = cg

[solver.cg]
type = cg
inner_precision = half
tolerance = 1e-11

[solver.gcr]
type = gcr
preconditioner = steps
tolerance = 1e-11

[solver.steps]
type = mr

[solver.bicgstab]
type = bicgstab
inner_precision = double
tolerance = 1e-11

[solver.mr]
type = mr
tolerance = 1e-9
INI
try solve --json --shifts 0,0.5 --output quark.h5 q.ini $config
exits 0 "solve of a staggered quark"
same "solves" 8 "$(grep -c '"converged": true' out)"
checks=$((checks + 1))
grep -v '"whole": null' out | sed 's/.*"residual": *\([^,]*\), *"whole": *\([^,]*\),.*"distance": *\([^,}]*\).*/\1 \2 \3/' |
    awk '{ n++; if (!($1 <= 1.5e-9 && $2 < 1e-7 && $3 < 1e-7)) exit 1 } END { exit n != 6 }' || fail "residuals and distances"
try solve --source 1.2.3.0 q.ini $config quark.light.links=naive
exits 0 "a point source"
for reals in 13 9; do
    try solve q.ini $config quark.light.long_reals=$reals
    exits 0 "long links of $reals reals"
done
printf '[solver.blocks]\ntype = gcr\npreconditioner = inside\n[solver.inside]\ntype = schwarz\nsteps = 4\n' >>q.ini
try solve q.ini $config
exits 2 "blocks"
printed "q.ini:28: [solver.blocks] works inside blocks" "[quark.light]"

say "several right-hand sides"
sed -i '/^\[solver.blocks\]/,$d' q.ini
printf '[solver.block]\ntype = block_cg\ntolerance = 1e-11\n[solver.pairs]\ntype = block_cg\nblock_size = 2\ntolerance = 1e-11\n' >>q.ini
try solve --json --rhs 5 --output several.h5 q.ini $config
exits 0 "five sources"
same "solves" 6 "$(grep -c '"converged": true' out)"
same "five of each" 6 "$(grep -c '"rhs": 5' out)"
iterations() { grep "\"solver\": \"$1\"" out | sed 's/.*"iterations": *\([0-9]*\).*/\1/'; }
checks=$((checks + 1))
[ "$(iterations block)" -lt "$(iterations pairs)" ] && [ "$(iterations pairs)" -lt "$(iterations cg)" ] || fail "iterations of blocks"
checks=$((checks + 1))
sed 's/.*"residual": *\([^,]*\), *"whole": *\([^,]*\),.*"distance": *\([^,}]*\).*/\1 \2 \3/' out |
    awk '!($1 <= 1.5e-9 && $2 < 1e-7 && $3 < 1e-7) { exit 1 }' || fail "residuals and distances of several sources"
try solve --profile --rhs 2 q.ini $config
exits 0 "a profile of each solver"
same "profiles" 6 "$(grep -c '^profile ' out)"
same "iterations in profiles" 6 "$(grep -c 'calls an iteration' out)"
printed "multiblas_dot, single"
for bad in 0 x 257; do
    try solve --rhs $bad q.ini $config
    exits 2 "--rhs $bad"
    printed "--rhs $bad"
done
try solve --rhs 2 --source 0.0.0.0 q.ini $config
exits 2 "several point sources"
printed "several sources are random ones"
try solve --rhs 2 --shifts 0.1 q.ini $config
exits 2 "several sources with shifts"
try solve --json --rhs 6 "$source/inputs/block.ini" $config
exits 0 "inputs/block.ini"
same "solvers of inputs/block.ini" 4 "$(grep -c '"converged": true' out)"

say "histories"
if command -v h5dump >/dev/null; then
    for solver in cg half bicgstab gcr mr refine rough; do
        checks=$((checks + 1))
        n=$(h5dump -d /solve/light.$solver/residual -w 0 h.h5 | grep -cE '^ *\([0-9]+\):') && [ "$n" -gt 0 ] || fail "no history of $solver"
    done
    # A curve a shift, each with true residuals that end below the tolerance.
    for table in shifts apart; do
        column() { h5dump -y -w 1 -d "/solve/light.half.$table/$1" shifts.h5 | grep -E '^ *[-0-9.e+]+,?$' | tr -d ' ,'; }
        checks=$((checks + 1))
        paste <(column shift) <(column true) <(column residual) <(column iteration) |
            awk '{ n[$1]++; if ($2 == 1) last[$1] = $3; if ($4 < before[$1]) exit 1; before[$1] = $4 }
                 END { for (s in n) { k++; if (!(n[s] > 5 && last[s] > 0 && last[s] <= 1e-11)) exit 1 } exit k != 3 }' ||
            fail "histories of shifts, $table"
    done
    # The last point of each is a true residual below the tolerance.
    last() { h5dump -y -w 1 -d "/solve/light.gcr/$1" h.h5 | grep -E '^ *[0-9.e+-]+,?$' | tail -1 | tr -d ' ,'; }
    same "the last point is true" 1 "$(last true)"
    checks=$((checks + 1))
    awk -v r="$(last residual)" 'BEGIN { exit !(r != "" && r <= 1e-11) }' || fail "the last residual is $(last residual)"
fi
try solve --output h.h5 s.ini $config
exits 0 "appended, as a table"
printed "quark" "seconds" "converged"

say "multigrid beside CG and BiCGStab: the shipped input"
try solve --json "$source/inputs/multigrid.ini" $config quark.light.kappa=0.12 solver.multigrid.block=2.2.2.2 solver.multigrid.vectors=8
exits 0 "inputs/multigrid.ini"
printed '"solver": "multigrid"' '"setup": '
try solve "$source/inputs/multigrid.ini" $config quark.light.kappa=0.12 solver.multigrid.block=2.2.2.2 solver.multigrid.vectors=8 \
    solver.multigrid.cycle=v solver.multigrid.bottom_solver=ca_gcr solver.multigrid.half_links=yes run.log=debug
exits 0 "a V-cycle"
printed "solves on level 2, "
cp "$source/inputs/multigrid.ini" levels.ini
printf '[solver.alone]\ntype = multigrid\ntolerance = 1e-10\nright_hand_sides = 1\n' >>levels.ini
levels="quark.light.kappa=0.12 solver.multigrid.block=2.2.2.2 solver.multigrid.vectors=8 solver.alone.block=2.2.2.2 solver.alone.vectors=8"
try solve --json --rhs 3 --error --output together.h5 levels.ini $config $levels
exits 0 "three sources through all levels at once"
same "all have errors" 4 "$(grep -c '"error": [0-9].*"error_ratio": [0-9]' out)"
of() { grep "\"solver\": \"$1\"" out | sed 's/.*"residual": *\([^,]*\), *"whole": *\([^,]*\),.*"error": *\([^,]*\).*/\1 \2 \3/'; }
same "residuals and errors of sources at once and alone" "$(of alone)" "$(of multigrid)"
try solve "$source/inputs/multigrid.ini" $config solver.multigrid.block=3.2.2.2
exits 2 "aggregates that do not divide"
printed "solver.multigrid.block=3.2.2.2" "aggregates of 3.2.2.2 sites do not fill the 4.4.4.4 sites of a rank"

say "the shipped input"
try solve "$source/inputs/solvers.ini" $config quark.light.kappa=0.12 --output curves.h5
exits 0 "inputs/solvers.ini"
printed "gcr_dd" "gcr_sap" "mspcg" "corrections"
try solve "$source/inputs/solvers.ini" $config solver.multiplicative.block=3.4.4.4
exits 2 "blocks that do not divide"
printed "command line: solver.multiplicative.block=3.4.4.4: [solver.multiplicative] block = 3.4.4.4" "blocks of 3.4.4.4 do not divide the 4.4.4.4 sites" "direction x"
try solve "$source/inputs/solvers.ini" $config solver.additive.tolerance=0.1
exits 2 "a tolerance of what only preconditions"
printed "for it only preconditions"
try solve "$source/inputs/solvers.ini" $config solver.multiplicative.block=2.4.4.4 solver.multiplicative.colours=3
exits 2 "three colours"
overlapping() { try solve "$source/inputs/solvers.ini" $config quark.light.kappa=0.12 --json "$@"; }
overlapping solver.additive.block=2.2.4.4 solver.additive.overlap=1
exits 0 "blocks that overlap"
overlapping solver.additive.block=2.2.4.4 solver.additive.overlap=2
exits 2 "more overlap than there is lattice"
printed "command line: solver.additive.overlap=2: [solver.additive] overlap = 2: blocks of 2 sites" "longer than the 4 sites of the lattice in direction x" "0 to 1"
overlapping solver.additive.overlap=1
exits 2 "an overlap of the whole lattice with itself"
printed "command line: solver.additive.overlap=1: [solver.additive] overlap = 1" "is the whole lattice" "the overlap may be 0"
sed '0,/^block = rank$/s//&\noverlap = 1/; s/^block = 4.4.4.4$/block = 4.4.4.3/' "$source/inputs/solvers.ini" >places.ini
try solve places.ini $config
exits 2 "the same from a file"
printed "places.ini:$(grep -n '^overlap' places.ini | cut -d: -f1): [solver.additive] overlap = 1: a block of"
try solve places.ini $config solver.additive.overlap=0
exits 2 "blocks from a file that do not divide"
printed "places.ini:$(grep -n '^block = 4' places.ini | cut -d: -f1): [solver.multiplicative] block = 4.4.4.3: blocks of"
overlapping solver.additive.overlap=-1
exits 2 "a negative overlap"
printed "[solver.additive] overlap: '-1' is out of range" "0 <= integer"
overlapping solver.multiplicative.block=2.4.4.4 solver.multiplicative.overlap=1
exits 2 "an overlap in two colours"
printed "solver.multiplicative" "overlap = 1 with colours = 2" "colours = 1"
overlapping solver.multisplitting.block=2.2.4.4
exits 0 "blocks of the normal operator"
overlapping solver.multisplitting.block=3.4.4.4
exits 2 "blocks of the normal operator that do not divide"
printed "command line: solver.multisplitting.block=3.4.4.4: [solver.multisplitting] block = 3.4.4.4" "do not divide the 4.4.4.4 sites"
overlapping solver.gcr_dd.preconditioner=multisplitting
exits 0 "blocks of the normal operator for gcr"
overlapping solver.mspcg.preconditioner=additive
exits 0 "blocks of minimal residual for pcg"
overlapping solver.gcr_dd.overlap=1
exits 2 "an overlap without blocks"
printed "no key 'overlap'"
try solve "$source/inputs/solvers.ini" $config quark.light.solver=additive
exits 2 "a preconditioner as a solver"
printed "schwarz, which only preconditions"
try solve "$source/inputs/solvers.ini" $config solver.gcr_dd.preconditioner=aditive
exits 2 "an unknown preconditioner"
printed "did you mean 'additive'"

say "sources"
try solve --source 1.2.3.0 s.ini $config
exits 0 "a point source"
try solve --source 1.2.3.4 s.ini $config
exits 2 "outside"
printed "--source 1.2.3.4 lies outside the lattice 4.4.4.4"
try solve --source middle s.ini $config
exits 2 "no place"
printed "--source middle" "or random"

say "precisions that are raised"
try solve s.ini $config solver.rough.tolerance=1e-16
exits 1 "a tolerance that no precision reaches"
printed "solver bicgstab: stalled at a residual of" "in quarter precision, which is raised to half" \
    "in half precision, which is raised to single" "in single precision, which is raised to double" "stalled above"

say "faults"
try solve s.ini nowhere.lime
exits 2 "no configuration"
try solve s.ini $config solver.cg.max_iterations=3
exits 1 "a solver that does not converge"
printed "too many iterations"
printf '[quark.light]\nkappa = 0.13\nsolver = cg\n' >none.ini
try solve none.ini $config
exits 2 "no solver"
try solve s.ini $config lattice.size=4.4.4.8
exits 2 "another size"
printed "[lattice] size = 4.4.4.8"
finish

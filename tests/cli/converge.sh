# Convergence on the recorded configurations, with light quarks: conjugate gradients, BiCGStab, GCR with a Schwarz
# preconditioner and multi-shift conjugate gradients reach their tolerance in the true residual, find the same solution, and
# leave their curves. `bash converge.sh PLAQ SOURCE` prints the table.
. "$(dirname "$0")/kit.bash"
[ -d "$data" ] || { echo "skipped: no folder $data (PLAQ_TEST_DATA)"; exit 77; }

cat >s.ini <<'INI'
[quark.light]
kappa = 0.1
solver = cg

[solver.cg]
type = cg
inner_precision = single
tolerance = 1e-10

[solver.bicgstab]
type = bicgstab
inner_precision = half
tolerance = 1e-10

[solver.gcr_dd]
type = gcr
inner_precision = half
preconditioner = blocks
tolerance = 1e-10

[solver.blocks]
type = schwarz
inner_precision = half
steps = 6
INI

# What a line has in a column.
column() { sed "s/.*\"$1\": *\([^,}]*\).*/\1/" <<<"$line"; }
short() { [ "$1" = null ] && echo - || printf '%.2e' "$1"; }
# holds WHAT CONDITION: an awk expression.
holds() {
    checks=$((checks + 1))
    awk "BEGIN { exit !($2) }" || fail "$1: $2"
}
# The last true residual of a curve, and its points: HISTORY SHIFT.
curve() {
    paste <(points "$1" shift) <(points "$1" true) <(points "$1" residual) |
        awk -v s="$2" '$1 == s { n++; if ($2 == 1) last = $3 } END { print last, n + 0 }'
}
points() { h5dump -y -w 1 -d "/solve/light.$1/$2" curves.h5 | grep -E '^ *[-0-9.e+]+,?$' | tr -d ' ,'; }

strip='s/"seconds": [^,]*, "flops": [^,]*, //; s/, "setup": [^,}]*//'
while read -r file kappa c_sw block ranks; do
    [ -e "$data/$file" ] || { fail "no $file"; continue; }
    say "$file, kappa $kappa, c_sw $c_sw, blocks of $block"
    arguments=(solve --json --shifts 0,1e-3,0.1 s.ini "$data/$file" quark.light.kappa=$kappa quark.light.c_sw=$c_sw
        solver.blocks.block=$block)
    rm -f curves.h5
    try "${arguments[@]}" --output curves.h5
    exits 0 "solve"
    cp out one
    same "solves" 9 "$(grep -c '"converged": true' one)"
    while read -r line; do
        solver=$(column solver | tr -d '"') type=$(column type | tr -d '"') shift=$(column shift)
        printf '    %-9s %-9s %5s iterations, %5s inside, residual %.2e, of M %8s, distance %8s\n' "$solver" "$type" "$(column iterations)" \
            "$(column inside)" "$(column residual)" "$(short "$(column whole)")" "$(short "$(column distance)")"
        holds "$solver $type" "$(column residual) > 0 && $(column residual) <= 1.5e-10"
        # The tolerance, times what the condition of these operators can make of it.
        [ "$shift" != 0 ] || holds "$solver $type" "$(column whole) < 1e-9 && $(column distance) < 1e-8"
        command -v h5dump >/dev/null || continue
        name=$solver
        [ "${type#multi+}" = "$type" ] || name=$solver.shifts
        [ "${type#cg+}" = "$type" ] || name=$solver.apart
        read -r last n <<<"$(curve $name $shift)"
        holds "curve of $solver $type" "\"$last\" != \"\" && $last <= 1e-10 && $n > $(column iterations) / 4"
    done <one
    [ -n "${PLAQ_MPIEXEC:-}" ] && [ $ranks -gt 1 ] || continue
    OMP_NUM_THREADS=1 try_ranks $ranks "${arguments[@]}"
    exits 0 "on $ranks ranks"
    same "results on $ranks ranks" "$(sed "$strip" one)" "$(sed "$strip" out)"
done <<'LIST'
quenched-8888-b6.0.nersc 0.134 1.769 4.4.4.2 2
lat.sample.l8888 0.135 1.769 4.4.4.2 1
nersc.l8t4b3360 0.15 1.0 4.4.4.2 2
lat.sample.l4448 0.135 1.5 4.4.4.2 1
lat.sample.l6666.hisq 0.133 1.5 6.6.2.2 1
qlua.random-gauge.lime 0.124 1.0 4.4.2.2 1
LIST
finish

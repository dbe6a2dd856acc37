# Help on everything, words that the program does not know, exit statuses, and every input file that comes with it.
. "$(dirname "$0")/kit.bash"

say "plaq --help, --version, nothing"
try --help
exits 0 "--help"
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
for c in run measure check convert verify bench help; do
    checks=$((checks + 1))
    echo "$commands" | grep -qx $c || fail "--help does not list $c"
done
printed "Exit status: 0 success"
try -h
exits 0 "-h"
try --version
exits 0 "--version"
printed "plaq "
try
exits 2 "without a command"
printed "usage: plaq COMMAND"

say "each command"
for c in $commands; do
    try $c --help
    exits 0 "$c --help"
    printed "usage: plaq $c" "--help"
    try $c --nonsense
    exits 2 "$c --nonsense"
    printed "plaq: error: plaq $c: unknown option --nonsense" "plaq $c --help"
done
for c in run measure check convert verify; do
    try $c
    exits 2 "$c without arguments"
    printed "argument"
done

say "words that are nearly right"
try rnu
exits 2 "rnu"
printed "unknown command 'rnu'; did you mean 'run'?"
try xyzzy
exits 2 "xyzzy"
printed "unknown command 'xyzzy'" "plaq --help"
try run --dry-rum a.ini
exits 2 "--dry-rum"
printed "--dry-rum; did you mean --dry-run?"
try check --jsno a
exits 2 "--jsno"
printed "did you mean --json?"

say "plaq help: the keys"
try help
exits 0 "help"
for section in '[run]' '[machine]' '[lattice]' '[gauge]' '[fermion.NAME]' '[integrator.NAME]' '[solver.NAME]' '[checkpoint]' '[measure.NAME]'; do
    printed "$section"
done
try help beta
exits 0 "help beta"
printed "beta" "coupling"
try help gauge.beta
exits 0 "help gauge.beta"
printed "coupling"
try help fermion
exits 0 "help of a section"
printed "kappa" "c_sw"
try help bete
exits 2 "help bete"
printed "beta"
try help --markdown
exits 0 "help --markdown"
printed "| \`beta\`"

say "every input file"
n=0
for input in "$source"/inputs/*.ini; do
    if ! grep -q '^\[run\]' "$input"; then
        continue # for plaq measure
    fi
    n=$((n + 1))
    try run --dry-run "$input"
    exits 0 "$input"
    printed "everything is in order" "memory" "checkpoint" "cost" "on grid 1.1.1.1"
    checks=$((checks + 1))
    [ -z "$(ls -d results* 2>/dev/null)" ] || fail "$input: a dry run left a folder"
done
checks=$((checks + 1))
[ $n -ge 1 ] || fail "no input files"
if [ -f "$source/inputs/measure.ini" ] && [ -d "$data" ]; then
    say "inputs/measure.ini on a sample configuration"
    try measure --json "$source/inputs/measure.ini" "$data/lat.sample.l4448"
    exits 0 "measure"
    printed '"plaquette": 0.56905572'
fi
finish

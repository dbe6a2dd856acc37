# The reference page inputs/KEYS.md is what the program says of its keys.
. "$(dirname "$0")/kit.bash"

try help --markdown
exits 0 "help --markdown"
say "inputs/KEYS.md"
checks=$((checks + 1))
page=$source/inputs/KEYS.md
if ! diff -u "$page" out >difference 2>&1; then
    head -n 40 difference
    fail "inputs/KEYS.md is not what the program prints; renew it: build/plaq help --markdown > inputs/KEYS.md"
fi
finish

# The reference page inputs/KEYS.md is what the program says of its keys; links between pages lead to files,
# and to such as are installed.
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

say "links between pages"
for page in "$source"/*.md "$source"/*/*.md "$source"/*/guide/*.md; do
    [ "$page" != "$source/inputs/KEYS.md" ] || continue
    sed 's/`[^`]*`//g' "$page" | grep -o '](\([^)#: ]*\))' | sed 's/^](//; s/)$//' >links || true
    while read -r link; do
        checks=$((checks + 1))
        [ -e "$(dirname "$page")/$link" ] || fail "${page#"$source"/} links to $link, which is not there"
        case $link in http* | *.md | *.ini | *.svg | LICENSE) ;; *) fail "$link in ${page#"$source"/} is not installed" ;; esac
    done <links
done
finish

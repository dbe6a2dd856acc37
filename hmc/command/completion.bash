# Completion of plaq in bash: commands, options, files, and section.key=value with the values that a key can have. All words come
# from the program itself, so none of them stands here.

_plaq_keys() { # section.key of sections without names; section. of the others
    "$1" help --markdown 2>/dev/null | awk '
        /^## / { section = $2; gsub(/[`\[\]]/, "", section); named = section ~ /\./; sub(/\..*/, "", section) }
        /^\| `/ { gsub(/[`\\]/, "", $2); print named ? section "." : section "." $2 "=" }' | sort -u
}

_plaq() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p')" -- "$word")
    elif [ "$COMP_CWORD" -gt 2 ] && [[ $word == [a-z]*.* ]] && ! compgen -f -- "$word" >/dev/null; then
        mapfile -t COMPREPLY < <(compgen -W "$(_plaq_keys "$program")" -- "$word")
        compopt -o nospace
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames
    fi
}
complete -F _plaq plaq

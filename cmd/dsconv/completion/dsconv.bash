# bash completion of dsconv. In ~/.bashrc: source <(dsconv completion bash)
_dsconv() {
    local line candidates files=
    candidates=$("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            '') ;;
            :files) files=1 ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done <<<"$candidates"
    # Without candidates bash completes files, with -o default below. bash 3 has no compopt, and does so always.
    [[ $files ]] || compopt +o default 2>/dev/null
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _dsconv dsconv

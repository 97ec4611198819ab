#compdef dsconv
# zsh completion of dsconv. In ~/.zshrc, after compinit: source <(dsconv completion zsh)
_dsconv() {
    local line files=
    local -a candidates
    while IFS= read -r line; do
        case $line in
            '') ;;
            :files) files=1 ;;
            *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done < <(${(Q)words[1]/#\~/$HOME} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    if [[ -n $files ]]; then
        [[ $words[CURRENT] == --*=* ]] && compset -P '*='
        _files
    else
        _describe dsconv candidates
    fi
}
if [[ $funcstack[1] == _dsconv ]]; then
    _dsconv "$@"
else
    compdef _dsconv dsconv
fi

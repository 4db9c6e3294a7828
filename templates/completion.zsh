#compdef winjoin
# zsh completion for winjoin, in this session:  source <(winjoin completion zsh)
# In each session: put that line into ~/.zshrc, below compinit.
_winjoin() {
    local -a lines candidates
    local line help current=${(Q)words[CURRENT]}
    lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "=$current" 2>/dev/null)}")
    for line in $lines; do
        case $line in
        (:files|:folders)
            compset -P '*='
            [[ $line == :files ]] && _files || _files -/
            return
            ;;
        (*$'\t'*) help=":${line#*$'\t'}" ;;
        (*) help='' ;;
        esac
        candidates+=("${${line%%$'\t'*}//:/\\:}$help")
    done
    _describe winjoin candidates
}
compdef _winjoin winjoin

# shellcheck shell=bash
# bash completion for winjoin, in this session:  source <(winjoin completion bash)
# In each session: put that line into ~/.bashrc.
_winjoin() {
    local line=${COMP_LINE:0:COMP_POINT} word=${COMP_WORDS[COMP_CWORD]} current='' candidate
    local -a words
    read -ra words <<<"$line"
    case $line in
    *[[:space:]]) ;;
    *)
        current=${words[-1]}
        unset 'words[-1]'
        ;;
    esac
    case $word in = | :) word='' ;; esac # bash takes words apart there
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
        :files)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            ;;
        :folders)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            ;;
        *) COMPREPLY+=("${candidate#"${current%"$word"}"}") ;;
        esac
    done < <("${words[0]}" __complete "${words[@]:1}" "=$current" 2>/dev/null)
}
complete -F _winjoin winjoin

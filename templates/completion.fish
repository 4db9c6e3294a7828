# fish completion for winjoin, in this session:  winjoin completion fish | source
# In each session: winjoin completion fish > ~/.config/fish/completions/winjoin.fish
function __winjoin_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l answer ($program __complete $words "=$current" 2>/dev/null)
    set -l prefix (string match -r -- '^--?[^=]*=' $current)
    set -l path (string replace -r -- '^--?[^=]*=' '' $current)
    switch "$answer[1]"
        case :files
            printf "$prefix%s\n" (__fish_complete_path $path)
        case :folders
            printf "$prefix%s\n" (__fish_complete_directories $path)
        case '*'
            printf '%s\n' $answer
    end
end
complete -c winjoin -f -a '(__winjoin_complete)'

# fish completion of dsconv: dsconv completion fish > ~/.config/fish/completions/dsconv.fish
function __dsconv_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..] "$current" 2>/dev/null)
        if test "$line" = ":files"
            set -l flag (string match -r -- '^--[^=]*=' "$current")
            for path in (__fish_complete_path (string replace -- "$flag" '' "$current"))
                echo "$flag$path"
            end
        else
            echo $line
        end
    end
end
complete -c dsconv -f -a '(__dsconv_complete)'

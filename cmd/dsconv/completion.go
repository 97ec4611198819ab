package main

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeCommand is what the scripts of dsconv completion run: it prints what the last of its arguments may become.
const completeCommand = "__complete"

//go:embed completion/dsconv.bash
var bashCompletion string

//go:embed completion/dsconv.zsh
var zshCompletion string

//go:embed completion/dsconv.fish
var fishCompletion string

var completionScripts = map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

func completionCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: "With the script the shell completes commands, flags and files. It asks the installed dsconv, so it does not\n" +
			"go out of date.\n\n" +
			"bash, in ~/.bashrc:\n   source <(dsconv completion bash)\n" +
			"zsh, in ~/.zshrc, after compinit:\n   source <(dsconv completion zsh)\n" +
			"fish, once:\n   dsconv completion fish > ~/.config/fish/completions/dsconv.fish\n\n" + exitCodes,
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "bash|zsh|fish")
			if err != nil {
				return err
			}
			script, ok := completionScripts[args[0]]
			if !ok {
				return usageErrorf("unknown shell %q: use bash, zsh or fish", args[0])
			}
			c.printf("%s", script)
			return nil
		},
	}
}

// candidate is what a word on the command line may become.
type candidate struct{ text, about string }

// printCompletions prints what the last one of words may become: a line each, with a tab before its
// description, and a last line ":files" if it may also be a file.
func printCompletions(c *console, app *cli.App, words []string) {
	list, files := complete(app, words)
	for _, one := range list {
		c.printf("%s\t%s\n", one.text, one.about)
	}
	if files {
		c.printf(":files\n")
	}
}

// complete returns what the last one of words, which follow the program's name, may become, and whether it may be a file:
// a command, a flag, else a file.
func complete(app *cli.App, words []string) (list []candidate, files bool) {
	last, before := words[len(words)-1], words[:len(words)-1]
	commands, flags := app.VisibleCommands(), []cli.Flag{cli.VersionFlag}
	for len(commands) > 0 && len(before) > 0 {
		at := slices.IndexFunc(commands, func(cmd *cli.Command) bool { return cmd.Name == before[0] })
		if at < 0 {
			return nil, false
		}
		commands, flags, before = commands[at].Subcommands, commands[at].VisibleFlags(), before[1:]
	}
	if slices.Contains(before, "--") || len(commands) == 0 && !strings.HasPrefix(last, "-") || strings.Contains(last, "=") {
		return nil, true
	}
	for _, cmd := range commands {
		list = append(list, candidate{cmd.Name, cmd.Usage})
	}
	for _, f := range append(flags, cli.HelpFlag) {
		about := ""
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(doc.GetUsage(), "`", "")
		}
		list = append(list, candidate{"--" + f.Names()[0], about})
	}
	return slices.DeleteFunc(list, func(one candidate) bool { return !strings.HasPrefix(one.text, last) }), false
}

package main

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats/folder"
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
		Description: "With the script the shell completes commands, flags, the values of flags, and files. It asks the installed\n" +
			"dsconv, so it does not go out of date.\n\n" +
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

// complete returns what the last one of words, which follow the program's name, may become, and whether it
// may be a file.
func complete(app *cli.App, words []string) (list []candidate, files bool) {
	words = joinAssignments(words)
	if len(words) == 0 {
		return nil, false
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		for _, cmd := range app.VisibleCommands() {
			list = append(list, candidate{cmd.Name, cmd.Usage})
		}
		return startingWith(append(list, flagCandidates([]cli.Flag{cli.HelpFlag, cli.VersionFlag})...), last), false
	}
	cmd := app.Command(words[0])
	if cmd == nil {
		return nil, false
	}
	if len(cmd.Subcommands) > 0 {
		if len(words) == 2 {
			for _, sub := range cmd.Subcommands {
				list = append(list, candidate{sub.Name, sub.Usage})
			}
			return startingWith(append(list, flagCandidates([]cli.Flag{cli.HelpFlag})...), last), false
		}
		if cmd, words = cmd.Command(words[1]), words[1:]; cmd == nil {
			return nil, false
		}
	}
	name, value, assigns := strings.Cut(last, "=")
	before := words[len(words)-2]
	switch {
	case slices.Contains(words[1:len(words)-1], "--"):
		return nil, true
	case strings.HasPrefix(last, "-") && assigns:
		list, files = flagValues(cmd, strings.TrimLeft(name, "-"), value)
		for i := range list {
			list[i].text = name + "=" + list[i].text
		}
		return list, files
	case strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && takesValue(cmd, strings.TrimLeft(before, "-")):
		return flagValues(cmd, strings.TrimLeft(before, "-"), last)
	case strings.HasPrefix(last, "-"):
		return startingWith(flagCandidates(append(cmd.VisibleFlags(), cli.HelpFlag)), last), false
	case cmd.Name == "completion":
		return startingWith([]candidate{{"bash", ""}, {"zsh", ""}, {"fish", ""}}, last), false
	}
	return nil, true
}

// joinAssignments undoes what bash does to --flag=value: it makes three words of it. The value that is
// completed stays a word of its own, because bash replaces only that.
func joinAssignments(words []string) []string {
	n := len(words)
	switch {
	case n >= 2 && words[n-1] == "=" && strings.HasPrefix(words[n-2], "--"):
		return append(slices.Clone(words[:n-1]), "")
	case n >= 3 && words[n-2] == "=" && strings.HasPrefix(words[n-3], "--"):
		return append(slices.Clone(words[:n-2]), words[n-1])
	}
	return words
}

func startingWith(list []candidate, start string) []candidate {
	return slices.DeleteFunc(list, func(one candidate) bool { return !strings.HasPrefix(one.text, start) })
}

func flagCandidates(flags []cli.Flag) (list []candidate) {
	for _, f := range flags {
		about := ""
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(doc.GetUsage(), "`", "")
		}
		list = append(list, candidate{"--" + f.Names()[0], about})
	}
	return list
}

// flagValues returns the values of a flag that begin with start, and whether it may be a file.
func flagValues(cmd *cli.Command, name, start string) ([]candidate, bool) {
	for _, f := range cmd.Flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		var list []candidate
		for _, value := range fixedValues(cmd, f.Names()[0]) {
			list = append(list, candidate{value, ""})
		}
		list = startingWith(list, start)
		return list, len(list) == 0 && takesFile(f)
	}
	return nil, false
}

// takesFile reports whether the placeholder of a flag is that of a file.
func takesFile(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return false
	}
	parts := strings.Split(doc.GetUsage(), "`")
	if len(parts) < 3 {
		return false
	}
	return slices.ContainsFunc([]string{"FILE", "DIR", "SRC", "DATASET", "PLUGIN", "PATH"}, func(what string) bool {
		return strings.HasPrefix(parts[1], what)
	})
}

// loadingValues are the values of flags of the commands that load batches.
var loadingValues = map[string][]string{
	"order":     {"none", "full", "balanced"},
	"on-error":  {"fail", "skip", "substitute"},
	"dtype":     {"float32", "uint8", "float16", "bfloat16", "uint16"},
	"cache":     {"encoded", "decoded"},
	"model":     {"mlp", "cnn"},
	"backend":   {"go", "xla:cuda", "xla:cpu"},
	"precision": {"fp32", "bf16"},
	"decode":    {"exact", "fast"},
}

// writingValues are those of all other commands.
var writingValues = map[string][]string{
	"format":      {"lmdb", "hdf5", "h5", "shard", "tar", "webdataset", "tfrecord"},
	"split":       {"auto", "none"},
	"label-type":  {"index", "name", "float"},
	"field":       {folder.FieldsAuto, folder.FieldsNone},
	"class-order": {"natural"},
	"unlisted":    {folder.UnlistedSkip, folder.UnlistedFolder},
	"filter":      {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"},
	"encode":      {"keep", "jpeg-tiled", "jpeg", "png", "raw"},
	"decode":      {"exact", "fast"},
	"decoder":     {"cpu", "gpu"},
	"color":       {"rgb", "gray", "keep"},
	"exif":        {"keep", "apply"},
	"compress":    {"zstd"},
	"order":       {"key", "shuffle:0"},
	"on-error":    {"skip", "fail"},
	"check":       {"structure", "decode"},
}

// fixedValues returns the values of a flag that can be listed.
func fixedValues(cmd *cli.Command, flag string) []string {
	has := func(name string) bool {
		return slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return f.Names()[0] == name })
	}
	packs := has("copies-only") // pack and shards plan
	loads := !packs && has("augment")
	values := writingValues[flag]
	switch {
	case flag == "progress":
		values = []string{"auto", "json"}
	case cmd.Name == "train" && flag == "dtype":
		values = []string{"float32", "uint8"}
	case loads:
		values = loadingValues[flag]
	case !packs && (flag == "split" || flag == "label-type"):
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v != "index" && v != "name" })
	}
	return values
}

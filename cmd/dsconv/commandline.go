package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/internal/durable"
)

// flagsFirst moves a command's flags before its arguments. urfave/cli would take a flag after an
// argument as another argument, without an error.
func flagsFirst(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args, nil
	}
	name, first := cmd.Name, 2 // words of the command
	if len(args) > 2 {
		if sub := cmd.Command(args[2]); sub != nil {
			cmd, name, first = sub, name+" "+sub.Name, 3
		}
	}
	var flags, rest []string
	for i := first; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
		if a == "--help" || a == "-h" { // not about a topic that the arguments name
			return append(slices.Clone(args[:first]), a), nil
		}
		flags = append(flags, a)
		flag, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if hasValue || !takesValue(cmd, flag) {
			continue
		}
		if flag == "json" && (i+1 == len(args) || len(args[i+1]) > 1 && args[i+1][0] == '-') {
			flags = append(flags, "-") // no file is named, as in the other commands
			continue
		}
		if i+1 == len(args) {
			return nil, usageErrorf("flag needs an argument: %s: see dsconv %s --help", a, name)
		}
		i++
		flags = append(flags, args[i])
	}
	// "--" keeps a file called "-x" an argument.
	if len(cmd.Subcommands) > 0 { // what is left is an unknown subcommand
		return args, nil
	}
	return slices.Concat(args[:first], flags, []string{"--"}, rest), nil
}

func takesValue(cmd *cli.Command, name string) bool {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false // unknown flag: urfave/cli returns an error; help and version take no value
}

// arguments returns the arguments and checks their number. names are their names for messages.
func arguments(cc *cli.Context, names ...string) ([]string, error) {
	args, err := argumentsOrMore(cc, names...)
	if err == nil && len(args) > len(names) {
		several := ""
		if len(names) > 0 && slices.Contains([]string{"DATASET", "SRC"}, names[len(names)-1]) {
			several = "; several folders are one dataset as NAME=PATH,NAME=PATH"
		}
		return nil, usageErrorf("one argument too many, %q: see dsconv %s --help%s%s", args[len(names)], fullName(cc), several, unquoted(args))
	}
	return args, err
}

// argumentsOrMore is arguments where the last one may be repeated.
func argumentsOrMore(cc *cli.Context, names ...string) ([]string, error) {
	args := cc.Args().Slice()
	if len(args) < len(names) {
		return nil, usageErrorf("%s is missing: see dsconv %s --help", names[len(args)], fullName(cc))
	}
	for i, arg := range args {
		if arg == "" { // for instance an unset variable in a script
			return nil, usageErrorf("%s is empty: see dsconv %s --help", names[min(i, len(names)-1)], fullName(cc))
		}
	}
	for i, name := range names {
		if i == len(names)-1 {
			i = len(args) - 1
		}
		if (name == "DST" || name == "DIR") && args[i] == "-" {
			return nil, usageErrorf("%s is -: what dsconv %s writes cannot go to standard output; ./- is a file or folder of that name", name, fullName(cc))
		}
	}
	return args, nil
}

// unquoted says what to do if the shell seems to have expanded a pattern: several files of one folder end alike. It is ""
// otherwise.
func unquoted(files []string) string {
	dir, ext := filepath.Dir(files[0]), filepath.Ext(files[0])
	for _, file := range files {
		if ext == "" || filepath.Dir(file) != dir || filepath.Ext(file) != ext || !durable.Exists(file) {
			return ""
		}
	}
	switch pattern := filepath.Join(dir, "*"+ext); {
	case len(files) < 2:
		return ""
	case slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}, strings.ToLower(ext)):
		return fmt.Sprintf("; if the shell expanded %s, give the folder %s instead, with --include '*%s'", pattern, dir, ext)
	default:
		return fmt.Sprintf("; if the shell expanded a pattern such as %s, quote the pattern: '%s'", pattern, pattern)
	}
}

// fullName returns the words of the command, without the program's.
func fullName(cc *cli.Context) string {
	return strings.TrimPrefix(cc.Command.HelpName, "dsconv ")
}

// maxCommandLine is the most bytes of a command line that are stored: it may have a thousand keys.
const maxCommandLine = 500

// commandLine returns the command line as it can be typed again, without --discard: with that it
// would not resume.
func (c *console) commandLine() string {
	words := []string{"dsconv"}
	for _, word := range c.args[1:] {
		if word != "--discard" {
			words = append(words, shellWord(word))
		}
	}
	text := strings.Join(words, " ")
	if len(text) > maxCommandLine {
		return strings.ToValidUTF8(text[:maxCommandLine], "") + " ..."
	}
	return text
}

// shellWord quotes s for a shell, if necessary.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(s, "'", `'\''`))
}

package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of a command before its arguments, because urfave/cli takes
// a flag that comes after an argument for another argument, without a word.
func flagsFirst(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args, nil
	}
	var flags, rest []string
	for i := 2; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
		flags = append(flags, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if hasValue || !takesValue(cmd, name) {
			continue
		}
		if i+1 == len(args) {
			return nil, usageErrorf("flag needs an argument: %s: see dsconv %s --help", a, cmd.Name)
		}
		i++
		flags = append(flags, args[i])
	}
	// "--" keeps a file called "-x" an argument.
	return slices.Concat(args[:2], flags, []string{"--"}, rest), nil
}

func takesValue(cmd *cli.Command, name string) bool {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false // unknown: urfave/cli says so; help and version take none
}

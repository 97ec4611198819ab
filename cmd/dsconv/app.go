package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"
)

// The exit codes of all commands.
const (
	exitDone    = 0 // all was done
	exitFailed  = 1 // the command failed
	exitUsage   = 2 // the command line is wrong
	exitSkipped = 3 // pack: done, but some inputs were skipped
)

const exitCodes = "Exit codes: 0 done, 1 failed, 2 wrong usage."

// usageError is an error of the command line.
type usageError struct{ error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSkipped makes a command exit with exitSkipped; it is not printed.
var errSkipped = errors.New("some inputs were skipped")

// run is the program: it carries out the command line args and gives its exit code.
func run(ctx context.Context, args []string, c *console) int {
	app := newApp(c)
	ctx = withCommandLine(ctx, args)
	args, err := flagsFirst(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	var wrong usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSkipped):
		return exitSkipped
	case errors.As(err, &wrong):
		c.printError(err)
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		c.printError(fmt.Errorf("%w%s", errInterrupted, hint(err)))
		return exitFailed
	}
	c.printError(err)
	return exitFailed
}

func newApp(c *console) *cli.App {
	app := &cli.App{
		Name:  "dsconv",
		Usage: "make a slow folder of images a dataset that training reads fast",
		Commands: []*cli.Command{
			synthCommand(c), packCommand(c), infoCommand(c), lsCommand(c), catCommand(c), verifyCommand(c), diffCommand(c), unpackCommand(c),
			addCommand(c), removeCommand(c), relabelCommand(c), mergeCommand(c), undoCommand(c),
			trainCommand(c), benchCommand(c),
		},
		Version:   versionText(),
		Writer:    c.out,
		ErrWriter: c.err,
		// A key or a file may have a comma in its name.
		DisableSliceFlagSeparator: true,
		// A command reports its own errors and exit code through run.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,
		Action: func(cc *cli.Context) error {
			if cc.Args().Present() {
				return usageErrorf("unknown command %q: dsconv --help lists the commands", cc.Args().First())
			}
			return cli.ShowAppHelp(cc)
		},
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = onUsageError
		cmd.HideHelpCommand = true
	}
	return app
}

func onUsageError(cc *cli.Context, err error, _ bool) error {
	name := "dsconv"
	if cc.Command != nil && cc.Command.Name != "" && cc.Command.Name != name {
		name += " " + cc.Command.Name
	}
	return usageErrorf("%w: see %s --help", err, name)
}

// arguments checks the number of arguments; names are what they are, for the message.
func arguments(cc *cli.Context, names ...string) ([]string, error) {
	return parseArguments(cc, false, names...)
}

// atLeast is arguments, where the last one may be given several times.
func parseArguments(cc *cli.Context, more bool, names ...string) ([]string, error) {
	args := cc.Args().Slice()
	if len(args) < len(names) {
		return nil, usageErrorf("%s is missing: see dsconv %s --help", names[len(args)], cc.Command.Name)
	}
	if len(args) > len(names) && !more {
		return nil, usageErrorf("one argument too many, %q: see dsconv %s --help", args[len(names)], cc.Command.Name)
	}
	for i, arg := range args {
		if arg == "" { // as of a variable of a script that is not set
			return nil, usageErrorf("%s is empty: see dsconv %s --help", names[min(i, len(names)-1)], cc.Command.Name)
		}
	}
	return args, nil
}

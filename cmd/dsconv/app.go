package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"
)

// run executes the command line args and returns the exit code.
func run(ctx context.Context, args []string, c *console) int {
	result := &resultWriter{Writer: c.out}
	c.out = result
	if len(args) > 2 && args[1] == completeCommand {
		printCompletions(c, newApp(c), args[2:])
		return exitDone
	}
	c.args = args
	app := newApp(c)
	args, err := flagsFirst(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	c.status.erase()
	if result.err != nil && (err == nil || errors.Is(err, errSkipped)) {
		err = fmt.Errorf("the command is done, but its result could not be printed: %w", result.err)
	}
	return exitCodeFor(ctx, c, err)
}

// newApp returns the program with all commands.
func newApp(c *console) *cli.App {
	cli.HelpPrinter = helpPrinter(c)
	app := &cli.App{
		Name:  "dsconv",
		Usage: "pack image folders into datasets that are fast to train on",
		Commands: []*cli.Command{
			synthCommand(c),
			packCommand(c),
			infoCommand(c),
			lsCommand(c),
			catCommand(c),
			verifyCommand(c),
			diffCommand(c),
			unpackCommand(c),
			addCommand(c),
			removeCommand(c),
			relabelCommand(c),
			mergeCommand(c),
			shardsCommand(c),
			trainCommand(c),
			benchCommand(c),
			planCommand(c),
			doctorCommand(c),
			completionCommand(c),
			manCommand(c),
		},
		Version:   versionText(),
		Writer:    c.out,
		ErrWriter: c.err,
		// A key or a file may have a comma in its name.
		DisableSliceFlagSeparator: true,
		// exitCodeFor prints errors and decides the exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,
		Action: func(cc *cli.Context) error {
			if cc.Args().Present() {
				return usageErrorf("unknown command %q: dsconv --help lists the commands", cc.Args().First())
			}
			return cli.ShowAppHelp(cc)
		},
	}
	prepare(app.Commands, c)
	return app
}

// prepare sets what commands and their subcommands have in common.
func prepare(commands []*cli.Command, c *console) {
	for _, cmd := range commands {
		cmd.OnUsageError = onUsageError
		cmd.Before = c.showListing
		cmd.HideHelpCommand = true
		hideFalse(cmd.Flags)
		prepare(cmd.Subcommands, c)
	}
}

// hideFalse drops "(default: false)" from the help of flags.
func hideFalse(flags []cli.Flag) {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
}

func onUsageError(cc *cli.Context, err error, _ bool) error {
	name := "dsconv"
	if cc.Command != nil && cc.Command.Name != "" && cc.Command.Name != name {
		name = cc.Command.HelpName
	}
	return usageErrorf("%w: see %s --help", err, name)
}

// Command dsconv packs folders of images into datasets that are fast to train on, edits and verifies
// them, trains on them and measures the speed.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/reader"
)

func main() {
	parallel.RaiseForC()
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	c := newConsole(os.Stdin, os.Stdout, os.Stderr)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once, so the terminal must be in order
		c.status.close()
	})
	code := run(ctx, os.Args, c)
	stop()
	os.Exit(code)
}

// stopSignals returns the signals that stop a command. A signal that was ignored when dsconv started
// stays ignored: shell scripts start background commands with SIGINT ignored, so that Ctrl-C stops
// only the script, and nohup ignores SIGHUP. A terminal that closes sends SIGHUP.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

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
		for _, f := range cmd.Flags {
			if b, ok := f.(*cli.BoolFlag); ok {
				b.DisableDefaultText = true // not "(default: false)" in the help
			}
		}
		prepare(cmd.Subcommands, c)
	}
}

func onUsageError(cc *cli.Context, err error, _ bool) error {
	name := "dsconv"
	if cc.Command != nil && cc.Command.Name != "" && cc.Command.Name != name {
		name = cc.Command.HelpName
	}
	return usageErrorf("%w: see %s --help", err, name)
}

// The exit codes of all commands.
const (
	exitDone    = 0
	exitFailed  = 1 // the command failed
	exitUsage   = 2 // the command line is wrong
	exitSkipped = 3 // done, but some inputs were skipped
	exitUnknown = 4 // diff and verify could not finish: what is compared may be equal or not
)

// exitCodes is the help text of commands that skip no inputs.
const exitCodes = "Exit codes: 0 done, 1 failed, 2 wrong usage."

// usageError is an error of the command line.
type usageError struct{ error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage makes an error about what was asked for a usageError.
func asUsage(err error) error {
	if errors.Is(err, convert.ErrOptions) {
		return usageError{err}
	}
	return err
}

// foundError is the result of a check: damage, or a difference.
type foundError struct{ error }

func (e foundError) Unwrap() error { return e.error }

// uncheckedError is the error of a check that has no result.
type uncheckedError struct{ error }

func (e uncheckedError) Unwrap() error { return e.error }

// asCheck tells the result of a check from an error that left it without one.
func asCheck(err error) error {
	var found foundError
	var wrong usageError
	if err == nil || errors.As(err, &found) || errors.As(err, &wrong) {
		return err
	}
	return uncheckedError{err}
}

// errSkipped makes a command exit with exitSkipped. It is not printed.
var errSkipped = errors.New("some inputs were skipped")

// exitCodeFor prints a command's error, if any, and returns the exit code.
func exitCodeFor(ctx context.Context, c *console, err error) int {
	var wrong usageError
	failed := exitFailed
	if errors.As(err, &uncheckedError{}) {
		failed = exitUnknown
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSkipped):
		return exitSkipped
	case errors.As(err, &wrong):
		c.printError(err)
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		var stopped stoppedError
		errors.As(err, &stopped)
		err = stoppedError{errInterrupted, stopped.hint}
	}
	c.printError(err)
	return failed
}

var errInterrupted = errors.New("interrupted")

// errorLines returns the text of an error as lines. Lines end between joined errors and before a
// hint. A newline anywhere else comes from a name and is escaped.
func errorLines(err error) []string {
	text := err.Error()
	var inner []string
	core := text
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, one := range joined.Unwrap() {
			texts = append(texts, one.Error())
			inner = append(inner, errorLines(one)...)
		}
		core = strings.Join(texts, "\n")
	} else if one := errors.Unwrap(err); one != nil {
		core, inner = one.Error(), errorLines(one)
	}
	before, after, found := strings.Cut(text, core)
	if inner == nil || !found || core == "" {
		return []string{legible.Line(text)}
	}
	inner[0] = legible.Line(before) + inner[0]
	after, hint, more := strings.Cut(after, "\n")
	inner[len(inner)-1] += legible.Line(after)
	if more {
		inner = append(inner, legible.Line(hint))
	}
	return inner
}

// withHint adds to the error of a run that writes a dataset at path what the user can do.
func withHint(err error, path string) error {
	switch {
	case errors.Is(err, formats.ErrExists):
		return fmt.Errorf("%w (--force)", err)
	case errors.Is(err, convert.ErrSourceChanged):
		return fmt.Errorf("%w\nrestore the source as it was, or start over with --discard", err)
	case errors.Is(err, convert.ErrCannotResume):
		return fmt.Errorf("%w\nrepeat the command that started it, or start over with --discard", err)
	case errors.Is(err, formats.ErrPartial), errors.Is(err, formats.ErrLocked), errors.Is(err, formats.ErrNotBuilt),
		errors.Is(err, formats.ErrForeign):
		return err
	}
	if formats.Unreadable(err) {
		err = fmt.Errorf("%w\nnothing was left out for it: mend the disk, the mount or the rights", err)
	}
	return stoppedError{err, resumeHint(path)}
}

// withSampleHint adds to the error of loading samples what the user can do about a bad one.
func withSampleHint(err error) error {
	if !errors.Is(err, reader.ErrBadSample) {
		return err
	}
	return fmt.Errorf("%w\n--on-error skip leaves such images out, --on-error substitute loads others in their place; "+
		"dsconv verify names all bad ones of a dataset, dsconv pack those of a folder", err)
}

// stoppedError is the error of a command that can be resumed as hint says; "" if nothing is left to resume.
type stoppedError struct {
	error
	hint string
}

func (e stoppedError) Unwrap() error { return e.error }

func (e stoppedError) Error() string { return e.error.Error() + e.hint }

// resumeHint says how to resume the pack or edit of the dataset at path, if it is unfinished.
func resumeHint(path string) string {
	if !durable.IsDir(path + sidecar.PartialSuffix) {
		return ""
	}
	return fmt.Sprintf("\n%s%s is unfinished: repeat the command to resume from its last checkpoint, or start over with --discard",
		path, sidecar.PartialSuffix)
}

// What the linker sets: the version in builds without a module version, such as a wheel, and the commit with its date where Go does not
// record them.
var release, commit string

// version returns the version of this build, "devel" for a checkout.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// buildVersion returns the version and, where they are known, the commit and its date: two builds of one text write the same bytes.
func buildVersion() string {
	if source := cmp.Or(commit, recordedCommit()); source != "" {
		return version() + " (" + source + ")"
	}
	return version()
}

// recordedCommit returns the commit that Go recorded when it built this program, "" if it did not.
func recordedCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	if len(of["vcs.revision"]) < 12 {
		return ""
	}
	day, _, _ := strings.Cut(of["vcs.time"], "T")
	text := of["vcs.revision"][:12] + " of " + day
	if of["vcs.modified"] == "true" {
		text += ", changed"
	}
	return text
}

// versionText is the text of --version: the build, and why its JPEGs are slow.
func versionText() string {
	why := jpeg.SlowJPEG()
	if why == "" {
		return buildVersion()
	}
	return buildVersion() + "\nJPEGs are decoded slowly: " + why
}

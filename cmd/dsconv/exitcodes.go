package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/convert"
)

// The exit codes of all commands.
const (
	exitDone    = 0
	exitFailed  = 1 // the command failed
	exitUsage   = 2 // the command line is wrong
	exitSkipped = 3 // done, but some inputs were skipped
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

// errSkipped makes a command exit with exitSkipped. It is not printed.
var errSkipped = errors.New("some inputs were skipped")

// exitCodeFor prints a command's error, if any, and returns the exit code.
func exitCodeFor(ctx context.Context, c *console, err error) int {
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
		var stopped stoppedError
		errors.As(err, &stopped)
		err = stoppedError{errInterrupted, stopped.hint}
	}
	c.printError(err)
	return exitFailed
}

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

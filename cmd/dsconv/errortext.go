package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/reader"
)

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

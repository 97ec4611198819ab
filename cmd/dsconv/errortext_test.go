package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

// A name never ends a line of an error; joined errors and hints do.
func TestLinesOfErrors(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "a\nb", Err: fs.ErrNotExist}
	const open = `open a\nb: file does not exist`
	for _, c := range []struct {
		err  error
		want []string
	}{
		{errors.New("x\ny\x1b[31m\xff"), []string{`x\ny\x1b[31m\xff`}},
		{missing, []string{open}},
		{usageError{missing}, []string{open}},
		{fmt.Errorf("pack %s: %w", "c\nd", missing), []string{`pack c\nd: ` + open}},
		{errors.Join(missing, errors.New("two")), []string{open, "two"}},
		{fmt.Errorf("close: %w", errors.Join(missing, errors.New("two"))), []string{"close: " + open, "two"}},
		{fmt.Errorf("%w\n%s is unchanged", fmt.Errorf("%w: %w", fs.ErrExist, missing), "e\nf"), []string{"file already exists: " + open, `e\nf is unchanged`}},
		{fmt.Errorf("%w: %w", errors.New("g\nh"), missing), []string{`g\nh: ` + open}},
		{fmt.Errorf("%w%s", errInterrupted, "\ni\nj goes on"), []string{"interrupted", `i\nj goes on`}},
		{fmt.Errorf("nothing of %w%s", errors.New(""), ""), []string{"nothing of "}},
	} {
		if got := errorLines(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.err, got, c.want)
		}
	}
}

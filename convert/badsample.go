package convert

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Action is what happened to an input that the report names.
type Action string

// What happened to an input.
const (
	ActionSkipped Action = "skipped"
	ActionWritten Action = "written" // with a warning
	ActionKept    Action = "kept"    // a new version has the sample as the one before had it
	ActionFailed  Action = "failed"  // its error ended the run
)

// handleBad handles a bad sample as Options say: it returns an error that ends the run, or lists it as
// skipped or writes what the version before had. An error that is not the sample's fault always ends the run.
func (r *run) handleBad(j *job, path string) error {
	if errors.Is(j.err, context.Canceled) {
		return fmt.Errorf("%s: %w", path, j.err)
	}
	bad := Problem{Path: path, Cause: r.nameFile(j.pos, j.err.Error()), Action: ActionSkipped}
	if r.growing != nil && j.in.Key != "" && j.in.Key != path { // path is only its number
		bad.Cause = j.in.Key + ": " + bad.Cause
	}
	if r.o.OnError == Fail || endsRun(j.err) || r.isReady(r.order.at(j.pos)) {
		bad.Action = ActionFailed
		r.report.Failure = &bad
		return fmt.Errorf("%s: %w", path, namedError{bad.Cause, j.err})
	}
	if r.fallback != nil && r.fallback(r.order.at(j.pos)) {
		if err := r.readReady(j); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.state.KeptSpans = addPosition(r.state.KeptSpans, j.pos, bad.Cause)
		return nil
	}
	r.state.SkippedSpans = addPosition(r.state.SkippedSpans, j.pos, bad.Cause)
	r.state.skips++
	if r.part {
		return nil // the whole is judged when its parts are joined
	}
	return r.limit.Check(r.state.skips, r.unready, path+": "+bad.Cause)
}

// readReady reads the sample of j again, which is ready now.
func (r *run) readReady(j *job) error {
	j.err = guard.Do(func() error {
		err := r.readSample(j, &j.in)
		if err == nil {
			j.bytesIn = int64(len(j.in.Values[r.schema.ImageIndex()].Data))
			r.pass(j)
		}
		return err
	})
	return j.err
}

// checkWritten returns an error if all samples are bad: then the source is not what it was taken for.
func (r *run) checkWritten() error {
	if r.part || r.state.Written > 0 || r.Kept() > 0 {
		return nil
	}
	first := r.skipped()
	if len(first) == 0 {
		return nil
	}
	return fmt.Errorf("%s: none of the %d images can be packed, and nothing is published; the first is %s: %s", r.Path, len(first), first[0].Path, first[0].Cause)
}

// namedError is an error that names the file at fault.
type namedError struct {
	said string
	error
}

func (e namedError) Error() string { return e.said }
func (e namedError) Unwrap() error { return e.error }

// endsRun reports whether err is not about one image, or says nothing about its bytes.
func endsRun(err error) bool {
	if errors.As(err, &contractError{}) || pixel.EndsRun(err) || formats.Unreadable(err) || errors.Is(err, formats.ErrClosed) {
		return true
	}
	panicked := new(guard.PanicError)
	return errors.As(err, &panicked) && panicked.Foreign
}

// filed is a source in which fields of samples are files of their own: folder.Dataset.
type filed interface {
	FieldFile(i, k int) (path string)
}

// nameFile adds the file to what is said of a field of the sample at a position, "field mask: it is damaged", unless it is
// the image, whose path is named already.
func (r *run) nameFile(pos int, said string) string {
	src, ok := r.src.(filed)
	rest, of := strings.CutPrefix(said, "field ")
	name, rest, cut := strings.Cut(rest, ": ")
	if !ok || !of || !cut {
		return said
	}
	k := r.src.Meta().Schema.Index(name)
	if k < 0 {
		return said
	}
	path := src.FieldFile(r.order.at(pos), k)
	if path == "" || strings.Contains(rest, path) {
		return said
	}
	return "field " + name + ": " + path + ": " + rest
}

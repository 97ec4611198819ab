package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/unblocked"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Action is what happened to an input that the report names.
type Action string

// What happened to an input.
const (
	ActionSkipped     Action = "skipped"
	ActionQuarantined Action = "quarantined" // skipped, and copied to Options.Quarantine
	ActionWritten     Action = "written"     // with a warning
	ActionKept        Action = "kept"        // a new version has the sample as the one before had it
	ActionFailed      Action = "failed"      // its error ended the run
)

// handleBad handles a bad sample as Options say: it returns an error that ends the run, or copies it to the quarantine
// folder, and lists it as skipped or writes what the version before had. An error that is not the sample's fault always ends
// the run.
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
	if r.o.Quarantine != "" {
		copied, err := r.quarantine(j, path)
		if err != nil {
			return fmt.Errorf("quarantine %s: %w", path, err)
		}
		if copied {
			bad.Action = ActionQuarantined
		}
	}
	if r.fallback != nil && r.fallback(r.order.at(j.pos)) {
		if err := r.readReady(j); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.state.KeptSpans = addPosition(r.state.KeptSpans, j.pos, bad.Cause)
		return nil
	}
	r.state.addSkipped(j.pos, bad.Cause, bad.Action)
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

// hasImage reports whether the image of a sample was read before another field was not.
func hasImage(schema formats.Schema, s *formats.Sample) bool {
	return len(s.Values) == len(schema) && len(s.Values[schema.ImageIndex()].Data) > 0
}

// quarantine copies the source's bytes, and the files of the sample's fields, to files of the same relative paths.
// copied is false if the image cannot be read; that another field cannot does not matter. A copy from before a resume is left as it is.
func (r *run) quarantine(j *job, path string) (copied bool, err error) {
	if r.growing != nil {
		return false, nil // it gives a sample once
	}
	dropValues(&j.in) // the sample is not in memory twice
	var s formats.Sample
	if err := guard.Do(func() error { return r.readSample(j, &s) }); err != nil && !hasImage(r.schema, &s) {
		return false, nil
	}
	if err := r.copyAside(path, s.Values[r.schema.ImageIndex()].Data); err != nil {
		return false, err
	}
	return true, r.quarantineFields(j.pos)
}

// copyAside writes a file of the source to the quarantine folder, at the same relative path.
func (r *run) copyAside(path string, data []byte) error {
	rel, err := filepath.Localize(path)
	if err != nil {
		return fmt.Errorf("its path is not inside the folder: %w", err)
	}
	to := filepath.Join(r.o.Quarantine, rel)
	switch was, err := unblocked.ReadFile(to); {
	case err == nil && bytes.Equal(was, data):
		return nil
	case err == nil:
		return fmt.Errorf("%s exists with other content: choose another quarantine folder", to)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(to, data)
}

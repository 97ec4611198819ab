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
	"github.com/dsconv/dsconv/preprocess"
)

// What became of an input that a table names.
const (
	ActionSkipped     = "skipped"
	ActionQuarantined = "quarantined" // skipped, and copied to Options.Quarantine
	ActionWritten     = "written"     // though something is odd about it
	ActionFailed      = "failed"      // it ended the run
)

// refuse does with a bad sample what Options say: it ends the run, or it is named among the
// skipped and, if wanted, copied aside. What is no fault of the sample's ends the run.
func (r *run) handleBad(j *job, path string) error {
	if errors.Is(j.err, context.Canceled) {
		return fmt.Errorf("%s: %w", path, j.err)
	}
	bad := Skip{Path: path, Cause: j.err.Error(), Action: ActionSkipped}
	if r.o.Fail || preprocess.EndsRun(j.err) || r.isReady(int(r.order[j.pos])) {
		bad.Action = ActionFailed
		r.report.Failure = &bad
		return fmt.Errorf("%s: %w", path, j.err)
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
	r.state.Skipped = append(r.state.Skipped, bad)
	return nil
}

// quarantine copies the source's bytes to a file of the same relative path. What cannot be
// read cannot be copied. A run that goes on meets its own copies again.
func (r *run) quarantine(j *job, path string) (copied bool, err error) {
	var s formats.Sample
	if err := guard.Do(func() error { return r.src.Read(int(r.order[j.pos]), &s) }); err != nil {
		return false, nil //nolint:nilerr // it is named as skipped, with the cause
	}
	rel, err := filepath.Localize(path)
	if err != nil {
		return false, fmt.Errorf("its path leads out of the folder: %w", err)
	}
	to, data := filepath.Join(r.o.Quarantine, rel), s.Values[r.schema.ImageIndex()].Data
	switch was, err := os.ReadFile(to); {
	case err == nil && bytes.Equal(was, data):
		return true, nil
	case err == nil:
		return false, fmt.Errorf("another file is at %s already: choose another folder", to)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, err
	}
	return true, durable.WriteFile(to, data)
}

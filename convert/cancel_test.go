package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// cancelled is the report and the error of a run that its first Progress cancels.
func cancelled(t *testing.T, src formats.Dataset, path string, o Options) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Workers, o.IOWorkers = 1, 1
	o.Progress = func(Progress) { cancel() }
	return Run(ctx, src, tfrecord.Format{}, path, o)
}

// TestCancelledRunSaysWhatItKeeps: Resumable is what the next run resumes; the error says how far it came.
func TestCancelledRunSaysWhatItKeeps(t *testing.T) {
	src := newMemory(t, 20, 0)
	for _, checkpoint := range []int64{0, 1} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		r, err := cancelled(t, src, path, Options{Checkpoint: checkpoint})
		done := r.Found - r.NotReached
		if want := fmt.Sprintf("%s: stopped at %d of 20: context canceled", path, done); err == nil || err.Error() != want || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %s", err, want)
		}
		if r.Resumable != done {
			t.Errorf("Checkpoint %d: %d of %d are resumable", checkpoint, r.Resumable, done)
		}
		next, err := Run(t.Context(), src, tfrecord.Format{}, path, Options{Checkpoint: checkpoint})
		if err != nil || next.Resumed != r.Resumable || next.Resumable != 0 || next.Written != 20 {
			t.Errorf("Checkpoint %d: %v; %d were resumed, %d resumable, %d written; want %d resumed", checkpoint, err, next.Resumed, next.Resumable, next.Written, r.Resumable)
		}
	}
}

// TestCannotResumeNamesDiscard: a program is told the option, a command says its flag itself.
func TestCannotResumeNamesDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	src := newMemory(t, 20, 0)
	if _, err := cancelled(t, src, path, Options{Checkpoint: 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"": true, "dsconv pack": false} {
		_, err := Run(t.Context(), src, tfrecord.Format{}, path, Options{Checkpoint: 1, Limit: 10, Command: command})
		if !errors.Is(err, ErrCannotResume) || strings.Contains(err.Error(), "Options.Discard") != want {
			t.Errorf("command %q: %v", command, err)
		}
	}
}

// TestMissingFolder: the error says it once.
func TestMissingFolder(t *testing.T) {
	_, err := Run(t.Context(), newMemory(t, 3, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "no", "x.tfrecord"), Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "create the folder first") {
		t.Error(err)
	}
}

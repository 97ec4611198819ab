package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/preprocess"
)

// unbuilt is a format whose writer is missing in this build.
type unbuilt struct{ shard.Format }

func (unbuilt) Built() error { return fmt.Errorf("writing it is %w", formats.ErrNotBuilt) }

// stranger is a Dataset of somebody else, which breaks the contract where a function is set.
type stranger struct {
	*memory
	info func(i int, in *formats.Info) error
	read func(i int, s *formats.Sample) error
}

func (d stranger) Info(i int) (formats.Info, error) {
	in, err := d.memory.Info(i)
	if d.info != nil {
		err = errors.Join(err, d.info(i, &in))
	}
	return in, err
}

func (d stranger) Read(i int, s *formats.Sample) error {
	err := d.memory.Read(i, s)
	if d.read != nil {
		err = errors.Join(err, d.read(i, s))
	}
	return err
}

// TestNewNamesNonsense: what cannot be meant is an ErrOptions that names it, and nothing is written.
func TestNewNamesNonsense(t *testing.T) {
	src, tar := newMemory(t, 10, 0), shard.Format{}
	none := newMemory(t, 10, 0)
	none.meta.Schema = nil
	in := func(change func(in *formats.Info)) formats.Dataset {
		return stranger{memory: src, info: func(i int, in *formats.Info) error {
			if i == 5 {
				change(in)
			}
			return nil
		}}
	}
	type options = Options
	for want, c := range map[string]struct {
		ctx  context.Context
		src  formats.Dataset
		f    formats.WritableFormat
		path string
		options
	}{
		"the context, the source or the fo":  {src: src, f: tar},
		"the source or the format is nil":    {ctx: t.Context(), f: tar},
		"panic":                              {ctx: t.Context(), src: (*stranger)(nil), f: tar},
		"no field of kind image":             {ctx: t.Context(), src: none, f: tar},
		"or the format is nil":               {ctx: t.Context(), src: src},
		"path of the output is empty":        {ctx: t.Context(), src: src, f: tar, path: "-"},
		"no samples are selected":            {ctx: t.Context(), src: newMemory(t, 0, 0), f: tar},
		`"k00004" follows "k00004"`:          {ctx: t.Context(), src: in(func(in *formats.Info) { in.Key = "k00004" }), f: tar},
		"sample 5 of the source: bad key":    {ctx: t.Context(), src: in(func(in *formats.Info) { in.Key = "../x" }), f: tar},
		"Options.Limit is -1":                {options: Options{Limit: -1}},
		"Options.Workers is -3":              {options: Options{Workers: -3}},
		"Options.IOWorkers is -2":            {options: Options{IOWorkers: -2}},
		"Options.Checkpoint is -1":           {options: Options{Checkpoint: -1}},
		"Options.Shards.Size is -1":          {options: Options{Shards: Sharding{Size: -1}}},
		"Options.Shards.Count is -4":         {options: Options{Shards: Sharding{Count: -4}}},
		"Options.Shards.Min is -1":           {options: Options{Shards: Sharding{Min: -1}}},
		"Options.Create.Zstd is -1":          {options: Options{Create: formats.CreateOptions{Zstd: -1}}},
		"Count is 2 and Options.Shards.Size": {options: Options{Shards: Sharding{Count: 2, Size: 5}}},
		`Options.OnError is "stop"`:          {options: Options{OnError: "stop"}},
		`Options.Order: order "random"`:      {options: Options{Order: "random"}},
		`Options.Split: split "a=2"`:         {options: Options{Split: "a=2"}},
		`no column of that name`:             {options: Options{Split: "nope"}},
		`the split "vall"`:                   {options: Options{Split: "train=0.5,val=0.5", Only: []string{"train", "vall"}}},
		"[":                                  {options: Options{Patterns: formats.Patterns{Include: []string{"["}}}},
		"x.tar is one file":                  {options: Options{Shards: Sharding{Count: 2}}},
		"zstd":                               {f: tfrecord.Format{}, options: Options{Create: formats.CreateOptions{Zstd: 3}}},
		"quality":                            {options: Options{Recipe: preprocess.Recipe{Encode: resized.Encode, Resize: preprocess.Resize{Mode: "sideways"}}}},
	} {
		t.Run(want, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.tar")
			if c.path == "-" {
				path = ""
			}
			if strings.Contains(want, "Options") || c.ctx == nil && c.src == nil {
				c.ctx, c.src = t.Context(), src
				if c.f == nil {
					c.f = tar
				}
			}
			p, err := New(c.ctx, c.src, c.f, path, c.options)
			if p != nil || !errors.Is(err, ErrOptions) || want != "quality" && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", p, err)
			}
			r, again := Run(c.ctx, c.src, c.f, path, c.options)
			if r == nil || again == nil || again.Error() != err.Error() && want != "panic" {
				t.Errorf("Run: %+v, %v", r, again)
			}
			wantEmpty(t, dir)
		})
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
}

// TestRunBeforeAnythingIsWritten: what a run needs is checked first.
func TestRunBeforeAnythingIsWritten(t *testing.T) {
	src, dir := newMemory(t, 10, 0), t.TempDir()
	if _, err := New(t.Context(), src, unbuilt{}, filepath.Join(dir, "x.tar"), Options{}); !errors.Is(err, formats.ErrNotBuilt) {
		t.Errorf("a format without its writer: %v", err)
	}
	missing := filepath.Join(dir, "no", "such")
	if r, err := Run(t.Context(), src, shard.Format{}, filepath.Join(missing, "x.tar"), Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || r.NotReached != 10 {
		t.Errorf("a missing folder: %v", err)
	}
	p := plan(t, src, shard.Format{}, filepath.Join(dir, "x.tar"), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	if _, err := New(ctx, src, shard.Format{}, filepath.Join(dir, "x.tar"), Options{}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrOptions) {
		t.Errorf("planning is cancelled: %v", err)
	}
	if head, err := p.Head(-1); err != nil || len(head) > 0 {
		t.Errorf("the first -1 samples: %v, %v", head, err)
	}
	if _, err := NewVersion(t.Context(), nil, Version{}, shard.Format{}, "x.tar", Options{}); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "the source") {
		t.Errorf("a new version of nothing: %v", err)
	}
	if _, err := NewVersion(t.Context(), src, Version{}, shard.Format{}, "x.tar", Options{Workers: -3}); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "-3") {
		t.Errorf("a new version by -3 workers: %v", err)
	}
	if err := WriteTable("", nil); err == nil {
		t.Error("a table without a path is written")
	}
	wantEmpty(t, dir)
}

// TestNotReachedIsNotFailed: the samples behind the end of a run are counted as such.
func TestNotReachedIsNotFailed(t *testing.T) {
	src := newMemory(t, 100, 7)
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := Run(ctx, src, tfrecord.Format{}, path, Options{Progress: func(Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) || r.Failed != 0 || r.NotReached == 0 || r.Found != 100 || r.Found != r.Written+len(r.Skipped)+r.NotReached {
		t.Errorf("cancelled: %v: %+v", err, r)
	}
	r, err = Run(t.Context(), src, tfrecord.Format{}, path, Options{OnError: Fail, Order: KeyOrder, Discard: true})
	if err == nil || r.Failed != 1 || r.Written != 6 || r.NotReached != 93 || r.Failure.Path != "k00006.jpg" {
		t.Errorf("failed: %v: %+v", err, r)
	}
	if r, err = Run(t.Context(), src, tfrecord.Format{}, path, Options{Order: KeyOrder, Discard: true, MaxSkipped: "20%"}); err != nil || r.NotReached != 0 || r.Failed != 0 {
		t.Errorf("complete: %v: %+v", err, r)
	}
}

// TestProgressPanics: a panic of the callback is the run's error, wherever it comes, and the dataset is
// complete or can be resumed.
func TestProgressPanics(t *testing.T) {
	src := newMemory(t, 100, 0)
	for name, when := range map[string]func(Progress) bool{
		"first": func(Progress) bool { return true },
		"last":  func(p Progress) bool { return p.Done == p.Total },
	} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		_, err := Run(t.Context(), src, tfrecord.Format{}, path, Options{Progress: func(p Progress) {
			if p.Path != path || p.Total != 100 {
				t.Errorf("progress: %+v", p)
			}
			if when(p) {
				panic("a bug of the caller")
			}
		}})
		if err == nil || strings.Count(err.Error(), "Options.Progress panicked: a bug of the caller") != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := Run(t.Context(), src, tfrecord.Format{}, path, Options{Create: formats.CreateOptions{Replace: true}}); err != nil || r.Written != 100 {
			t.Errorf("%s: afterwards %v, %+v", name, err, r)
		}
	}
}

// TestClosedSourceEndsTheRun: the samples of a source that is closed meanwhile are not skipped.
func TestClosedSourceEndsTheRun(t *testing.T) {
	var closed atomic.Bool
	src := stranger{memory: newMemory(t, 100, 0), read: func(i int, _ *formats.Sample) error {
		if i == 40 {
			closed.Store(true)
		}
		if closed.Load() {
			return fmt.Errorf("memory: %w", formats.ErrClosed)
		}
		return nil
	}}
	r, err := Run(t.Context(), src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder})
	if !errors.Is(err, formats.ErrClosed) || len(r.Skipped) > 0 || r.Failed != 1 || r.Failure == nil || !strings.Contains(err.Error(), r.Failure.Path) {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestImageWithoutData: it is a bad image, which is skipped, or ends the run.
func TestImageWithoutData(t *testing.T) {
	src := stranger{memory: newMemory(t, 30, 0), read: func(i int, s *formats.Sample) error {
		if i == 11 {
			s.Values[0].Data = nil
		}
		return nil
	}}
	dir := t.TempDir()
	r, err := Run(t.Context(), src, tfrecord.Format{}, filepath.Join(dir, "x.tfrecord"), Options{})
	if err != nil || len(r.Skipped) != 1 || r.Skipped[0].Path != "k00011.jpg" || !strings.Contains(r.Skipped[0].Cause, "no data") {
		t.Errorf("%v: %+v", err, r.Skipped)
	}
	r, err = Run(t.Context(), src, tfrecord.Format{}, filepath.Join(dir, "y.tfrecord"), Options{OnError: Fail})
	if err == nil || !strings.Contains(err.Error(), "k00011") || !strings.Contains(err.Error(), "no data") || r.Failed != 1 {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestSourceFailsLater: an Info that fails or panics once the run has begun is the run's error.
func TestSourceFailsLater(t *testing.T) {
	for _, fail := range []func() error{func() error { return errors.New("a bug") }, func() error { panic("a bug") }} {
		var running atomic.Bool
		src := stranger{memory: newMemory(t, 30, 4), info: func(int, *formats.Info) error {
			if running.Load() {
				return fail()
			}
			return nil
		}}
		p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Progress: func(Progress) { running.Store(true) }})
		if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("%v", err)
		}
	}
}

// TestTwoRunsOfOnePlan: one writes, the others return an error.
func TestTwoRunsOfOnePlan(t *testing.T) {
	var p *Plan
	inside := 0
	p = plan(t, newMemory(t, 30, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Progress: func(Progress) {
		if inside++; inside == 1 {
			if _, err := p.Run(t.Context()); !errors.Is(err, formats.ErrLocked) {
				t.Errorf("while it runs: %v", err)
			}
		}
	}})
	if r, err := p.Run(t.Context()); err != nil || r.Written != 30 {
		t.Fatalf("%v: %+v", err, r)
	}
	if _, err := p.Run(t.Context()); !errors.Is(err, formats.ErrExists) {
		t.Errorf("afterwards: %v", err)
	}
}

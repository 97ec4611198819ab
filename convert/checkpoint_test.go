package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// each calls do for each format, with the name of a dataset.
func each(t *testing.T, do func(t *testing.T, f formats.WritableFormat, name string)) {
	for name, f := range map[string]formats.WritableFormat{
		"x.lmdb": lmdb.Format{}, "x.h5": hdf5.Format{}, "x-%d.tar": shard.Format{}, "x.tar.zst": shard.Format{}, "x.tfrecord": tfrecord.Format{},
	} {
		if formats.CheckBuilt(f) != nil {
			continue
		}
		t.Run(name, func(t *testing.T) { do(t, f, name) })
	}
}

// content is all files below a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The plan has one checkpoint, in the middle.
const stopAfter, middle, all = 7, 50, 100

func shardsOf(name string) Sharding {
	if strings.Contains(name, "%") {
		return Sharding{Count: 3}
	}
	return Sharding{}
}

// TestStopsKeepAllThatWasDone: a run that is stopped again and again, each time after a few samples, goes on where it stopped
// and has the bytes of an undisturbed one.
func TestStopsKeepAllThatWasDone(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		src, o := newMemory(t, all, 13), Options{Shards: shardsOf(name), Workers: 2}
		want := t.TempDir()
		p := plan(t, src, f, filepath.Join(want, name), o)
		p.interval = middle
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		dir, resumed, runs := t.TempDir(), 0, 0
		for {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o.Progress = func(p Progress) {
				if p.Done > p.Resumed {
					cancel()
				}
			}
			p := plan(t, src, f, filepath.Join(dir, name), o)
			p.interval = middle
			r, err := p.Run(ctx)
			if r.Resumed != resumed {
				t.Fatalf("run %d resumed at %d, the one before stopped at %d", runs, r.Resumed, resumed)
			}
			if runs++; err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || r.Resumable <= resumed || strings.Contains(err.Error(), "kept") {
				t.Fatalf("run %d: %v, %d resumable", runs, err, r.Resumable)
			}
			resumed = r.Resumable
		}
		if runs < 3 {
			t.Errorf("only %d runs", runs)
		}
		if !reflect.DeepEqual(content(t, dir), content(t, want)) {
			t.Error("other bytes than an undisturbed run")
		}
	})
}

// copiesAt copies the unfinished dataset when the sample after the first few is written.
type copiesAt struct {
	formats.WritableFormat
	do func()
}

func (f copiesAt) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := f.WritableFormat.Create(path, m, o)
	return &copyingWriter{Writer: w, do: f.do}, err
}

type copyingWriter struct {
	formats.Writer
	do func()
	n  int
}

func (w *copyingWriter) Write(s *formats.Sample) error {
	if w.n++; w.n == stopAfter+1 {
		w.do()
	}
	return w.Writer.Write(s)
}

func (w *copyingWriter) EndShard() error { return w.Writer.(formats.ShardEnder).EndShard() }

func (w *copyingWriter) Save(note []byte) error {
	if s, ok := w.Writer.(formats.Saver); ok {
		return s.Save(note)
	}
	return w.Checkpoint(note)
}

// TestKillsLoseWhatIsYoung: what was kept between two checkpoints survives a kill, which a copy of the unfinished dataset
// simulates.
func TestKillsLoseWhatIsYoung(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		src, o := newMemory(t, all, 0), Options{Shards: shardsOf(name)}
		dir, killed := t.TempDir(), t.TempDir()
		kill := func() {
			partial := name + sidecar.PartialSuffix
			if err := os.CopyFS(filepath.Join(killed, partial), os.DirFS(filepath.Join(dir, partial))); err != nil {
				t.Error(err)
			}
		}
		p := plan(t, src, copiesAt{f, kill}, filepath.Join(dir, name), o)
		p.interval, p.saveEvery = middle, 0
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		p = plan(t, src, f, filepath.Join(killed, name), o)
		p.interval = middle
		if r, err := p.Run(t.Context()); err != nil || r.Resumed != stopAfter {
			t.Errorf("resumed at %d, killed at %d: %v", r.Resumed, stopAfter, err)
		}
		if !reflect.DeepEqual(content(t, dir), content(t, killed)) {
			t.Error("other bytes than an undisturbed run")
		}
	})
}

// failingSaver is a Writer that can't keep what it wrote when a run stops.
type failingSaver struct{ formats.Writer }

func (failingSaver) Save([]byte) error { return errors.New("no space") }

type failingSaves struct{ formats.WritableFormat }

func (f failingSaves) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := f.WritableFormat.Create(path, m, o)
	return failingSaver{w}, err
}

// TestStopSaysWhatIsLost: the message of a run that could not keep what it did is true.
func TestStopSaysWhatIsLost(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Workers: 1, IOWorkers: 1, Progress: func(Progress) { cancel() }}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	r, err := plan(t, newMemory(t, 20, 0), failingSaves{tfrecord.Format{}}, path, o).Run(ctx)
	want := fmt.Sprintf("stopped at %d of 20, of which 0 are kept", r.Written)
	if err == nil || !strings.Contains(err.Error(), want) || r.Resumable != 0 {
		t.Errorf("%v, %d resumable; want %q", err, r.Resumable, want)
	}
}

// grownSource is a memory whose samples of the indices that later chooses are not there yet.
func grownSource(t *testing.T, src *memory, later func(i int) bool) *listedSamples {
	t.Helper()
	d := &listedSamples{Dataset: src}
	for i := range src.Len() {
		if !later(i) {
			if err := d.at.add(i, src.Len()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// TestGrownSourceIsResumed: an unfinished dataset is finished with the samples that it was begun with, and the others are
// named, unless they decide what is packed.
func TestGrownSourceIsResumed(t *testing.T) {
	src := newMemory(t, 120, 0)
	later := func(i int) bool { return i%7 == 3 }
	for name, c := range map[string]struct {
		o       Options
		refused bool
	}{
		"shuffled": {}, "key order": {o: Options{Order: KeyOrder}}, "shares": {o: Options{Split: "train=0.9,val=0.1"}},
		"limit": {o: Options{Limit: 40}}, "sample": {o: Options{Sample: 30}}, "column": {o: Options{Split: "part"}},
		"part of the split": {o: Options{Split: "train=0.5,val=0.5", Only: []string{"val"}}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			before := grownSource(t, src, later)
			want, dir := t.TempDir(), t.TempDir()
			if _, err := Run(t.Context(), before, tfrecord.Format{}, filepath.Join(want, "x.tfrecord"), c.o); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "x.tfrecord")
			if _, err := cancelled(t, before, path, c.o); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), src, tfrecord.Format{}, path, c.o)
			if c.refused {
				if !errors.Is(err, ErrSourceChanged) {
					t.Errorf("%v, want ErrSourceChanged", err)
				}
				return
			}
			if err != nil || r.Resumed == 0 || len(r.AddedLater) == 0 || r.Found != r.Written {
				t.Fatalf("%v, %d resumed, %d written of %d, added: %q", err, r.Resumed, r.Written, r.Found, r.AddedLater)
			}
			if !reflect.DeepEqual(content(t, dir), content(t, want)) {
				t.Error("other bytes than a pack of the source as it was")
			}
		})
	}
}

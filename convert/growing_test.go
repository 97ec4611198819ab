package convert

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// growingMemory is a memory whose length and labels are not known. It checks how it is read.
type growingMemory struct {
	*memory
	t         *testing.T
	keep      []int // before these samples it asks that what was written be kept
	fail      error // of sample failAt
	failAt    int
	restarts  bool // it begins at its first sample
	size      int64
	identity  byte
	began     []int
	states    []string // with which they began
	kept      []int
	reads     int
	next      int
	mu        sync.Mutex // held by the one Read
	beforeAll func(i int) error
}

var _ formats.Growing = (*growingMemory)(nil)

func newGrowing(t *testing.T, n, broken int) *growingMemory {
	src := newMemory(t, n, broken)
	src.meta.Columns = nil
	return &growingMemory{memory: src, t: t, size: int64(len(src.photo)), failAt: -1}
}

func (g *growingMemory) Len() int        { return math.MaxInt32 }
func (g *growingMemory) Unlabeled()      {}
func (g *growingMemory) Ascending() bool { return true }
func (g *growingMemory) Resumes() bool   { return !g.restarts }

func (g *growingMemory) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprint("number ", i), Label: formats.NoLabel, Size: g.size, Checksum: [16]byte{g.identity}}, nil
}

func (g *growingMemory) Begin(i int, state []byte) error {
	g.began, g.next, g.states = append(g.began, i), i, append(g.states, string(state))
	return nil
}

func (g *growingMemory) Kept(i int) error {
	g.kept = append(g.kept, i)
	return nil
}

func (g *growingMemory) Read(i int, s *formats.Sample) error {
	if !g.mu.TryLock() {
		g.t.Error("two samples are read at once")
		return formats.ErrClosed
	}
	defer g.mu.Unlock()
	switch {
	case i != min(g.next, g.n) && i <= g.n:
		g.t.Errorf("sample %d is read, and %d is the next one", i, g.next)
	case i >= g.n:
		return formats.ErrEnd
	}
	if k := slices.Index(g.keep, i); k >= 0 {
		g.keep = slices.Delete(slices.Clone(g.keep), k, k+1)
		return fmt.Errorf("wait: %w", &formats.Keep{State: fmt.Append(nil, "before ", i)})
	}
	g.next, g.reads = i+1, g.reads+1
	if g.beforeAll != nil {
		if err := g.beforeAll(i); err != nil {
			return err
		}
	}
	if i == g.failAt {
		return g.fail
	}
	err := g.memory.Read(i, s)
	s.Columns = nil
	return err
}

// inOrder are options of a growing source for the dataset of that name.
func inOrder(t *testing.T, name string) Options {
	o := Options{Order: KeyOrder, MaxSkipped: "100%"}
	if strings.Contains(name, "%") {
		o.Shards.Size = 30 * int64(len(newMemory(t, 1, 0).photo))
	}
	return o
}

func checkCounts(t *testing.T, r *Report) {
	t.Helper()
	if r.Found != r.Written+len(r.Skipped)+r.Failed+r.NotReached || r.NotReached < 0 {
		t.Errorf("found %d, written %d, skipped %d, failed %d, not reached %d", r.Found, r.Written, len(r.Skipped), r.Failed, r.NotReached)
	}
}

// The length is found at the end, and the bytes are those of a source of known length.
func TestGrowingSameBytes(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		known := newMemory(t, all, 13)
		known.meta.Columns = nil
		o := inOrder(t, name)
		want := t.TempDir()
		if strings.Contains(name, "%") {
			o.Shards = Sharding{Count: 4} // whose parts are 25, not 30
		}
		if _, err := plan(t, withoutColumns{known}, f, filepath.Join(want, name), o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		files := content(t, want)
		o = inOrder(t, name)
		if strings.Contains(name, "%") {
			files = nil
		}
		for _, workers := range []int{1, 2, 7} {
			src, dir := newGrowing(t, all, 13), t.TempDir()
			o.Workers, o.IOWorkers = workers, workers
			r, err := plan(t, src, f, filepath.Join(dir, name), o).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if checkCounts(t, r); r.Found != all || r.Written != 93 || len(r.Skipped) != 7 || src.reads != all || !slices.Equal(src.began, []int{0}) {
				t.Errorf("found %d, written %d, skipped %d, read %d, begun at %d", r.Found, r.Written, len(r.Skipped), src.reads, src.began)
			}
			if r.Skipped[0].Path != "number 12" {
				t.Errorf("the first that was skipped: %+v", r.Skipped[0])
			}
			if strings.Contains(name, "%") && r.Shards != 4 {
				t.Errorf("%d shards", r.Shards)
			}
			got := content(t, dir)
			if files == nil {
				files = got
			}
			if !reflect.DeepEqual(got, files) {
				t.Errorf("%d workers: other bytes", workers)
			}
		}
	})
}

// withoutColumns is a memory without its columns.
type withoutColumns struct{ *memory }

func (s withoutColumns) Info(i int) (formats.Info, error) {
	in, err := s.memory.Info(i)
	in.Columns = nil
	return in, err
}

func (s withoutColumns) Read(i int, to *formats.Sample) error {
	err := s.memory.Read(i, to)
	to.Columns = nil
	return err
}

// What a source asked to be kept survives a kill, which a copy of the unfinished dataset simulates.
func TestGrowingIsKept(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		dir, killed := t.TempDir(), t.TempDir()
		kill := func() {
			partial := name + sidecar.PartialSuffix
			if err := os.CopyFS(filepath.Join(killed, partial), os.DirFS(filepath.Join(dir, partial))); err != nil {
				t.Error(err)
			}
		}
		src := newGrowing(t, all, 0)
		src.keep = []int{stopAfter, stopAfter + 50}
		if _, err := plan(t, src, copiesAt{f, kill}, filepath.Join(dir, name), inOrder(t, name)).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(src.kept, []int{stopAfter, stopAfter + 50}) || src.reads != all {
			t.Errorf("kept %d, %d reads", src.kept, src.reads)
		}
		again := newGrowing(t, all, 0)
		r, err := plan(t, again, f, filepath.Join(killed, name), inOrder(t, name)).Run(t.Context())
		if err != nil || r.Resumed != stopAfter || !slices.Equal(again.began, []int{stopAfter}) || again.reads != all-stopAfter {
			t.Errorf("resumed at %d, begun at %d, %d reads: %v", r.Resumed, again.began, again.reads, err)
		}
		if want := fmt.Sprint("before ", stopAfter); !slices.Equal(src.states, []string{""}) || !slices.Equal(again.states, []string{want}) {
			t.Errorf("begun with %q, then with %q", src.states, again.states)
		}
		if checkCounts(t, r); r.Found != all {
			t.Errorf("found %d", r.Found)
		}
		if !reflect.DeepEqual(content(t, dir), content(t, killed)) {
			t.Error("other bytes than an undisturbed run")
		}
	})
}

// A run that fails and goes on, also right at the end, has the bytes of an undisturbed one.
func TestGrowingGoesOn(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		want, dir := t.TempDir(), t.TempDir()
		if _, err := plan(t, newGrowing(t, all, 13), f, filepath.Join(want, name), inOrder(t, name)).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		resumed := 0
		for _, failAt := range []int{40, 41, 90, all, -1} {
			src := newGrowing(t, all, 13)
			if failAt == all {
				src.n++
			}
			src.failAt, src.fail = failAt, syscall.EIO
			r, err := plan(t, src, f, filepath.Join(dir, name), inOrder(t, name)).Run(t.Context())
			if checkCounts(t, r); !slices.Equal(src.began, []int{resumed}) || r.Resumed != resumed {
				t.Fatalf("begun at %d, resumed at %d, not at %d", src.began, r.Resumed, resumed)
			}
			if failAt < 0 {
				if err != nil || r.Found != all || r.Written != 93 || src.reads != 0 {
					t.Errorf("found %d, written %d, %d reads: %v", r.Found, r.Written, src.reads, err)
				}
				break
			}
			if !errors.Is(err, syscall.EIO) || r.Resumable != failAt || r.Failed != 1 || r.Found != failAt+1 {
				t.Fatalf("found %d, failed %d, resumable %d: %v", r.Found, r.Failed, r.Resumable, err)
			}
			resumed = failAt
		}
		if !reflect.DeepEqual(content(t, dir), content(t, want)) {
			t.Error("other bytes than an undisturbed run")
		}
	})
}

// A source that begins at its first sample keeps nothing, and is not resumed.
func TestGrowingStartsOver(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		want, dir := t.TempDir(), t.TempDir()
		make := func(failAt int) *growingMemory {
			src := newGrowing(t, all, 0)
			src.restarts, src.keep, src.failAt, src.fail = true, []int{20}, failAt, syscall.EIO
			return src
		}
		run := func(src *growingMemory, dir string) (*Report, error) {
			return plan(t, src, f, filepath.Join(dir, name), inOrder(t, name)).Run(t.Context())
		}
		if _, err := run(make(-1), want); err != nil {
			t.Fatal(err)
		}
		src := make(60)
		if r, err := run(src, dir); !errors.Is(err, syscall.EIO) || r.Resumable != 0 || !slices.Equal(src.kept, []int{20}) {
			t.Fatalf("resumable %d, kept %d: %v", r.Resumable, src.kept, err)
		}
		src = make(-1)
		if r, err := run(src, dir); err != nil || r.Resumed != 0 || !slices.Equal(src.began, []int{0}) || src.reads != all {
			t.Errorf("resumed at %d, begun at %d, %d reads: %v", r.Resumed, src.began, src.reads, err)
		}
		if !reflect.DeepEqual(content(t, dir), content(t, want)) {
			t.Error("other bytes than an undisturbed run")
		}
	})
}

// What an earlier run kept is not mixed with other samples.
func TestGrowingCannotResume(t *testing.T) {
	for name, k := range map[string]struct {
		change func(g *growingMemory, o *Options)
		want   string
	}{
		"identity": {func(g *growingMemory, _ *Options) { g.identity++ }, "source has changed"},
		"shards":   {func(_ *growingMemory, o *Options) { o.Shards.Size *= 2 }, "other shards"},
		"restarts": {func(g *growingMemory, _ *Options) { g.restarts = true }, "begins at its first sample"},
		"recipe":   {func(_ *growingMemory, o *Options) { o.Recipe = resized }, "other options"},
		"nothing":  {func(*growingMemory, *Options) {}, ""},
	} {
		path, o := filepath.Join(t.TempDir(), "x-%d.tar"), inOrder(t, "x-%d.tar")
		src := newGrowing(t, all, 0)
		src.failAt, src.fail = 50, syscall.EIO
		if _, err := plan(t, src, shard.Format{}, path, o).Run(t.Context()); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		again := newGrowing(t, all, 0)
		k.change(again, &o)
		r, err := plan(t, again, shard.Format{}, path, o).Run(t.Context())
		if k.want == "" && err != nil || k.want != "" && (!errors.Is(err, ErrCannotResume) || !strings.Contains(err.Error(), k.want) || !strings.Contains(err.Error(), "Discard")) {
			t.Errorf("%s: %v", name, err)
		}
		if checkCounts(t, r); k.want == "" {
			continue
		}
		o.Discard = true
		if _, err := plan(t, again, shard.Format{}, path, o).Run(t.Context()); err != nil {
			t.Errorf("%s: start over: %v", name, err)
		}
	}
}

func TestGrowingWithoutSamples(t *testing.T) {
	for _, size := range []int64{0, 1000, 200 << 20} { // the last one is read alone
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		src := newGrowing(t, 0, 0)
		src.size = size
		r, err := plan(t, src, tfrecord.Format{}, path, Options{Order: KeyOrder}).Run(t.Context())
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "no samples") || r.Found != 0 {
			t.Errorf("found %d: %v", r.Found, err)
		}
		if _, err := (tfrecord.Format{}).Open(path); err == nil {
			t.Error("something is published")
		}
	}
}

// The memory for large samples is free again after the last one.
func TestGrowingLargeSamples(t *testing.T) {
	for _, size := range []int64{60 << 20, math.MaxInt64} {
		src := newGrowing(t, 5, 0)
		src.size = size
		r, err := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder, Recipe: resized}).Run(t.Context())
		if err != nil || r.Written != 5 {
			t.Errorf("%d of %d bytes are written: %v", r.Written, size, err)
		}
	}
}

func TestGrowingMaxSkipped(t *testing.T) {
	for limit, ok := range map[string]bool{"": false, "20": true, "19": false, "20%": true, "19%": false, "100%": true} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		r, err := plan(t, newGrowing(t, all, 5), tfrecord.Format{}, path, Options{Order: KeyOrder, MaxSkipped: limit}).Run(t.Context())
		if (err == nil) != ok {
			t.Errorf("%q: %v", limit, err)
		}
		if checkCounts(t, r); ok && (len(r.Skipped) != 20 || r.Written != 80) {
			t.Errorf("%q: %d skipped, %d written", limit, len(r.Skipped), r.Written)
		}
		if ds, err := (tfrecord.Format{}).Open(path); (err == nil) != ok {
			t.Errorf("%q: the dataset: %v", limit, err)
		} else if ok {
			ds.Close()
		}
	}
	r, err := plan(t, newGrowing(t, 4, 1), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder, MaxSkipped: "100%"}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "none of the 4 images") {
		t.Errorf("all are bad: %v", err)
	}
	checkCounts(t, r)
}

func TestGrowingOnError(t *testing.T) {
	dir := t.TempDir()
	o := Options{Order: KeyOrder}
	src := newGrowing(t, 20, 10)
	r, err := plan(t, src, tfrecord.Format{}, filepath.Join(dir, "x.tfrecord"), o).Run(t.Context())
	if err != nil || len(r.Skipped) != 2 || r.Skipped[0].Action != ActionSkipped || src.reads != 20 {
		t.Errorf("%+v: %v", r.Skipped, err)
	}
	r, err = plan(t, newGrowing(t, 20, 10), tfrecord.Format{}, filepath.Join(dir, "y.tfrecord"), Options{Order: KeyOrder, OnError: Fail}).Run(t.Context())
	if err == nil || r.Written != 9 || r.Failed != 1 || r.Found != 10 || r.Failure == nil {
		t.Errorf("%+v: %v", r, err)
	}
	checkCounts(t, r)
}

func TestGrowingLimit(t *testing.T) {
	for _, limit := range []int{1, 64, 99, 100, 101} {
		src := newGrowing(t, all, 0)
		r, err := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder, Limit: limit}).Run(t.Context())
		if want := min(limit, all); err != nil || r.Found != want || r.Written != want || src.reads != want {
			t.Errorf("limit %d: found %d, written %d, read %d: %v", limit, r.Found, r.Written, src.reads, err)
		}
	}
}

func TestGrowingNeedsToBeKnown(t *testing.T) {
	for want, o := range map[string]Options{
		"split train=0.5,val=0.5": {Split: "train=0.5,val=0.5"},
		"split part":              {Split: "part"},
		"single splits":           {Only: []string{"train"}},
		"order shuffle:0":         {},
		"order shuffle:7":         {Order: Shuffled(7)},
		"a random sample":         {Sample: 5},
		"patterns":                {Patterns: formats.Patterns{Include: []string{"a*"}}},
		"a number of shards":      {Shards: Sharding{Count: 3}},
	} {
		if want[:5] != "order" {
			o.Order = KeyOrder
		}
		dir := t.TempDir()
		_, err := New(t.Context(), newGrowing(t, all, 0), shard.Format{}, filepath.Join(dir, "x-%d.tar"), o)
		if !errors.Is(err, ErrOptions) || !strings.HasPrefix(err.Error(), want+" needs a source whose samples are known") {
			t.Errorf("%s: %v", want, err)
		}
		wantEmpty(t, dir)
	}
	if formats.CheckBuilt(lmdb.Format{}) == nil {
		plan(t, newGrowing(t, all, 0), lmdb.Format{}, filepath.Join(t.TempDir(), "x.lmdb"), Options{Split: NoSplits}) // which has no order
	}
}

// A run that is cancelled keeps what it did, whether or not the source comes back, or is closed by the same event.
func TestGrowingIsCancelled(t *testing.T) {
	for name, waits := range map[string]func(ctx context.Context, closed chan struct{}) error{
		"between samples": func(context.Context, chan struct{}) error { return nil },
		"hanging":         func(_ context.Context, closed chan struct{}) error { <-closed; return formats.ErrClosed },
		"closed": func(ctx context.Context, _ chan struct{}) error {
			<-ctx.Done()
			return fmt.Errorf("the pack was ended: %w", formats.ErrClosed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.tfrecord")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			left, closed := make(chan struct{}), make(chan struct{})
			src := newGrowing(t, all, 0)
			src.beforeAll = func(i int) error {
				if i < 30 {
					return nil
				}
				defer close(left)
				src.beforeAll = nil
				return waits(ctx, closed)
			}
			p := plan(t, src, stopper{tfrecord.Format{}, 29, cancel}, path, Options{Order: KeyOrder})
			r, err := p.Run(ctx)
			close(closed)
			<-left
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprintf("stopped at %d: ", r.Written)) || r.Written < 30 || r.Resumable != r.Written || r.Failure != nil {
				t.Errorf("%v: %d written, %d resumable, %+v", err, r.Written, r.Resumable, r.Failure)
			}
			if checkCounts(t, r); r.Found != r.Written {
				t.Errorf("found %d", r.Found)
			}
		})
	}
}

// What is done is never more than the total, which is not known before the end.
func TestGrowingProgress(t *testing.T) {
	last := Progress{}
	o := Options{Order: KeyOrder, Progress: func(p Progress) {
		if p.Done < last.Done || p.Total != p.Done {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}}
	if _, err := plan(t, newGrowing(t, all, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), o).Run(t.Context()); err != nil || last.Done != all {
		t.Errorf("%+v: %v", last, err)
	}
}

// publishes is a format whose unfinished dataset only has to be published.
type publishes struct{ formats.WritableFormat }

func (publishes) Create(string, formats.Meta, formats.CreateOptions) (formats.Writer, error) {
	return nil, formats.ErrPublished
}

func TestGrowingFinished(t *testing.T) {
	path, o := filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder}
	if _, err := plan(t, newGrowing(t, all, 0), tfrecord.Format{}, path, o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	src := newGrowing(t, all, 0)
	p := plan(t, src, tfrecord.Format{}, path, o)
	if r, ok := p.Finished(); ok {
		t.Errorf("nobody knows whether these are all samples: %+v", r)
	}
	if _, err := p.Run(t.Context()); !errors.Is(err, formats.ErrExists) || len(src.began) > 0 {
		t.Errorf("a finished one: %v, begun at %d", err, src.began)
	}
	r, err := plan(t, src, publishes{tfrecord.Format{}}, path, o).Run(t.Context())
	if checkCounts(t, r); err != nil || r.Found != all || r.Written != all || len(src.began) > 0 {
		t.Errorf("found %d, written %d, begun at %d: %v", r.Found, r.Written, src.began, err)
	}
}

// A sample that waits for memory is not read again, and none of its values is lost, whichever image had no room.
func TestGrowingIsDeferred(t *testing.T) {
	for refuse := range 2 {
		src := newGrowing(t, 1, 0)
		src.meta.Schema = append(src.meta.Schema, formats.Field{Name: "mask", Kind: formats.Mask}, formats.Field{Name: "text", Kind: formats.Text})
		o := Options{Order: KeyOrder, Recipe: preprocess.Recipe{
			Resize: preprocess.Resize{Mode: preprocess.ResizeExact, W: 1200, H: 900}, Encode: codec.EncodeOptions{Encoding: formats.Raw},
		}}
		p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), o)
		r, j := &run{Plan: p, schema: src.meta.Schema}, newJob()
		asked := 0
		proc, err := r.newProcessor(func(int64) bool { asked++; return asked != refuse+1 })
		if err != nil {
			t.Fatal(err)
		}
		defer proc.Close()
		values := func(s *formats.Sample) {
			s.Key = "k"
			s.Resize(4)
			s.Values[0].Set(formats.Value{Data: src.photo, Encoding: formats.JPEG})
			s.Values[1].SetInt64(2)
			s.Values[2].Set(formats.Value{Data: make([]byte, 1200), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{30, 40, 1}})
			s.Values[3].Set(formats.Value{Data: []byte("text"), Encoding: formats.Plain})
		}
		values(&j.in)
		if r.processOne(proc, j); !j.deferred || j.err != nil || asked != refuse+1 {
			t.Fatalf("deferred %v after %d images: %v", j.deferred, asked, j.err)
		}
		r.budget.changed.L = &r.budget.mu
		if err := r.processDeferred(t.Context(), j); err != nil || j.err != nil || j.deferred {
			t.Fatal(err, j.err, j.deferred)
		}
		x, _ := j.out.Values[1].Int64()
		if src.reads != 0 || x != 2 || string(j.out.Values[3].Data) != "text" || len(j.out.Values[0].Data) != 1200*900*3 || len(j.out.Values[2].Data) != 1200*900 {
			t.Errorf("%d reads, label %d, text %q, %d and %d bytes", src.reads, x, j.out.Values[3].Data, len(j.out.Values[0].Data), len(j.out.Values[2].Data))
		}
		r.budget.release(j)
		r.room.Release()
		r.deferredProc.Close()
	}
}

// unlabeled is a memory that knows labels only once a sample is read.
type unlabeled struct {
	withoutColumns
	identity byte
}

func (unlabeled) Unlabeled() {}

func (u unlabeled) Info(i int) (formats.Info, error) {
	in, err := u.withoutColumns.Info(i)
	return formats.Info{Key: in.Key, Label: formats.NoLabel, Size: 1, Checksum: [16]byte{u.identity}}, err
}

// Labels that only Read gives are written, their classes are numbers, and another dataset of the same keys does not go on
// with the first one.
func TestUnlabeled(t *testing.T) {
	each(t, func(t *testing.T, f formats.WritableFormat, name string) {
		src := unlabeled{withoutColumns{newMemory(t, all, 0)}, 1}
		src.meta.Columns, src.meta.Schema[1].Classes = nil, nil
		path, o := filepath.Join(t.TempDir(), name), Options{Shards: shardsOf(name)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Progress = func(Progress) { cancel() }
		if _, err := plan(t, src, f, path, o).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		o.Progress = nil
		other := src
		other.identity++
		if _, err := plan(t, other, f, path, o).Run(t.Context()); !errors.Is(err, ErrSourceChanged) {
			t.Errorf("another dataset: %v", err)
		}
		if r, err := plan(t, src, f, path, o).Run(t.Context()); err != nil || r.Resumed == 0 {
			t.Fatalf("resumed at %d: %v", r.Resumed, err)
		}
		ds, err := f.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		if got := ds.Meta().Schema[1].Classes; !slices.Equal(got, []string{"0", "1", "2"}) {
			t.Errorf("classes %q", got)
		}
		for i := range all {
			if in, err := ds.Info(i); err != nil || in.Label != int64(i%3) {
				t.Errorf("sample %d: label %d: %v", i, in.Label, err)
			}
		}
	})
}

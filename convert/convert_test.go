package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a dataset of small photos in memory; every broken-th is truncated.
type memory struct {
	meta   formats.Meta
	n      int
	broken int
	photo  []byte
}

func newMemory(t testing.TB, n, broken int) *memory {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 * 30 {
		img.Set(i%40, i/40, color.RGBA{uint8(i * 7), uint8(i / 3), uint8(i * i), 255})
	}
	var b bytes.Buffer
	if err := stdjpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return &memory{n: n, broken: broken, photo: b.Bytes(), meta: formats.Meta{
		Version: 1, Format: "memory", Count: n, Columns: []string{"part"},
		Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"a", "b", "c"}}},
	}}
}

func (m *memory) Meta() *formats.Meta { return &m.meta }
func (m *memory) Len() int            { return m.n }
func (m *memory) Close() error        { return nil }

func (m *memory) Info(i int) (formats.Info, error) {
	return formats.Info{
		Key: fmt.Sprintf("k%05d", i), Label: int64(i % 3), Size: int64(len(m.photo)), Columns: []string{fmt.Sprint("p", i%2)},
		Source: formats.Source{Path: fmt.Sprintf("k%05d.jpg", i), Size: int64(len(m.photo)), ModTime: 5},
	}, nil
}

func (m *memory) Read(i int, s *formats.Sample) error {
	in, err := m.Info(i)
	s.Key, s.Source, s.Columns = in.Key, in.Source, in.Columns
	s.Resize(2)
	// A comment of its own makes every image's bytes different.
	v := append(append(append([]byte{}, m.photo[:2]...), 0xff, 0xfe, 0, 10), fmt.Sprintf("%08d", i)...)
	v = append(v, m.photo[2:]...)
	if m.broken > 0 && i%m.broken == m.broken-1 {
		v = v[:len(v)/2]
	}
	s.Values[0].Set(formats.Value{Data: v, Encoding: formats.JPEG})
	s.Values[1].SetInt64(in.Label)
	return err
}

func plan(t testing.TB, src formats.Dataset, f formats.WritableFormat, path string, o Options) *Plan {
	t.Helper()
	p, err := New(t.Context(), src, f, path, o)
	if errors.Is(err, formats.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var resized = preprocess.Recipe{
	Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 16, H: 16}, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90},
}

func TestSameBytesForAnyWorkersAndAfterAnyStop(t *testing.T) {
	src := newMemory(t, 300, 11)
	for name, o := range map[string]Options{
		"keep":   {Shards: Sharding{Count: 3}},
		"resize": {Recipe: resized, Shards: Sharding{Count: 3}},
		"stats":  {Recipe: resized, Shards: Sharding{Count: 3}, Stats: true},
		"tiled":  {Recipe: preprocess.Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 3}}, Shards: Sharding{Count: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			if o.Recipe.Encode.Tiled && !jpeg.HasLibjpegTurbo {
				t.Skip("this build does not tile")
			}
			var want map[string]string
			var first *Report
			for _, workers := range []int{1, 2, 7} {
				dir := t.TempDir()
				o.Workers, o.IOWorkers, o.MaxSkipped = workers, workers, "27"
				r, err := plan(t, src, shard.Format{}, filepath.Join(dir, "x-%02d.tar"), o).Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if r.Found != 300 || r.Written != 273 || len(r.Skipped) != 27 || r.Failed != 0 {
					t.Fatalf("found %d, written %d, skipped %d, failed %d", r.Found, r.Written, len(r.Skipped), r.Failed)
				}
				got := formatcheck.Tree(t, dir)
				if want == nil {
					want, first = got, r
				}
				formatcheck.SameTrees(t, got, want)
				if tiled := r.Tiled; o.Recipe.Encode.Tiled != (tiled == r.Written) || len(r.Untiled) > 0 {
					t.Errorf("tiled %d, %v", tiled, r.Untiled)
				}
				if !reflect.DeepEqual(r.Skipped, first.Skipped) {
					t.Error("what was skipped differs")
				}
			}
			stopped(t, src, o, want, first)
		})
	}
}

// stopped cancels the run several times, and checks that the result has the same bytes.
func stopped(t *testing.T, src *memory, o Options, want map[string]string, first *Report) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x-%02d.tar")
	for stop := 1; ; stop++ {
		ctx, cancel := context.WithCancel(context.Background())
		p := plan(t, src, stopper{shard.Format{}, 70, cancel}, path, o)
		p.interval = 10
		r, err := p.Run(ctx)
		cancel()
		if err == nil {
			if stop < 3 || r.Resumed == 0 || r.Written != first.Written || r.Tiled != first.Tiled || !reflect.DeepEqual(r.Skipped, first.Skipped) {
				t.Errorf("after %d stops: resumed at %d, %d written, %d skipped", stop-1, r.Resumed, r.Written, len(r.Skipped))
			}
			break
		}
		if !errors.Is(err, context.Canceled) || stop > 30 {
			t.Fatal(err)
		}
		if _, err := (shard.Format{}).Open(path); err == nil {
			t.Fatal("an unfinished dataset opens")
		}
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
}

// stopper is a format whose writers cancel the run after a number of samples.
type stopper struct {
	formats.WritableFormat
	after  int
	cancel func()
}

func (s stopper) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := s.WritableFormat.Create(path, m, o)
	return s.wrap(w), err
}

func (s stopper) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	w, m, note, err := s.WritableFormat.Resume(path, o)
	return s.wrap(w), m, note, err
}

func (s stopper) wrap(w formats.Writer) formats.Writer {
	if w == nil {
		return nil
	}
	return &stopWriter{Writer: w, stopper: s}
}

type stopWriter struct {
	formats.Writer
	stopper
	n int
}

func (w *stopWriter) Write(s *formats.Sample) error {
	if w.n++; w.n > w.after {
		w.cancel()
	}
	return w.Writer.Write(s)
}

func (w *stopWriter) SetPixelStats(s *formats.PixelStats) {
	w.Writer.(formats.PixelStatsWriter).SetPixelStats(s)
}

func (w *stopWriter) EndShard() error { return w.Writer.(formats.ShardEnder).EndShard() }

// withoutMemory is a memory whose files have other times, and whose Read runs out of memory.
type withoutMemory struct{ *memory }

func (s withoutMemory) Info(i int) (formats.Info, error) {
	in, err := s.memory.Info(i)
	in.Source.ModTime++
	return in, err
}

func (s withoutMemory) Read(int, *formats.Sample) error { return syscall.ENOMEM }

func TestAnotherRecipeOrSourceIsRefused(t *testing.T) {
	src := newMemory(t, 200, 0)
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := plan(t, src, stopper{tfrecord.Format{}, 50, cancel}, path, Options{})
	p.interval = 10
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_, err := plan(t, src, tfrecord.Format{}, path, Options{Recipe: resized}).Run(context.Background())
	if !errors.Is(err, formats.ErrPartial) || !strings.Contains(err.Error(), `encode was "keep", now "jpeg:90"`) {
		t.Errorf("another recipe: %v", err)
	}
	_, err = plan(t, newMemory(t, 199, 0), tfrecord.Format{}, path, Options{}).Run(context.Background())
	if !errors.Is(err, formats.ErrPartial) || !strings.Contains(err.Error(), "source") {
		t.Errorf("another source: %v", err)
	}
	_, err = plan(t, withoutMemory{src}, tfrecord.Format{}, path, Options{}).Run(context.Background())
	if !errors.Is(err, syscall.ENOMEM) || strings.Contains(err.Error(), "changed") {
		t.Errorf("a source that there is no memory for: %v", err)
	}
	if _, err = plan(t, src, tfrecord.Format{}, path, Options{}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err = plan(t, src, tfrecord.Format{}, path, Options{}).Run(context.Background()); !errors.Is(err, formats.ErrExists) {
		t.Errorf("a finished one: %v", err)
	}
}

// A pack of an earlier version, whose recipe says which rule its patterns follow, is resumed.
func TestOlderPatternsResume(t *testing.T) {
	src := newMemory(t, 200, 0)
	o := Options{Recipe: resized, Patterns: formats.Patterns{Include: []string{"**/*"}}}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := plan(t, src, stopper{tfrecord.Format{}, 50, cancel}, path, o)
	p.interval = 10
	p.Meta.Recipe["pattern-rule"] = "2"
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r, err := plan(t, src, tfrecord.Format{}, path, o).Run(context.Background()); err != nil || r.Resumed == 0 {
		t.Errorf("resumed at %d, %v", r.Resumed, err)
	}
}

// A pack of another decoder version is not resumed, unless its recipe has no version.
func TestAnotherDecoderIsRefused(t *testing.T) {
	src := newMemory(t, 200, 0)
	for version, want := range map[string]string{"0.1": `decoder-version was "0.1", now`, "": ""} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p := plan(t, src, stopper{tfrecord.Format{}, 50, cancel}, path, Options{Recipe: resized})
		p.interval, p.Meta.Recipe[preprocess.DecoderVersionKey] = 10, version
		if version == "" {
			delete(p.Meta.Recipe, preprocess.DecoderVersionKey)
		}
		if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		r, err := plan(t, src, tfrecord.Format{}, path, Options{Recipe: resized}).Run(context.Background())
		if want == "" && (err != nil || r.Resumed == 0) || want != "" && (!errors.Is(err, ErrCannotResume) || !strings.Contains(err.Error(), want)) {
			t.Errorf("version %q: resumed at %d, %v", version, r.Resumed, err)
		}
		if want != "" {
			continue
		}
		if _, ok := plan(t, src, tfrecord.Format{}, path, Options{Recipe: resized}).Finished(); !ok {
			t.Error("a finished one without a version is another")
		}
	}
}

// The report counts the images that were not tiled, by reason.
func TestTiledCounts(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		t.Skip("this build does not tile")
	}
	src := newMemory(t, 20, 0)
	src.photo = slices.Concat(src.photo[:2], []byte{0xFF}, src.photo[2:])
	o := Options{Recipe: preprocess.Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 3}}}
	r, err := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), o).Run(context.Background())
	if err != nil || r.Tiled != 0 || !reflect.DeepEqual(r.Untiled, map[string]int{"an unusual structure": 20}) || r.Written != 20 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFailEndsAtTheFirstBadImage(t *testing.T) {
	src := newMemory(t, 100, 50)
	r, err := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{OnError: Fail, Order: KeyOrder}).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "k00049.jpg") {
		t.Fatalf("got %v", err)
	}
	if r.Found != r.Written+len(r.Skipped)+r.Failed+r.NotReached || r.Written != 49 || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
}

func TestOrderIsAPermutationThatTheSeedDecides(t *testing.T) {
	src := newMemory(t, 100, 0)
	ordered := func(o Options) []int32 { return orderOf(plan(t, src, tfrecord.Format{}, "x.tfrecord", o)) }
	a, b := ordered(Options{}), ordered(Options{Order: Shuffled(1)})
	if reflect.DeepEqual(a, b) || !reflect.DeepEqual(a, ordered(Options{Order: "shuffle"})) {
		t.Error("the seed does not decide the order")
	}
	for i, x := range ordered(Options{Order: KeyOrder, Limit: 7}) {
		if int(x) != i || i >= 7 {
			t.Error("order key with a limit")
		}
	}
	seen := map[int32]bool{}
	for _, x := range a {
		seen[x] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 samples", len(seen))
	}
}

func TestSplits(t *testing.T) {
	src := newMemory(t, 3000, 0)
	for spec, want := range map[string]map[string]int{
		"train=0.9,val=0.1": {"train": 2700, "val": 300}, "part": {"p0": 1500, "p1": 1500}, "none": {"": 3000}, "auto": {"": 3000},
	} {
		splits, err := Splitter(spec).Assign(src)
		if err != nil {
			t.Fatal(err)
		}
		got, perClass := map[string]int{}, map[string]int{}
		for i := range src.Len() {
			in, err := src.Info(i)
			if err != nil {
				t.Fatal(err)
			}
			s := splits.Of(i, in)
			got[s]++
			perClass[fmt.Sprint(s, i%3)]++
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", spec, got)
		}
		if spec == "train=0.9,val=0.1" && (perClass["val0"] != 100 || perClass["val1"] != 100 || perClass["val2"] != 100) {
			t.Errorf("not stratified: %v", perClass)
		}
	}
	for _, spec := range []string{"train=0.9", "train=2,val=-1", "=1", "a=x,b=0"} {
		if Splitter(spec).Validate() == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
	if _, err := Splitter("nope").Assign(src); err == nil || !strings.Contains(err.Error(), "part") {
		t.Errorf("an unknown column: %v", err)
	}
}

func TestParse(t *testing.T) {
	for s, ok := range map[string]bool{"key": true, "shuffle": true, "shuffle:7": true, "": true, "shuffle:x": false, "random": false} {
		if err := Order(s).Validate(); (err == nil) != ok {
			t.Errorf("order %q: %v", s, err)
		}
	}
}

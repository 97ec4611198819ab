package dsconv_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// growing is a source of squares of unknown number, whose keys do not ascend.
type growing struct {
	squares
	n       int
	resumes bool
	decoded bool
	failAt  int         // the sample that ends the pack; 0 for none
	bad     map[int]int // 1: Read has an error of the sample, 2: the image is damaged
	began   int
	reads   int
}

var _ formats.Growing = (*growing)(nil)

func newGrowing(n int) *growing { return &growing{squares: newSquares(n), n: n} }

func (g *growing) Len() int        { return math.MaxInt32 }
func (g *growing) Unlabeled()      {}
func (g *growing) Ascending() bool { return false }
func (g *growing) Resumes() bool   { return g.resumes }
func (g *growing) Decoded() bool   { return g.decoded }

func (g *growing) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprint(i), Label: formats.NoLabel, Size: 100, Checksum: [16]byte{1}}, nil
}

func (g *growing) Begin(i int, _ []byte) error {
	g.began = i
	return nil
}

func (g *growing) Kept(int) error { return nil }

func (g *growing) Read(i int, s *formats.Sample) error {
	switch {
	case i >= g.n:
		return formats.ErrEnd
	case g.failAt > 0 && i == g.failAt:
		return syscall.EIO
	case g.bad[i] == 1:
		return errors.New("no such picture")
	}
	g.reads++
	if err := g.squares.Read(i, s); err != nil {
		return err
	}
	s.Key = fmt.Sprintf("%s/%04d", []string{"even", "odd"}[i%2], g.n-i)
	if g.bad[i] == 2 {
		s.Values[0].Data = s.Values[0].Data[:40]
	}
	if g.decoded {
		s.Values[0] = formats.Value{Data: make([]byte, 8*8*3), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{8, 8, 3}}
	}
	return nil
}

// What needs all samples before the first is written is packed by a detour, of which nothing is left.
func TestPackCollected(t *testing.T) {
	split := func(o *dsconv.Options) { o.Split = "train=0.8,val=0.2" }
	for name, k := range map[string]struct {
		dst  string
		set  func(o *dsconv.Options)
		n    int
		want []string // the files
	}{
		"split by shares": {"x.tar", split, 20, []string{"x.tar"}},
		"shuffled":        {"x.tar", func(*dsconv.Options) {}, 20, []string{"x.tar"}},
		"shards":          {"x-%d.tar", func(o *dsconv.Options) { o.Shards.Count = 2 }, 20, []string{"x-0.tar", "x-1.tar"}},
		"unsorted keys":   {"x.lmdb", func(*dsconv.Options) {}, 20, []string{"x.lmdb/data.mdb"}},
		"patterns":        {"x.tar", func(o *dsconv.Options) { o.Patterns = formats.Patterns{Include: []string{"odd/**"}} }, 10, []string{"x.tar"}},
		"sample":          {"x.tar", func(o *dsconv.Options) { o.Sample = 7 }, 7, []string{"x.tar"}},
		"one split":       {"x.tar", func(o *dsconv.Options) { split(o); o.Only = []string{"val"} }, 4, []string{"x.tar"}},
		"limit":           {"x.tar", func(o *dsconv.Options) { o.Limit = 6 }, 6, []string{"x.tar"}},
		"a folder":        {"out", func(o *dsconv.Options) { split(o); o.Format = "tfrecord" }, 20, []string{"out/train-000000.tfrecord", "out/val-000000.tfrecord"}},
		"a folder, order": {"out", func(o *dsconv.Options) { o.Order = convert.KeyOrder; o.Format = "shard" }, 20, []string{"out/data-000000.tar"}},
	} {
		for _, resumes := range []bool{false, true} {
			t.Run(fmt.Sprint(name, resumes), func(t *testing.T) {
				noLeaks(t)
				dir := t.TempDir()
				var o dsconv.Options
				k.set(&o)
				src := newGrowing(20)
				src.resumes = resumes
				r, err := dsconv.PackDataset(t.Context(), src, filepath.Join(dir, k.dst), o)
				if errors.Is(err, formats.ErrNotBuilt) {
					t.Skip(err)
				}
				if err != nil || r.Found != k.n || r.Written != k.n || len(r.Skipped) != 0 {
					t.Fatalf("%v: %+v", err, r)
				}
				for _, one := range r.Datasets {
					ds, err := dsconv.Open(one.Path)
					must(t, err)
					if got := ds.Meta().Schema[1].Classes; !slices.Equal(got, []string{"even", "odd"}) {
						t.Errorf("classes %q", got)
					}
					for i := range ds.Len() {
						in, err := ds.Info(i)
						must(t, err)
						if class, _, _ := strings.Cut(in.Key, "/"); class != []string{"even", "odd"}[in.Label] {
							t.Errorf("%s has label %d", in.Key, in.Label)
						}
					}
					must(t, ds.Close())
				}
				files := tree(t, dir)
				for _, name := range k.want {
					if _, ok := files[name]; !ok {
						t.Errorf("there is no %s", name)
					}
				}
				for name := range files {
					if strings.Contains(name, "items") || strings.Contains(name, ".partial") || strings.Contains(name, "samples.tfrecord") {
						t.Errorf("%s is left", name)
					}
				}
			})
		}
	}
}

// An error in the middle leaves nothing of a source that begins at its first sample again, and what was collected of another.
func TestPackCollectedFails(t *testing.T) {
	for _, resumes := range []bool{false, true} {
		noLeaks(t)
		dir := t.TempDir()
		dst := filepath.Join(dir, "x.tar")
		src := newGrowing(20)
		src.resumes, src.failAt = resumes, 12
		r, err := dsconv.PackDataset(t.Context(), src, dst, dsconv.Options{})
		if !errors.Is(err, syscall.EIO) || r.Found != r.Written+len(r.Skipped)+r.Failed+r.NotReached || r.Failed != 1 {
			t.Fatalf("%v: %+v", err, r)
		}
		if entries, err := os.ReadDir(dir); err != nil || resumes != (len(entries) == 1 && entries[0].Name() == "x.tar.items") || !resumes && len(entries) > 0 {
			t.Errorf("left: %v, %v", entries, err)
		}
		if resumes {
			must(t, os.WriteFile(filepath.Join(dst+".items", "mine.txt"), nil, 0o644))
		}
		src.failAt, src.reads = 0, 0
		r, err = dsconv.PackDataset(t.Context(), src, dst, dsconv.Options{})
		if err != nil || r.Found != 20 || r.Written != 20 || resumes != (src.began == 12) || resumes != (src.reads == 8) {
			t.Errorf("begun at %d, %d reads, %v: %+v", src.began, src.reads, err, r)
		}
		for name := range tree(t, dir) {
			if strings.Contains(name, "items") != (name == "x.tar.items/mine.txt") {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// What was skipped when samples were collected, and afterwards, is in the report and in its table.
func TestPackCollectedSkips(t *testing.T) {
	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.tar")
	src := newGrowing(20)
	src.bad = map[int]int{4: 1, 5: 1, 11: 2}
	var o dsconv.Options
	o.Recipe.MaxPixels = 26 * 26 // the last one has more, which is found afterwards
	r, err := dsconv.PackDataset(t.Context(), src, dst, o)
	if err != nil || r.Found != 20 || r.Written != 16 || len(r.Skipped) != 4 || r.Skipped[0].Cause != "no such picture" || r.Skipped[3].Action != convert.ActionSkipped {
		t.Fatalf("%v: %+v", err, r)
	}
	if rows := r.Rows(); len(rows) != 4 {
		t.Errorf("the table: %+v", rows)
	}
	if b, err := os.ReadFile(r.Table); err != nil || strings.Count(string(b), "no such picture") != 2 {
		t.Errorf("%v: %s", err, b)
	}
}

// Pixels are processed when they are collected, and the dataset says how.
func TestPackCollectedPixels(t *testing.T) {
	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.tar")
	src := newGrowing(20)
	src.decoded = true
	o := dsconv.Options{Options: convert.Options{Recipe: preprocess.Recipe{
		Resize: preprocess.Resize{Mode: preprocess.ResizeExact, W: 4, H: 4}, Encode: codec.EncodeOptions{Encoding: formats.PNG},
	}}}
	r, err := dsconv.PackDataset(t.Context(), src, dst, o)
	if err != nil || r.Written != 20 {
		t.Fatalf("%v: %+v", err, r)
	}
	ds, err := dsconv.Open(dst)
	must(t, err)
	defer ds.Close()
	if m := ds.Meta().Recipe; m["encode"] != "png" || m["resize"] != "exact:4x4" {
		t.Errorf("recipe %q", m)
	}
	var s formats.Sample
	must(t, ds.Read(0, &s))
	if s.Values[0].Encoding != formats.PNG || !slices.Equal(s.Values[0].Shape, []int{4, 4, 3}) {
		t.Errorf("%s %v", s.Values[0].Encoding, s.Values[0].Shape)
	}
}

// What cannot be is said before a sample is read, and not after hours.
func TestPackCollectedWrongOptions(t *testing.T) {
	for name, k := range map[string]struct {
		dst string
		set func(o *dsconv.Options)
	}{
		"shares":  {"x.tar", func(o *dsconv.Options) { o.Split = "train=0.5,val=0.2" }},
		"column":  {"x.tar", func(o *dsconv.Options) { o.Split = "fold" }},
		"shards":  {"x.h5", func(o *dsconv.Options) { o.Shards.Count = 2 }},
		"recipe":  {"x.tar", func(o *dsconv.Options) { o.Recipe.Upscale = true }},
		"suffix":  {"x.tar", func(o *dsconv.Options) { o.Format = "lmdb" }},
		"skipped": {"x.tar", func(o *dsconv.Options) { o.MaxSkipped = "many" }},
		"policy":  {"x.tar", func(o *dsconv.Options) { o.OnError = "keep" }},
	} {
		dir := t.TempDir()
		var o dsconv.Options
		k.set(&o)
		src := newGrowing(20)
		r, err := dsconv.PackDataset(t.Context(), src, filepath.Join(dir, k.dst), o)
		if errors.Is(err, formats.ErrNotBuilt) {
			continue
		}
		if !errors.Is(err, convert.ErrOptions) || r == nil || src.reads > 0 {
			t.Errorf("%s: %d reads, %v", name, src.reads, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: left: %v, %v", name, entries, err)
		}
	}
}

// A pack that was interrupted when all was collected says where that is.
func TestPackCollectedTwice(t *testing.T) {
	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.tar")
	src := newGrowing(20)
	src.resumes = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := dsconv.Options{Options: convert.Options{Progress: func(p convert.Progress) {
		if p.Path == dst {
			cancel()
		}
	}}}
	if _, err := dsconv.PackDataset(ctx, src, dst, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_, err := dsconv.PackDataset(t.Context(), src, dst, dsconv.Options{})
	collected := filepath.Join(dst+".items", "samples.tfrecord")
	if err == nil || !strings.Contains(err.Error(), collected+" has all samples") {
		t.Fatal(err)
	}
	again := dsconv.Options{Options: convert.Options{Discard: true}}
	if r, err := dsconv.Pack(t.Context(), collected, dst, again); err != nil || r.Written != 20 {
		t.Errorf("%v: %+v", err, r)
	}
}

package reader

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// summed is memory that knows the checksums of its samples, as packed datasets do, and whose
// images' sizes are not known.
type summed struct{ *memory }

func (d summed) Info(i int) (formats.Info, error) {
	h := sha256.New()
	for _, v := range d.samples[i].Values {
		h.Write(v.Data)
	}
	return formats.Info{Key: d.samples[i].Key, Split: d.samples[i].Split, Label: formats.NoLabel, Checksum: [16]byte(h.Sum(nil))}, nil
}

// viewed is a dataset whose View lends what it may, as a packed one's does.
type viewed struct{ summed }

func (d viewed) View(i int, s *formats.Sample) error {
	d.reads.Add(1)
	from := d.samples[i]
	s.Key, s.Split = from.Key, from.Split
	s.Resize(len(from.Values))
	for k, v := range from.Values {
		to := &s.Values[k]
		to.Data, to.Encoding, to.DType = v.Data, v.Encoding, v.DType
		to.SetShape(v.Shape...)
	}
	return nil
}

// assorted is photos, grey ones and ones of 16 bits per channel, with a mask and a text each.
func assorted(t testing.TB, n int) *memory {
	t.Helper()
	ds := photos(t, n)
	for i := 3; i < n; i += 5 {
		ds.samples[i].Values[0] = raw(formats.Uint8, noise(33*41, i), 33, 41, 1)
	}
	for i := 4; i < n; i += 5 {
		ds.samples[i].Values[0] = compressed(t, deepImages(1, 30+i%23, 40+i%17, 3).samples[0].Values[0])
	}
	ds.addField(formats.Field{Name: "text", Kind: formats.Text}, func(i int) formats.Value { return plain(strings.Repeat("x", i)) })
	ds.addField(formats.Field{Name: "extra", Kind: formats.Image}, func(i int) formats.Value { return ds.samples[i].Values[0] })
	return ds
}

var train = append(augment.Train(16), augment.ColorJitter{Brightness: 0.4, Hue: 0.1})

// cachedConfig shares its cache with no other test.
func cachedConfig(t testing.TB, kind CacheKind) Config {
	return Config{
		BatchSize: 8, Workers: 3, Shuffle: true, Seed: 6, Transforms: train,
		Cache: Cache{Kind: kind, Dir: t.TempDir(), Limit: 1 << 24},
	}
}

func TestCachesGiveTheSameBatches(t *testing.T) {
	ds := assorted(t, 41)
	ds.meta.Schema[1].Classes = classes(10)
	types := []formats.DType{formats.Float16, formats.Uint8}
	if UnderRace {
		types = types[:1]
	}
	for _, color := range []pixel.Color{pixel.ColorRGB, pixel.ColorGray} {
		for _, d := range types {
			c := cachedConfig(t, NoCache)
			c.Color, c.DType, c.Fields = color, d, []string{"extra", "text"}
			if color == pixel.ColorGray {
				c.Transforms = augment.Train(16)
			}
			l := makeLoader(t, ds, c)
			want := [3][]*Batch{collect(t, l, 0), collect(t, l, 1), collect(t, l, 2)}
			for _, c.Cache.Kind = range []CacheKind{Encoded, Decoded} {
				for _, c.Cache.Limit = range []int64{1 << 24, 40_000} {
					for name, from := range map[string]formats.Dataset{"reads": summed{ds}, "lends": viewed{summed{ds}}} {
						l := makeLoader(t, from, c)
						for epoch := range want {
							if got := collect(t, l, epoch); !reflect.DeepEqual(got, want[epoch]) {
								t.Fatalf("%s, %s, cache %+v of a dataset that %s: epoch %d differs", color, d, c.Cache, name, epoch)
							}
						}
						if s := l.CacheStats(); (s.Full != "") != (c.Cache.Limit < 1<<20) || s.Samples == 0 {
							t.Errorf("%+v: %+v", c.Cache, s)
						}
						if err := l.Close(); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
}

// TestDeepImagesThroughCaches keep their depth.
func TestDeepImagesThroughCaches(t *testing.T) {
	ds := deepImages(9, 12, 14, 3)
	for i := range 9 {
		ds.samples[i].Values[0] = compressed(t, ds.samples[i].Values[0])
	}
	c := cachedConfig(t, NoCache)
	c.DType, c.Color, c.Transforms = formats.Uint16, pixel.ColorKeep, augment.Train(9)
	want := collect(t, makeLoader(t, ds, c), 1)
	for _, c.Cache.Kind = range []CacheKind{Encoded, Decoded} {
		for _, c.Cache.Limit = range []int64{1 << 20, 5000} {
			l := makeLoader(t, ds, c)
			collect(t, l, 0)
			if got := collect(t, l, 1); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: the batches differ", c.Cache)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCacheLeavesWhatIsLentAlone: the dataset's own memory does not change.
func TestCacheLeavesWhatIsLentAlone(t *testing.T) {
	ds := rawImages(5, 6, 7, 1)
	for _, kind := range []CacheKind{Encoded, Decoded} {
		l := makeLoader(t, viewed{summed{ds}}, Config{BatchSize: 2, Cache: Cache{Kind: kind, Dir: t.TempDir(), Limit: 1 << 20}})
		collect(t, l, 0)
		collect(t, l, 1)
		for i, want := range rawImages(5, 6, 7, 1).samples {
			if got := ds.samples[i].Values[0]; !reflect.DeepEqual(got, want.Values[0]) {
				t.Fatalf("%s: sample %d of the dataset became %+v", kind, i, got)
			}
		}
	}
}

func TestReadsEndWithTheFirstEpoch(t *testing.T) {
	for _, kind := range []CacheKind{Encoded, Decoded} {
		ds := photos(t, 30)
		l := makeLoader(t, summed{ds}, cachedConfig(t, kind))
		collect(t, l, 0)
		if n := ds.reads.Load(); n != 30 {
			t.Errorf("%s: %d reads in the first epoch of 30 samples", kind, n)
		}
		collect(t, l, 1)
		collect(t, l, 2)
		if n := ds.reads.Load(); n != 30 {
			t.Errorf("%s: %d reads after three epochs of 30 samples", kind, n)
		}
		if s := l.CacheStats(); s.Samples != 30 || s.Hits != 60 || s.Misses != 30 {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

func TestLoadersShareACache(t *testing.T) {
	for _, kind := range []CacheKind{Encoded, Decoded} {
		first, second := photos(t, 30), photos(t, 30)
		c := cachedConfig(t, kind)
		want := collect(t, makeLoader(t, summed{first}, c), 0)
		l := makeLoader(t, summed{second}, c)
		got := collect(t, l, 0)
		if n := second.reads.Load(); n != 0 {
			t.Errorf("%s: the second loader reads %d samples", kind, n)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the second loader's batches differ", kind)
		}
		if b := l.Clock().Bytes; b != 0 {
			t.Errorf("%s: %d bytes were read by the clock", kind, b)
		}
	}
}

// TestWhatIsAnotherCache: whatever changes what would be kept.
func TestWhatIsAnotherCache(t *testing.T) {
	ds := assorted(t, 20)
	c := cachedConfig(t, Decoded)
	c.Transforms = augment.Train(16)
	collect(t, makeLoader(t, summed{ds}, c), 0)
	other := assorted(t, 20)
	other.samples[11].Values[0] = other.samples[12].Values[0]
	for name, tt := range map[string]struct {
		ds     *memory
		change func(*Config)
		reads  int64
	}{
		"nothing":     {ds, func(*Config) {}, 0},
		"transforms":  {ds, func(c *Config) { c.Transforms, c.Seed, c.DType = augment.Eval(8), 7, formats.Float32 }, 0},
		"color":       {ds, func(c *Config) { c.Color = pixel.ColorGray }, 20},
		"orientation": {ds, func(c *Config) { c.ApplyOrientation = true }, 20},
		"kind":        {ds, func(c *Config) { c.Cache.Kind = Encoded }, 20},
		"fields":      {ds, func(c *Config) { c.Fields = []string{"text"} }, 20},
		"dataset":     {other, func(*Config) {}, 20},
	} {
		c := c
		tt.change(&c)
		before := tt.ds.reads.Load()
		collect(t, makeLoader(t, summed{tt.ds}, c), 0)
		if n := tt.ds.reads.Load() - before; n != tt.reads {
			t.Errorf("another %s: %d reads, want %d", name, n, tt.reads)
		}
	}
}

// Two folders may have files of the same names, sizes and times, as images and masks have that
// came from one archive: neither loader gets the other's.
func TestFoldersOfTheSameNamesHaveTheirOwnCaches(t *testing.T) {
	dir, c := t.TempDir(), cachedConfig(t, Encoded)
	images, masks := filepath.Join(dir, "images"), filepath.Join(dir, "masks")
	bitmaps(t, images, 10)
	bitmaps(t, masks, 200)
	first := openFolder(t, images, c)
	want, other := collect(t, first, 0), collect(t, openFolder(t, masks, c), 0)
	if reflect.DeepEqual(want, other) {
		t.Error("the masks' loader gave the images")
	}
	if err := errors.Join(os.Rename(images, filepath.Join(dir, "old")), os.Rename(masks, images)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(other, collect(t, openFolder(t, images, c), 0)) {
		t.Error("masks that were moved to the images' place are read as those")
	}
	masks, c.Cache = images, Cache{}
	if !reflect.DeepEqual(other, collect(t, openFolder(t, masks, c), 0)) {
		t.Error("the masks through a cache are others than without")
	}
}

// bitmaps writes six BMP files of one size and time and that grey.
func bitmaps(t *testing.T, dir string, grey byte) {
	t.Helper()
	b := slices.Concat([]byte("BM"), make([]byte, 52), bytes.Repeat([]byte{grey}, 8*24))
	for at, x := range map[int]byte{10: 54, 14: 40, 18: 8, 22: 8, 26: 1, 28: 24} {
		b[at] = x
	}
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		path := filepath.Join(dir, "a", fmt.Sprintf("%d.bmp", i))
		if err := errors.Join(os.WriteFile(path, b, 0o644), os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0))); err != nil {
			t.Fatal(err)
		}
	}
}

func openFolder(t *testing.T, dir string, c Config) *Loader {
	t.Helper()
	ds, err := folder.Open(t.Context(), dir, folder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ds.Close() }) // after the Loader
	return makeLoader(t, ds, c)
}

func TestNothingStaysOfACache(t *testing.T) {
	c := cachedConfig(t, Encoded)
	ds := summed{photos(t, 10)}
	a, b := makeLoader(t, ds, c), makeLoader(t, ds, c)
	collect(t, a, 0)
	for _, l := range []*Loader{a, b} {
		if files := list(t, c.Cache.Dir); len(files) != 1 {
			t.Errorf("the cache is in %v, want one file", files)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if files := list(t, c.Cache.Dir); len(files) != 0 {
		t.Errorf("%v are left", files)
	}
	c.Transforms = []augment.Op{augment.RandomErasing{P: 7}}
	if _, err := New(ds, c); err == nil || len(list(t, c.Cache.Dir)) != 0 {
		t.Errorf("a loader that cannot be made leaves %v, error %v", list(t, c.Cache.Dir), err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestErrorsAreNotCached: a sample that could be read the second time is there then.
func TestErrorsAreNotCached(t *testing.T) {
	for _, kind := range []CacheKind{Encoded, Decoded} {
		ds := photos(t, 12)
		ds.broken = map[int]error{4: errDisk}
		good := ds.samples[6].Values[0]
		ds.samples[6].Values[0] = cutJPEG(t)
		c := cachedConfig(t, kind)
		c.OnError, c.Shuffle = Skip, false
		infos := summed{photos(t, 12)} // the dataset stays the same one
		l := makeLoader(t, infoOf{ds, infos}, c)
		if got := indices(collect(t, l, 0)); slices.Contains(got, 4) || slices.Contains(got, 6) || len(got) != 10 {
			t.Errorf("%s: epoch 0 has %v", kind, got)
		}
		ds.broken, ds.samples[6].Values[0] = nil, good
		want := 12
		if kind == Encoded {
			want = 11 // the bytes that cannot be decoded were read without an error
		}
		if got := indices(collect(t, l, 1)); len(got) != want || !slices.Contains(got, 4) {
			t.Errorf("%s: epoch 1 has %v", kind, got)
		}
	}
}

// infoOf is a dataset with the Info of another.
type infoOf struct {
	*memory
	from formats.Dataset
}

func (o infoOf) Info(i int) (formats.Info, error) { return o.from.Info(i) }

func TestCacheErrors(t *testing.T) {
	for want, c := range map[string]Cache{
		"wanted encoded or decoded": {Kind: "all"},
		"positive":                  {Kind: Encoded, Limit: -1},
		"no/such/folder":            {Kind: Encoded, Dir: "/no/such/folder"},
	} {
		if _, err := New(rawImages(2, 2, 2, 3), Config{BatchSize: 1, Cache: c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	l := makeLoader(t, rawImages(0, 2, 2, 3), Config{BatchSize: 1, Transforms: augment.Train(2), Cache: Cache{Kind: Encoded, Dir: t.TempDir()}})
	if len(collect(t, l, 0)) != 0 || l.CacheStats() != (CacheStats{}) {
		t.Error("an empty dataset has a cache")
	}
}

// TestRecords holds that a record is the sample that was put into it, whatever it is made of.
func TestRecords(t *testing.T) {
	ds, _, _ := furnished(t, 9)
	ds.addField(formats.Field{Name: "photo", Kind: formats.Image}, func(i int) formats.Value { return photos(t, 9).samples[i].Values[0] })
	r := record{fields: len(ds.meta.Schema)}
	for k := range ds.meta.Schema {
		if k != 2 {
			r.wanted = append(r.wanted, k)
		}
	}
	for i := range ds.samples {
		from := &ds.samples[i]
		b := aligned(nil, r.size(from))
		copy(b, noise(len(b), i)) // what a record is written over
		r.put(b, from, 6)
		var got formats.Sample
		r.view(b, &got)
		if got.Key != from.Key || len(got.Values) != r.fields {
			t.Fatalf("sample %d: key %q, %d values", i, got.Key, len(got.Values))
		}
		for _, k := range r.wanted {
			a, b := got.Values[k], from.Values[k]
			if !slices.Equal(a.Data, b.Data) || a.Encoding != b.Encoding || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
				t.Fatalf("sample %d: %s is %+v, was %+v", i, ds.meta.Schema[k].Name, a, b)
			}
		}
	}
}

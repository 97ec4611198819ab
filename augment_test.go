package dsconv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// scenes are samples with a mask of half the size, a second image, and boxes. Their keys are those that copies lie
// between: "a" comes before "a-b", and that before "a@1".
type scenes struct{ keys []string }

var sceneKeys = []string{"a", "a-", "a--", "a-b", "a0", "b/c", "b/c.x", "b/d", "z", "é"}

func (scenes) Meta() *formats.Meta {
	return &formats.Meta{
		Schema: formats.Schema{
			{Name: "image", Kind: formats.Image},
			{Name: "label", Kind: formats.Label, Classes: []string{"x", "y", "z"}},
			{Name: "mask", Kind: formats.Mask},
			{Name: "second", Kind: formats.Image},
			{Name: "boxes", Kind: formats.Boxes},
		},
		Columns: []string{"origin"},
	}
}

func (s scenes) Len() int { return len(s.keys) }

func (s scenes) Info(i int) (formats.Info, error) {
	split := []string{"train", "train", "val"}[i%3]
	return formats.Info{
		Key: s.keys[i], Split: split, Label: int64(i % 3), Size: 1000, Columns: []string{fmt.Sprint("camera ", i)},
		Source: formats.Source{Path: s.keys[i] + ".png", Size: 1000, ModTime: 1},
	}, nil
}

func (s scenes) Read(i int, to *formats.Sample) error {
	in, err := s.Info(i)
	if err != nil {
		return err
	}
	pixels := func(h, w, c, seed int) formats.Value {
		r := random.NewRand(uint64(seed), i, 0)
		b := make([]byte, h*w*c)
		for k := range b {
			b[k] = byte(r.Uint64())
		}
		return formats.Value{Data: b, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, c}}
	}
	var boxes []byte
	for _, x := range []float32{2, 3, 20, 18, 25, 0, 29, 4} {
		boxes = binary.LittleEndian.AppendUint32(boxes, math.Float32bits(x))
	}
	var label formats.Value
	label.SetInt64(in.Label)
	to.Key, to.Split, to.Columns, to.Source = in.Key, in.Split, in.Columns, in.Source
	to.Values = []formats.Value{
		pixels(40, 48, 3, 1), label, pixels(20, 24, 1, 2), pixels(40, 48, 3, 3),
		{Data: boxes, Encoding: formats.Raw, DType: formats.Float32, Shape: []int{2, 4}},
	}
	return nil
}

func (scenes) Close() error { return nil }

var sceneRecipe = preprocess.Recipe{
	Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 30}, Encode: codec.EncodeOptions{Encoding: formats.Raw},
}

func packScenes(t *testing.T, name string, a dsconv.Augmentation, change func(*dsconv.Options)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	o := dsconv.Options{Options: convert.Options{Recipe: sceneRecipe}, Augment: a}
	if change != nil {
		change(&o)
	}
	r, err := dsconv.PackDataset(t.Context(), scenes{sceneKeys}, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) > 0 {
		t.Fatal(r.Skipped)
	}
	return path
}

func ops(t *testing.T, s string) augment.Ops {
	t.Helper()
	o, err := augment.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// drawn is what a Loader makes of each sample of a split in an epoch, by key: the image and the fields.
func drawn(t *testing.T, path, split string, o augment.Ops, seed uint64, epoch int) map[string][][]byte {
	t.Helper()
	l, err := dsconv.NewLoader(path, reader.Config{
		BatchSize: 3, Split: split, Transforms: o, Seed: seed, Shuffle: true, Fields: []string{"mask", "second", "boxes"}, Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := map[string][][]byte{}
	for b, err := range l.Epoch(t.Context(), epoch) {
		if err != nil {
			t.Fatal(err)
		}
		size := len(b.ImageBytes()) / b.N
		for i := range b.N {
			in, err := l.InfoOf(b.Indices[i])
			if err != nil {
				t.Fatal(err)
			}
			sample := [][]byte{bytes.Clone(b.ImageBytes()[i*size:][:size])}
			for k := range b.Fields {
				sample = append(sample, bytes.Clone(b.Fields[k].Value(i)))
			}
			all[in.Key] = sample
		}
	}
	return all
}

// TestCopiesAreWhatALoaderDraws: copy c is epoch c of a Loader of the dataset without copies.
func TestCopiesAreWhatALoaderDraws(t *testing.T) {
	const seed = 7
	o := ops(t, "rrc:16x12,flip,jitter:.2:.2:.2:.1,erase:0.5")
	plain := packScenes(t, "plain.lmdb", dsconv.Augmentation{}, nil)
	for _, name := range []string{"copies.lmdb", "copies.tar", "copies.h5"} {
		ds, err := dsconv.Open(packScenes(t, name, dsconv.Augmentation{Ops: o, Copies: 3, Seed: seed, Only: name == "copies.h5"}, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		if want := map[bool]int{false: 4, true: 3}[name == "copies.h5"] * len(sceneKeys); ds.Len() != want {
			t.Errorf("%s has %d samples, want %d", name, ds.Len(), want)
		}
		for copied := 1; copied <= 3; copied++ {
			compared := 0
			for _, split := range []string{"train", "val"} {
				for key, want := range drawn(t, plain, split, o, seed, copied) {
					compareCopy(t, ds, key, copied, split, want)
					compared++
				}
			}
			if compared != len(sceneKeys) {
				t.Fatalf("%d samples compared", compared)
			}
		}
	}
}

func compareCopy(t *testing.T, ds formats.Dataset, key string, copied int, split string, want [][]byte) {
	t.Helper()
	key = fmt.Sprint(key, "@", copied)
	i, err := formats.Find(ds, key)
	if err != nil {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := ds.Read(i, &s); err != nil {
		t.Fatal(err)
	}
	source := slices.Index(sceneKeys, strings.TrimSuffix(key, fmt.Sprint("@", copied)))
	if x, _ := s.Values[1].Int64(); s.Split != split || x != int64(source%3) || s.Columns[0] != fmt.Sprint("camera ", source) {
		t.Errorf("%s: split %s, label %d, columns %v", key, s.Split, x, s.Columns)
	}
	for k, at := range []int{0, 2, 3, 4} {
		if !bytes.Equal(s.Values[at].Data, want[k]) {
			t.Errorf("%s: field %d of shape %v is not what a Loader draws", key, at, s.Values[at].Shape)
		}
	}
}

// The samples themselves are those of a pack without copies, and neither workers nor a kill change a byte.
func TestCopiesAreTheSameHoweverMade(t *testing.T) {
	a := dsconv.Augmentation{Ops: ops(t, "rrc:16,flip"), Copies: 12, Seed: 3}
	one := packScenes(t, "one.lmdb", a, func(o *dsconv.Options) { o.Workers, o.IOWorkers, o.Checkpoint = 1, 1, 4000 })
	many := filepath.Join(t.TempDir(), "one.lmdb")
	o := dsconv.Options{Options: convert.Options{Recipe: sceneRecipe, Workers: 4, Checkpoint: 4000}, Augment: a}
	stops := 0
	for at := 1; ; at += 9 {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p convert.Progress) {
			if p.Done >= at {
				cancel()
			}
		}
		_, err := dsconv.PackDataset(ctx, scenes{sceneKeys}, many, o)
		cancel()
		if err == nil {
			break
		}
		if stops++; stops > 200 {
			t.Fatal(err)
		}
	}
	x, y := open(t, one), open(t, many)
	if x.Len() != 13*len(sceneKeys) || x.Len() != y.Len() {
		t.Fatalf("%d and %d samples", x.Len(), y.Len())
	}
	plain := open(t, packScenes(t, "plain.lmdb", dsconv.Augmentation{}, nil))
	last := ""
	for i := range x.Len() {
		var a, b formats.Sample
		for ds, s := range map[formats.Dataset]*formats.Sample{x: &a, y: &b} {
			if err := ds.Read(i, s); err != nil {
				t.Fatal(err)
			}
		}
		if a.Key <= last || a.Key != b.Key || a.Checksum != b.Checksum {
			t.Errorf("%q after %q: the packs differ", a.Key, last)
		}
		if last = a.Key; strings.Contains(a.Key, "@") {
			continue
		}
		at, err := formats.Find(plain, a.Key)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := plain.Info(at); err != nil || in.Checksum != a.Checksum {
			t.Errorf("%s is another sample than without copies; %v", a.Key, err)
		}
	}
}

func open(t *testing.T, path string) formats.Dataset {
	t.Helper()
	ds, err := dsconv.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ds.Close() })
	return ds
}

// Sources are chosen, not copies: a copy is never in another split than its source.
func TestCopiesStayInTheirSplit(t *testing.T) {
	a := dsconv.Augmentation{Ops: ops(t, "flip"), Copies: 2}
	for name, tt := range map[string]struct {
		change func(*dsconv.Options)
		want   int
	}{
		"shares": {func(o *dsconv.Options) { o.Split = "train=0.5,val=0.5" }, 30},
		"limit":  {func(o *dsconv.Options) { o.Limit = 4 }, 12},
		"sample": {func(o *dsconv.Options) { o.Sample = 5 }, 15},
		"only":   {func(o *dsconv.Options) { o.Only = []string{"val"} }, 9},
	} {
		ds := open(t, packScenes(t, "out.tar", a, tt.change))
		splits := map[string]string{}
		for i := range ds.Len() {
			in, err := ds.Info(i)
			if err != nil {
				t.Fatal(err)
			}
			key, _, _ := strings.Cut(in.Key, "@")
			if was, ok := splits[key]; ok && was != in.Split {
				t.Errorf("%s: %s is in %s, its source in %s", name, in.Key, in.Split, was)
			}
			splits[key] = in.Split
		}
		if ds.Len() != tt.want || len(splits) != tt.want/3 {
			t.Errorf("%s: %d samples of %d sources, want %d", name, ds.Len(), len(splits), tt.want)
		}
	}
}

func TestCopiesThatCannotBeMade(t *testing.T) {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	for want, tt := range map[string]struct {
		spec   string
		copies int
		encode codec.EncodeOptions
		keys   []string
	}{
		"normalize":               {"rrc:8,normalize", 1, raw, sceneKeys},
		"mixup":                   {"rrc:8,mixup:0.2", 1, raw, sceneKeys},
		"the encoding keep keeps": {"rrc:8", 1, codec.EncodeOptions{}, sceneKeys},
		"encoding jpeg-tiled":     {"rrc:8", 1, codec.EncodeOptions{Tiled: true}, sceneKeys},
		"a@1":                     {"rrc:8", 1, raw, []string{"a", "a@1"}},
		"choose 1 to 9999":        {"rrc:8", 10000, raw, sceneKeys},
		"number of copies":        {"rrc:8", 0, raw, sceneKeys},
		"make them differ":        {"", 2, raw, sceneKeys},
		"511":                     {"rrc:8", 2, raw, []string{strings.Repeat("k", 510)}},
	} {
		o := dsconv.Options{
			Options: convert.Options{Recipe: preprocess.Recipe{Encode: tt.encode}},
			Augment: dsconv.Augmentation{Ops: ops(t, tt.spec), Copies: tt.copies},
		}
		_, err := dsconv.PackDataset(t.Context(), scenes{tt.keys}, filepath.Join(t.TempDir(), "x.lmdb"), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

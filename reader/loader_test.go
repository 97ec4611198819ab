package reader

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

func TestRawImagesAreCopiedAsTheyAre(t *testing.T) {
	ds := rawImages(10, 5, 7, 3)
	for name, d := range map[string]formats.Dataset{"read": ds, "view": lending{ds}} {
		l := makeLoader(t, d, Config{BatchSize: 4, Workers: 2})
		for _, b := range collect(t, l, 0) {
			for i, index := range b.Indices {
				if !slices.Equal(Pixels[uint8](b)[i*105:][:105], ds.samples[index].Values[0].Data) {
					t.Fatalf("%s: the pixels of sample %d are not its own", name, index)
				}
			}
		}
	}
}

func TestLentPixelsAreNotWrittenTo(t *testing.T) {
	ds := rawImages(6, 9, 9, 3)
	var before [][]byte
	for _, s := range ds.samples {
		before = append(before, slices.Clone(s.Values[0].Data))
	}
	l := makeLoader(t, lending{ds}, Config{BatchSize: 2, Transforms: []augment.Op{augment.ColorJitter{Brightness: 0.9, Hue: 0.5}}})
	collect(t, l, 0)
	for i, s := range ds.samples {
		if !slices.Equal(before[i], s.Values[0].Data) {
			t.Fatalf("sample %d was changed in the dataset", i)
		}
	}
}

func TestLayoutAndNormalisation(t *testing.T) {
	ds := rawImages(3, 4, 5, 3)
	l := makeLoader(t, ds, Config{
		BatchSize: 3, DType: formats.Float32, Layout: pixel.NCHW,
		Transforms: []augment.Op{augment.ImageNet},
	})
	b := collect(t, l, 0)[0]
	if b.Shape != [4]int{3, 3, 4, 5} || b.DType != formats.Float32 {
		t.Fatalf("shape %v, %d bytes", b.Shape, len(Pixels[uint8](b)))
	}
	for i := range 3 {
		for c := range 3 {
			for p := range 20 {
				x := ds.samples[i].Values[0].Data[p*3+c]
				want := (float32(x)/255 - float32(augment.ImageNet.Mean[c])) / float32(augment.ImageNet.Std[c])
				if got := Pixels[float32](b)[(i*3+c)*20+p]; got != want {
					t.Fatalf("image %d, channel %d, pixel %d: %v, want %v", i, c, p, got, want)
				}
			}
		}
	}
}

// bfloat16 is the upper half of float32, rounded.
func TestHalfBatches(t *testing.T) {
	c := Config{
		BatchSize: 3, Seed: 2, Layout: pixel.NCHW, DType: formats.Float32,
		Transforms: append(augment.Train(20), augment.ImageNet),
	}
	ds := rawImages(3, 40, 50, 3)
	floats := Pixels[float32](collect(t, makeLoader(t, ds, c), 1)[0])
	c.DType = formats.BFloat16
	b := collect(t, makeLoader(t, ds, c), 1)[0]
	if b.DType != formats.BFloat16 || len(Pixels[uint16](b)) != len(floats) {
		t.Fatalf("%d uint8, %d float32, %d halves", len(Pixels[uint8](b)), len(Pixels[float32](b)), len(Pixels[uint16](b)))
	}
	for i, x := range floats {
		got := math.Float32frombits(uint32(Pixels[uint16](b)[i]) << 16)
		if math.Abs(float64(got-x)) > math.Abs(float64(x))/256 {
			t.Fatalf("element %d: %v for %v", i, got, x)
		}
	}
}

func TestSplit(t *testing.T) {
	ds := photos(t, 30)
	c := Config{BatchSize: 4, Split: "val", Transforms: augment.Train(8), Shuffle: true}
	l := makeLoader(t, ds, c)
	got := indices(collect(t, l, 0))
	if len(got) != 10 || l.Samples() != 10 {
		t.Fatalf("%d samples, Samples says %d", len(got), l.Samples())
	}
	for _, i := range got {
		if info, err := l.InfoOf(i); err != nil || info.Split != "val" {
			t.Errorf("sample %d is in %s: %v", i, info.Split, err)
		}
	}
	c.Split = "test"
	if _, err := New(ds, c); err == nil || !strings.Contains(err.Error(), "train, val") {
		t.Errorf("an unknown split gives %v", err)
	}
}

// TestSplitDrawsAsADatasetOfItsOwn holds that it does not matter whether a split is a
// dataset or a part of one.
func TestSplitDrawsAsADatasetOfItsOwn(t *testing.T) {
	ds := photos(t, 30)
	own := newMemory()
	for _, s := range ds.samples {
		if s.Split == "val" {
			own.samples = append(own.samples, s)
		}
	}
	c := Config{BatchSize: 4, Transforms: augment.Train(8), Shuffle: true, Seed: 5}
	want := collect(t, makeLoader(t, own, c), 2)
	c.Split = "val"
	got := collect(t, makeLoader(t, ds, c), 2)
	for k := range want {
		if !slices.Equal(Pixels[uint8](got[k]), Pixels[uint8](want[k])) || !slices.Equal(Labels[int64](got[k]), Labels[int64](want[k])) {
			t.Fatalf("batch %d differs", k)
		}
	}
}

func TestAt(t *testing.T) {
	l := makeLoader(t, photos(t, 9), Config{BatchSize: 4, Workers: 2, Transforms: augment.Train(8)})
	want := collect(t, l, 0)
	b := new(Batch)
	for i := range 9 {
		if err := l.At(i, b); err != nil {
			t.Fatal(err)
		}
		n := len(Pixels[uint8](b))
		from := want[i/4]
		if b.N != 1 || b.Indices[0] != i || Labels[int64](b)[0] != int64(i) || !slices.Equal(Pixels[uint8](b), Pixels[uint8](from)[i%4*n:][:n]) {
			t.Fatalf("sample %d: %d entries, index %d, label %d", i, b.N, b.Indices[0], Labels[int64](b)[0])
		}
	}
	if l.At(9, b) == nil || l.At(-1, b) == nil {
		t.Error("an index outside is taken")
	}
}

func TestDifferentSizesNameKeysAndTheWayOut(t *testing.T) {
	known := rawImages(3, 4, 4, 3)
	known.samples[2].Values[0] = rawImages(1, 4, 5, 3).samples[0].Values[0]
	_, err := New(known, Config{BatchSize: 1})
	if !errors.Is(err, augment.ErrSize) || !strings.Contains(err.Error(), known.samples[2].Key) || !strings.Contains(err.Error(), "rrc:SIZE") {
		t.Errorf("known sizes: error %v", err)
	}
	unknown := photos(t, 3)
	l := makeLoader(t, unknown, Config{BatchSize: 1})
	n, err := drain(l)
	if n != 1 || !errors.Is(err, augment.ErrSize) || !strings.Contains(err.Error(), unknown.samples[1].Key) {
		t.Errorf("unknown sizes: %d batches, error %v", n, err)
	}
}

func TestChannels(t *testing.T) {
	ds := rawImages(2, 3, 3, 1)
	for _, tt := range []struct {
		color pixel.Color
		want  int
	}{{"", 3}, {pixel.ColorRGB, 3}, {pixel.ColorGray, 1}, {pixel.ColorKeep, 1}} {
		l := makeLoader(t, ds, Config{BatchSize: 2, Color: tt.color})
		if got := l.ImageShape(); got != [3]int{3, 3, tt.want} {
			t.Errorf("color %q: shape %v", tt.color, got)
		}
		b := collect(t, l, 0)[0]
		if Pixels[uint8](b)[tt.want] != ds.samples[0].Values[0].Data[1] {
			t.Errorf("color %q: pixels %v", tt.color, Pixels[uint8](b)[:6])
		}
	}
	ds.samples[1].Values[0] = rawImages(1, 3, 3, 3).samples[0].Values[0]
	l := makeLoader(t, ds, Config{BatchSize: 2, Color: pixel.ColorKeep})
	if _, err := drain(l); err == nil || !strings.Contains(err.Error(), "3 channels") {
		t.Errorf("mixed channels: error %v", err)
	}
}

func TestMultiHot(t *testing.T) {
	ds := rawImages(5, 2, 2, 3)
	ds.meta.Schema[1] = formats.Field{Name: "tags", Kind: formats.MultiHot, Classes: []string{"a", "b", "c"}}
	for i := range ds.samples {
		ds.samples[i].Values[1] = formats.Value{Data: []byte{1, byte(i & 1), byte(i >> 1 & 1)}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3}}
	}
	l := makeLoader(t, ds, Config{BatchSize: 2, WorldSize: 3, Rank: 2})
	b := collect(t, l, 0)[0]
	if !slices.Equal(b.MultiHot, []uint8{1, 0, 0, 0, 0, 0}) || !slices.Equal(Labels[int64](b), []int64{-1, -1}) {
		t.Errorf("multi-hot %v, labels %v", b.MultiHot, Labels[int64](b))
	}
	rows, err := l.MultiHot(t.Context())
	if err != nil || !slices.Equal(rows, []uint8{1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0}) {
		t.Errorf("rows %v, %v", rows, err)
	}
	ds.meta.Schema[1].Classes = nil
	if b := collect(t, makeLoader(t, ds, Config{BatchSize: 5}), 0)[0]; !slices.Equal(b.MultiHot, rows) {
		t.Errorf("without names of the classes: %v", b.MultiHot)
	}
	ds.samples[4].Values[1].Data = []byte{1}
	if _, err := drain(l); err == nil || !strings.Contains(err.Error(), ds.samples[4].Key) {
		t.Errorf("a row of another length gives %v", err)
	}
	if _, err := l.MultiHot(t.Context()); err == nil || !strings.Contains(err.Error(), ds.samples[4].Key) {
		t.Errorf("a row of another length gives %v", err)
	}
	if _, err := makeLoader(t, labelled(1), Config{BatchSize: 1}).MultiHot(t.Context()); err == nil {
		t.Error("one class is multi-hot")
	}
}

func TestNoLabels(t *testing.T) {
	ds := rawImages(2, 2, 2, 3)
	ds.dropLabels()
	b := collect(t, makeLoader(t, ds, Config{BatchSize: 2}), 0)[0]
	if !slices.Equal(Labels[int64](b), []int64{-1, -1}) || b.MultiHot != nil {
		t.Errorf("labels %v, multi-hot %v", Labels[int64](b), b.MultiHot)
	}
}

func TestClock(t *testing.T) {
	ds := photos(t, 40)
	l := makeLoader(t, ds, Config{BatchSize: 8, Workers: 3, Transforms: augment.Train(16)})
	(&ticking{tick: fast}).times(l)
	collect(t, l, 0)
	once := l.Clock()
	var size int64
	for _, s := range ds.samples {
		size += int64(len(s.Values[0].Data))
	}
	if once.Images != 40 || once.Bytes != size {
		t.Errorf("%d images, %d bytes, want 40 and %d", once.Images, once.Bytes, size)
	}
	if min(once.Read, once.Decode, once.Augment, once.Collate) < 40*fast || once.Wait < 5*fast {
		t.Errorf("each stage of 40 images and each of 5 waits take at least %v: %+v", fast, once)
	}
	collect(t, l, 1)
	if d := l.Clock().Sub(once); d.Images != 40 || d.Bytes != size || d.Decode < 40*fast {
		t.Errorf("second epoch: %+v", d)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.BatchSize = 0 }, "batch size 0"},
		{func(c *Config) { c.Workers = -1 }, "workers -1"},
		{func(c *Config) { c.Prefetch = -1 }, "prefetch"},
		{func(c *Config) { c.Rank = 1 }, "rank 1 of 1"},
		{func(c *Config) { c.Color = "blue" }, "blue"},
		{func(c *Config) { c.DType = formats.Int64 }, "int64"},
		{func(c *Config) { c.FastDecode, c.Cache.Kind = true, Decoded }, "depend on what is in the cache"},
		{func(c *Config) { c.Layout = "hwc" }, "hwc"},
		{func(c *Config) { c.Transforms = []augment.Op{augment.ImageNet} }, "float32"},
		{func(c *Config) { c.Transforms = []augment.Op{augment.Resize{H: 2, W: 2}, nil} }, "transforms: op 1 is nil"},
		{func(c *Config) { c.Transforms = []augment.Op{(*augment.Resize)(nil)} }, "transform 1 of 1 is nil"},
		{func(c *Config) { c.Tail = "77" }, `"77"`},
		{func(c *Config) { c.Shuffle, c.Order.Kind = true, order.Block }, "leave out one of them"},
		{func(c *Config) { c.Order.Kind = "sorted" }, "sorted"},
		{func(c *Config) { c.Cache.Limit = -1 }, "cache of -1 bytes"},
		{func(c *Config) { c.MaxPixels = -1 }, "max pixels -1"},
		{func(c *Config) { c.LabelDType = formats.BFloat16 }, "bfloat16"},
		{func(c *Config) { c.OnError = "ignore" }, "ignore"},
	} {
		c := Config{BatchSize: 2}
		tt.change(&c)
		if _, err := New(rawImages(2, 2, 2, 3), c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

// memoryFormat opens one dataset under any path.
type memoryFormat struct{ ds *memory }

func (memoryFormat) Name() string                           { return "memory" }
func (memoryFormat) Match(string) bool                      { return true }
func (f memoryFormat) Open(string) (formats.Dataset, error) { return f.ds, nil }

func TestOpenOwnsTheDataset(t *testing.T) {
	ds := rawImages(2, 2, 2, 3)
	reg := formats.Registry{memoryFormat{ds}}
	l, err := Open(reg, "somewhere", Config{BatchSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil || !ds.closed {
		t.Errorf("closed %v, error %v", ds.closed, err)
	}
	ds.closed = false
	if _, err := Open(reg, "somewhere", Config{}); err == nil || !ds.closed {
		t.Errorf("a Loader that cannot be made leaves the dataset open; error %v", err)
	}
}

// TestFastDecode: fast pixels are near the exact ones, and not computed from all of the image.
func TestFastDecode(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		if _, err := New(rawImages(1, 4, 4, 3), Config{BatchSize: 1, FastDecode: true}); !errors.Is(err, pixel.ErrUnsupported) {
			t.Errorf("fast decoding without libjpeg-turbo: %v", err)
		}
		return
	}
	ds := newMemory()
	for range 2 {
		ds.add("train", waves(t, 640, 480))
	}
	batch := func(fast bool) []uint8 {
		l, err := New(ds, Config{BatchSize: 2, Transforms: augment.Train(32), FastDecode: fast})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			return slices.Clone(Pixels[uint8](b))
		}
		return nil
	}
	exact, fast := batch(false), batch(true)
	sum, differ := 0, 0
	for i := range exact {
		if d := int(exact[i]) - int(fast[i]); d != 0 {
			sum, differ = sum+d*d, differ+1
		}
	}
	if mean := float64(sum) / float64(len(exact)); differ == 0 || mean > 9 {
		t.Errorf("%d of %d elements differ, by %.1f in the mean of squares", differ, len(exact), mean)
	}
}

// waves is a JPEG without the detail that a smaller one could not show.
func waves(t *testing.T, w, h int) formats.Value {
	t.Helper()
	m := pixel.Image{}
	m.Reset(h, w, 3, formats.Uint8)
	for i := range m.Pix {
		x, y := float64(i/3%w), float64(i/3/w)
		m.Pix[i] = byte(128 + 60*math.Sin(x/23) + 60*math.Cos(y/19))
	}
	e := codec.NewEncoder()
	defer e.Close()
	data, err := e.AppendJPEG(nil, &m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 95})
	if err != nil {
		t.Fatal(err)
	}
	return formats.Value{Data: data, Encoding: formats.JPEG}
}

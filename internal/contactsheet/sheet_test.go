package contactsheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// memory is a dataset in memory.
type memory struct {
	meta    formats.Meta
	samples []formats.Sample
	infos   []formats.Info
}

func (d *memory) Meta() *formats.Meta              { return &d.meta }
func (d *memory) Len() int                         { return len(d.samples) }
func (d *memory) Info(i int) (formats.Info, error) { return d.infos[i], nil }
func (d *memory) Close() error                     { return nil }
func (d *memory) Read(i int, s *formats.Sample) error {
	if d.samples[i].Values == nil {
		return fmt.Errorf("key %q: %w", d.samples[i].Key, formats.ErrDamaged)
	}
	*s = d.samples[i]
	return nil
}

// newMemory returns a dataset of classes; counts says how many samples each has, of images of noise.
func newMemory(h, w int, counts ...int) *memory {
	d := &memory{}
	var classes []string
	for class, n := range counts {
		classes = append(classes, fmt.Sprintf("class %d", class))
		for k := range n {
			d.add(fmt.Sprintf("%02d/%05d", class, k), int64(class), noise(h, w, class*1000+k))
		}
	}
	d.meta.Schema = formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: classes}}
	return d
}

func (d *memory) add(key string, class int64, pixels formats.Value) {
	var label formats.Value
	label.SetInt64(class)
	d.samples = append(d.samples, formats.Sample{Key: key, Values: []formats.Value{pixels, label}})
	d.infos = append(d.infos, formats.Info{Key: key, Label: class})
}

func noise(h, w, seed int) formats.Value {
	r := random.NewRand(uint64(seed), 0, 0)
	b := make([]byte, h*w*3)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return formats.Value{Data: b, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, 3}}
}

// smoothJPEG is a JPEG without noise, whose exact and fast pixels differ.
func smoothJPEG(t *testing.T, h, w int) formats.Value {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{byte(3 * x), byte(2 * y), byte(x * y / 16), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return formats.Value{Data: b.Bytes(), Encoding: formats.JPEG}
}

func made(t *testing.T, ds formats.Dataset, o Options) *Sheet {
	t.Helper()
	s, err := Make(t.Context(), ds, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// part returns the pixels of the part of tile k where an image of h by w lies.
func (s *Sheet) part(t *testing.T, k, size, h, w int) []byte {
	text, err := newWriter()
	if err != nil {
		t.Fatal(err)
	}
	x := margin + k%s.Columns*(size+margin) + (size-w)/2
	y := margin + k/s.Columns*(size+text.height()+margin) + (size-h)/2
	var rgb []byte
	for dy := range h {
		for dx := range w {
			c := s.Image.NRGBAAt(x+dx, y+dy)
			rgb = append(rgb, c.R, c.G, c.B)
		}
	}
	return rgb
}

func TestTilesHaveTheLoadersPixels(t *testing.T) {
	ds := newMemory(40, 60, 3, 3)
	ds.samples[4].Values[0] = smoothJPEG(t, 50, 60)
	s := made(t, ds, Options{Size: 64, Columns: 4})
	if s.Columns != 4 || s.Rows != 2 || s.Image.Rect.Dx() != margin+4*(64+margin) {
		t.Fatalf("%d columns, %d rows, %v", s.Columns, s.Rows, s.Image.Rect)
	}
	l, err := reader.New(ds, reader.Config{BatchSize: 1, AnySize: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for k, shown := range s.Samples {
		var b reader.Batch
		if err := l.At(shown.Index, &b); err != nil {
			t.Fatal(err)
		}
		if got := s.part(t, k, 64, b.Shape[1], b.Shape[2]); !bytes.Equal(got, reader.Pixels[uint8](&b)) {
			t.Errorf("tile %d is not sample %d, as the Loader gives it", k, shown.Index)
		}
	}
}

func TestRowsHaveTheLoadersDraws(t *testing.T) {
	ds := newMemory(40, 60, 5, 5)
	for i := range ds.samples {
		ds.infos[i].Split = []string{"val", "train"}[i%2]
	}
	ds.meta.Splits = []formats.Split{{Name: "train", Count: 5}, {Name: "val", Count: 5}}
	for _, ops := range []string{"rrc:24,flip,jitter:0.4,normalize", "rrc:24,flip,jitter:0.4", "flip,rotate:20,normalize:0.5:0.25"} {
		for _, splits := range [][]string{nil, {"train"}, {"train", "val"}} {
			transforms, err := augment.Parse(ops)
			if err != nil {
				t.Fatal(err)
			}
			s := made(t, ds, Options{Size: 60, Columns: 5, Samples: 3, Seed: 7, Splits: splits, Transforms: transforms})
			if len(s.Samples) != 3 || s.Rows != 3 || s.Columns != 5 {
				t.Fatalf("%d samples, %d rows, %d columns", len(s.Samples), s.Rows, s.Columns)
			}
			without := slices.DeleteFunc(transforms, func(op augment.Op) bool { _, is := op.(augment.Normalize); return is })
			l, err := reader.New(ds, reader.Config{BatchSize: 1, AnySize: true, Seed: 7, Splits: splits, Transforms: without})
			if err != nil {
				t.Fatal(err)
			}
			for row, shown := range s.Samples {
				for epoch := range 4 {
					var b reader.Batch
					if err := l.Pick(shown.Index, epoch, &b); err != nil {
						t.Fatal(err)
					}
					want := enlarged(reader.Pixels[uint8](&b), b.Shape[1], b.Shape[2], 60/max(b.Shape[1], b.Shape[2]))
					times := 60 / max(b.Shape[1], b.Shape[2])
					if got := s.part(t, row*5+1+epoch, 60, times*b.Shape[1], times*b.Shape[2]); !bytes.Equal(got, want) {
						t.Errorf("%s, splits %q, sample %d, epoch %d: not the Loader's pixels", ops, splits, shown.Index, epoch)
					}
				}
			}
			l.Close()
		}
	}
}

// enlarged repeats each pixel.
func enlarged(rgb []byte, h, w, times int) (out []byte) {
	for y := range h * times {
		for x := range w * times {
			at := 3 * (y/times*w + x/times)
			out = append(out, rgb[at:at+3]...)
		}
	}
	return out
}

func TestChoiceIsBalanced(t *testing.T) {
	ds := newMemory(4, 4, 200, 2, 50, 0, 1)
	count := func(seed uint64, n int) (counts [5]int, keys []string) {
		for _, one := range made(t, ds, Options{Samples: n, Seed: seed, Size: 8, Columns: 20}).Samples {
			counts[one.class(ds)]++
			keys = append(keys, one.Key)
		}
		return counts, keys
	}
	if counts, _ := count(1, 23); counts != [5]int{10, 2, 10, 0, 1} {
		t.Errorf("23 samples: %v", counts)
	}
	if counts, _ := count(1, 1000); counts != [5]int{200, 2, 50, 0, 1} {
		t.Errorf("all samples: %v", counts)
	}
	counts, first := count(1, 3)
	if slices.Max(counts[:]) > 1 {
		t.Errorf("3 samples of 4 classes: %v", counts)
	}
	if _, again := count(1, 3); !slices.Equal(first, again) {
		t.Errorf("the same seed chose %v and %v", first, again)
	}
	different := false
	for seed := range uint64(8) {
		_, other := count(seed+2, 3)
		different = different || !slices.Equal(first, other)
	}
	if !different {
		t.Error("nine seeds chose the same samples")
	}
}

// class is the class of a shown sample.
func (s Sample) class(ds *memory) int64 { return ds.infos[s.Index].Label }

func TestDamagedSamplesHaveANamedTile(t *testing.T) {
	ds := newMemory(16, 16, 3)
	ds.samples[1].Values = nil
	ds.samples[2].Values[0] = formats.Value{Data: []byte("\xff\xd8\xff no JPEG"), Encoding: formats.JPEG}
	s := made(t, ds, Options{Size: 32})
	for i, want := range []error{nil, formats.ErrDamaged, s.Samples[2].Damage} {
		if !errors.Is(s.Samples[i].Damage, want) {
			t.Errorf("sample %d: %v, want %v", i, s.Samples[i].Damage, want)
		}
		if !slices.Equal(s.Samples[i].Labels, []string{"class 0"}) {
			t.Errorf("sample %d: labels %q", i, s.Samples[i].Labels)
		}
	}
	if s.Samples[2].Damage == nil {
		t.Error("a JPEG that is none was shown")
	}
	tile := s.part(t, 1, 32, 32, 32)
	if !bytes.Contains(tile, []byte{damaged.R, damaged.G, damaged.B}) || slices.Min(tile) > 100 {
		t.Error("the tile of a damaged sample has no text on red")
	}
}

// TestDeepGreyIsNotWhite: 8 bits of 16-bit grey are white, as Pillow makes them.
func TestDeepGreyIsNotWhite(t *testing.T) {
	ds := newMemory(8, 8, 1)
	deep := make([]byte, 2*8*8)
	for i := range 64 {
		deep[2*i+1] = byte(2 * i) // the high byte
	}
	ds.samples[0].Values[0] = formats.Value{Data: deep, Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{8, 8, 1}}
	tile := made(t, ds, Options{Size: 8}).part(t, 0, 8, 8, 8)
	for i := range 64 {
		if tile[3*i] != byte(2*i) {
			t.Fatalf("pixel %d is %d, not %d", i, tile[3*i], 2*i)
		}
	}
}

func TestBoxesAreDrawn(t *testing.T) {
	ds := newMemory(20, 20, 1)
	ds.meta.Schema = append(ds.meta.Schema, formats.Field{Name: "boxes", Kind: formats.Boxes})
	var box formats.Value
	box.Data, box.Encoding, box.DType, box.Shape = boxBytes(5, 6, 15, 18), formats.Raw, formats.Float32, []int{1, 4}
	ds.samples[0].Values = append(ds.samples[0].Values, box)
	s := made(t, ds, Options{Size: 20})
	tile := s.part(t, 0, 20, 20, 20)
	if at := 3 * (6*20 + 5); !bytes.Equal(tile[at:at+3], []byte{boxColor.R, boxColor.G, boxColor.B}) {
		t.Errorf("the box's corner is %v", tile[at:at+3])
	}
}

func TestMultiHotAndNumbersAreNamed(t *testing.T) {
	ds := newMemory(8, 8, 2)
	ds.meta.Schema[1] = formats.Field{Name: "label", Kind: formats.MultiHot, Classes: []string{"sun", "rain", "fog"}}
	for i, row := range [][]byte{{1, 0, 1}, {0, 0, 1}} {
		ds.samples[i].Values[1] = formats.Value{Data: row, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3}}
		ds.infos[i].Label = formats.NoLabel
	}
	if s := made(t, ds, Options{}); !slices.Equal(s.Samples[0].Labels, []string{"sun", "fog"}) || !slices.Equal(s.Samples[1].Labels, []string{"fog"}) {
		t.Errorf("%+v", s.Samples)
	}
	ds.meta.Schema[1] = formats.Field{Name: "label", Kind: formats.Number}
	for i := range 2 {
		ds.samples[i].Values[1].SetFloat32(0.5)
	}
	if s := made(t, ds, Options{}); !slices.Equal(s.Samples[0].Labels, []string{"0.5"}) {
		t.Errorf("%+v", s.Samples)
	}
}

func TestHugeImagesAreReducedInTheLoader(t *testing.T) {
	ds := newMemory(8, 8, 1)
	ds.samples[0].Values[0] = smoothJPEG(t, 10, 3000)
	s := made(t, ds, Options{Size: 30})
	if s.Samples[0].Damage != nil {
		t.Fatal(s.Samples[0].Damage)
	}
	if tile := s.part(t, 0, 30, 1, 30); bytes.Equal(tile[:3], []byte{empty.R, empty.G, empty.B}) {
		t.Error("an image of 10x3000 pixels is not in the middle row of its tile")
	}
	small := made(t, ds, Options{Size: 30, MaxPixels: 100})
	if small.Samples[0].Damage == nil {
		t.Error("an image of more than --max-pixels is shown")
	}
}

func TestOptionErrors(t *testing.T) {
	ds := newMemory(8, 8, 2)
	for name, o := range map[string]Options{
		"choose fewer":         {Size: 20000},
		"must not be negative": {Columns: -1},
		"normalize: 2 values":  {Transforms: augment.Ops{augment.Normalize{Mean: []float64{0, 0}, Std: []float64{1}}}},
		"no sample to show":    {Wanted: func(int) bool { return false }},
	} {
		if _, err := Make(t.Context(), ds, o); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Make(canceled, ds, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestOnlyWantedSamplesAreShown(t *testing.T) {
	ds := newMemory(8, 8, 4, 4)
	for i := range ds.infos {
		ds.infos[i].Split = []string{"val", "train"}[i%2]
	}
	ds.meta.Splits = []formats.Split{{Name: "train", Count: 4}, {Name: "val", Count: 4}}
	for _, splits := range [][]string{nil, {"train"}} {
		s := made(t, ds, Options{Splits: splits, Wanted: func(i int) bool { return i == 3 || i == 5 }})
		var keys []string
		for _, one := range s.Samples {
			keys = append(keys, one.Key)
		}
		if !slices.Equal(keys, []string{"00/00003", "01/00001"}) {
			t.Errorf("splits %q: %v", splits, keys)
		}
	}
}

package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// addField gives all samples an extra field.
func (d *memory) addField(f formats.Field, value func(i int) formats.Value) {
	d.meta.Schema = append(d.meta.Schema, f)
	for i := range d.samples {
		d.samples[i].Values = append(d.samples[i].Values, value(i))
	}
}

func raw(d formats.DType, data []byte, shape ...int) formats.Value {
	return formats.Value{Data: data, Encoding: formats.Raw, DType: d, Shape: shape}
}

func plain(s string) formats.Value {
	return formats.Value{Data: []byte(s), Encoding: formats.Plain}
}

// littleEndian are the bytes of a tensor's elements.
func littleEndian(t testing.TB, elements any) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, elements)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compressed(t testing.TB, v formats.Value) formats.Value {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	v.Data, v.Encoding = e.EncodeAll(v.Data, nil), formats.RawZstd
	return v
}

func noise(n, seed int) []byte {
	r := random.NewRand(uint64(seed), 0, 0)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// noisyPairs is n raw images of noise with an extra field of the same pixels.
func noisyPairs(n, h, w, c int, kind formats.Kind) *memory {
	ds := newMemory()
	for i := range n {
		ds.add("train", raw(formats.Uint8, noise(h*w*c, i), h, w, c))
	}
	ds.addField(formats.Field{Name: "twin", Kind: kind}, func(i int) formats.Value { return ds.samples[i].Values[0] })
	return ds
}

// TestMasksMoveAsTheirImages: where no pixel is interpolated, an image that is its own mask
// stays that, whatever happens to colours behind it.
func TestMasksMoveAsTheirImages(t *testing.T) {
	for _, ops := range [][]augment.Op{
		nil,
		{augment.RandomHorizontalFlip{P: 0.5}},
		{augment.RandomCrop{H: 15, W: 13, Padding: [4]int{4, 3, 2, 1}}, augment.RandomHorizontalFlip{P: 0.5}},
		{augment.RandomResizedCrop{H: 12, W: 19, Filter: "nearest"}, augment.RandomHorizontalFlip{P: 0.5}},
		{augment.Resize{Shorter: 20, Filter: "nearest"}, augment.CenterCrop{H: 16, W: 16}},
	} {
		l := makeLoader(t, noisyPairs(9, 18, 23, 3, formats.Mask), Config{BatchSize: 4, Workers: 3, Fields: []string{"twin"}, Transforms: ops})
		for _, b := range collect(t, l, 0) {
			f := b.Fields[0]
			if !bytes.Equal(f.Data, Pixels[uint8](b)) {
				t.Fatalf("%v: the mask is not where its image is", ops)
			}
			if want := b.Shape[1:]; !slices.Equal(f.Shape, want) || f.Kind != formats.Mask || f.DType != formats.Uint8 || f.Shapes != nil {
				t.Fatalf("%v: %+v, want the shape %v", ops, f, want)
			}
		}
	}
}

// TestOtherSizesFollow: a mask or an extra image of another size than the designated image is the same scene. It
// comes out as one that was scaled before it was stored.
func TestOtherSizesFollow(t *testing.T) {
	for _, kind := range []formats.Kind{formats.Mask, formats.Image} {
		small, full := noisyPairs(5, 24, 30, 3, kind), noisyPairs(5, 24, 30, 3, kind)
		filter := pixel.Bilinear
		if kind == formats.Mask {
			filter = pixel.Nearest
		}
		for i := range small.samples {
			half := pixel.Image{Pix: noise(12*15*3, 100+i), H: 12, W: 15, C: 3, DType: formats.Uint8}
			small.samples[i].Values[len(small.meta.Schema)-1] = raw(formats.Uint8, half.Pix, 12, 15, 3)
			var scaled pixel.Image
			if err := new(resample.Resampler).Resize(&scaled, &half, pixel.Rect{}, 30, 24, filter); err != nil {
				t.Fatal(err)
			}
			full.samples[i].Values[len(full.meta.Schema)-1] = raw(formats.Uint8, scaled.Pix, 24, 30, 3)
		}
		for _, ops := range []augment.Ops{nil, {augment.RandomResizedCrop{H: 9, W: 14}, augment.RandomHorizontalFlip{P: 0.5}}} {
			c := Config{BatchSize: 5, Fields: []string{"twin"}, Transforms: ops}
			got, want := collect(t, makeLoader(t, small, c), 0)[0], collect(t, makeLoader(t, full, c), 0)[0]
			if !bytes.Equal(got.Fields[0].Data, want.Fields[0].Data) {
				t.Errorf("%s, %v: the field differs from one of the image's size", kind, ops)
			}
		}
	}
}

func TestColoursDoNotChangeMasks(t *testing.T) {
	ds := noisyPairs(6, 18, 23, 3, formats.Mask)
	c := Config{BatchSize: 6, Fields: []string{"twin"}, Transforms: []augment.Op{augment.RandomCrop{H: 9, W: 9}}}
	want := collect(t, makeLoader(t, ds, c), 0)[0]
	c.Transforms = append(c.Transforms, augment.ColorJitter{Brightness: 0.8, Hue: 0.4}, augment.RandomErasing{P: 1})
	got := collect(t, makeLoader(t, ds, c), 0)[0]
	if bytes.Equal(Pixels[uint8](got), Pixels[uint8](want)) {
		t.Error("the colours did not change")
	}
	if !bytes.Equal(got.Fields[0].Data, want.Fields[0].Data) {
		t.Error("the mask changed with its image's colours")
	}
}

// TestMasksKeepTheirValues: no class comes up that lies between two others, and a palette's
// indices count, not its colours.
func TestMasksKeepTheirValues(t *testing.T) {
	palette := color.Palette{color.Black, color.White, color.NRGBA{200, 3, 7, 255}, color.NRGBA{9, 8, 7, 255}}
	ds := photos(t, 8)
	ds.addField(formats.Field{Name: "mask", Kind: formats.Mask}, func(i int) formats.Value {
		m := image.NewPaletted(image.Rect(0, 0, 40+i%17, 30+i%23), palette)
		for j, x := range noise(len(m.Pix), i) {
			m.Pix[j] = x % 3 / 2 * 3 // 0 or 3
		}
		var buf bytes.Buffer
		if err := png.Encode(&buf, m); err != nil {
			t.Fatal(err)
		}
		return formats.Value{Data: buf.Bytes(), Encoding: formats.PNG}
	})
	for _, ops := range [][]augment.Op{augment.Train(24), augment.Eval(24), {augment.RandomCrop{H: 28, W: 28, Padding: [4]int{3, 3, 3, 3}}}} {
		l := makeLoader(t, ds, Config{BatchSize: 8, Fields: []string{"mask"}, Transforms: ops, DType: formats.Float32, Layout: pixel.NCHW})
		f := &collect(t, l, 0)[0].Fields[0]
		count := map[byte]int{}
		for _, x := range f.Data {
			count[x]++
		}
		if len(count) != 2 || count[0] == 0 || count[3] == 0 {
			t.Errorf("%v: values %v, want 0 and 3", ops, count)
		}
		side := l.ImageShape()[0]
		if !slices.Equal(f.Shape, []int{side, side, 1}) {
			t.Errorf("%v: shape %v", ops, f.Shape)
		}
	}
}

func TestDeepMasks(t *testing.T) {
	ds := rawImages(3, 4, 5, 3)
	deep := deepImages(3, 4, 5, 1)
	ds.addField(formats.Field{Name: "depth", Kind: formats.Mask}, func(i int) formats.Value { return deep.samples[i].Values[0] })
	l := makeLoader(t, ds, Config{BatchSize: 3, Fields: []string{"depth"}, Transforms: []augment.Op{augment.RandomHorizontalFlip{P: 1}}})
	f := &collect(t, l, 0)[0].Fields[0]
	for i := range 3 {
		pixels := words(deep.samples[i].Values[0].Data)
		for y := range 4 {
			slices.Reverse(pixels[y*5:][:5])
		}
		if got := Elements[uint16](f.Value(i)); !slices.Equal(got, pixels) || f.DType != formats.Uint16 {
			t.Fatalf("mask %d of %s: %v, want %v", i, f.DType, got, pixels)
		}
	}
}

// TestFurtherImagesLookAsTheDesignatedOne: the same crop, flip, colours and normalisation, of
// parts of JPEGs too.
func TestFurtherImagesLookAsTheDesignatedOne(t *testing.T) {
	ds := photos(t, 14)
	for _, seed := range []int{5, 6} {
		i := len(ds.samples)
		ds.add("train", waves(t, 200+seed, 150))
		if i%2 == 0 {
			ds.samples[i].Values[0] = waves(t, 130, 170+seed)
		}
	}
	ds.addField(formats.Field{Name: "twin", Kind: formats.Image}, func(i int) formats.Value { return ds.samples[i].Values[0] })
	ops := append(augment.Train(16), augment.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1})
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16, formats.Float32, formats.Float16} {
		for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
			c := Config{BatchSize: 16, Workers: 2, Fields: []string{"twin"}, DType: d, Layout: layout, Transforms: ops}
			if d.Size() == 4 {
				c.Transforms = append(slices.Clone(ops), augment.ImageNet)
			}
			b := collect(t, makeLoader(t, ds, c), 1)[0]
			f := b.Fields[0]
			if !bytes.Equal(f.Data, b.ImageBytes()) {
				t.Errorf("%s, %s: the twin looks otherwise", d, layout)
			}
			if !slices.Equal(f.Shape, b.Shape[1:]) || f.DType != d {
				t.Errorf("%s, %s: an extra image of %s and the shape %v", d, layout, f.DType, f.Shape)
			}
		}
	}
}

func TestBoxesMoveAndKeepTheirNumber(t *testing.T) {
	ds := rawImages(4, 20, 30, 3)
	boxes := [][]float32{{}, {1, 2, 11, 12}, {0, 0, 30, 20, 25, 15, 30, 20}, {6, 6, 8, 9}}
	ds.addField(formats.Field{Name: "boxes", Kind: formats.Boxes}, func(i int) formats.Value {
		return raw(formats.Float32, littleEndian(t, boxes[i]), len(boxes[i])/4, 4)
	})
	l := makeLoader(t, ds, Config{BatchSize: 4, Fields: []string{"boxes"}, Transforms: []augment.Op{
		augment.CenterCrop{H: 10, W: 20}, augment.RandomHorizontalFlip{P: 1}, augment.Resize{H: 20, W: 60},
	}})
	// Off by (5, 5), cut at 20x10, mirrored, twice as high and three times as wide.
	want := [][]float32{{}, {42, 0, 60, 14}, {0, 0, 60, 20, 0, 20, 0, 20}, {51, 2, 57, 8}}
	b := collect(t, l, 0)[0]
	f := b.Fields[0]
	for i := range want {
		if got := Elements[float32](f.Value(i)); !slices.Equal(got, want[i]) {
			t.Errorf("boxes %d are %v, want %v", i, got, want[i])
		}
	}
	if !reflect.DeepEqual(f.Shapes, [][]int{{0, 4}, {1, 4}, {2, 4}, {1, 4}}) || f.Shape != nil || !slices.Equal(f.Offsets, []int{0, 0, 16, 48, 64}) {
		t.Errorf("shapes %v, shape %v, offsets %v", f.Shapes, f.Shape, f.Offsets)
	}
}

// furnished is a dataset with a field of each kind that batches hold as it is. What want gives
// is its elements.
func furnished(t testing.TB, n int) (ds *memory, names []string, want func(name string, i int) (data []byte, shape []int)) {
	t.Helper()
	ds = rawImages(n, 4, 4, 3)
	type content struct {
		data  []byte
		shape []int
	}
	contents := map[string]func(i int) content{}
	add := func(f formats.Field, value func(i int) formats.Value, plainOf func(i int) content) {
		ds.addField(f, value)
		names = append(names, f.Name)
		if plainOf == nil {
			plainOf = func(i int) content { v := value(i); return content{v.Data, v.Shape} }
		}
		contents[f.Name] = plainOf
	}
	count := func(i int) (x []int64) {
		for k := range i%4 + 1 {
			x = append(x, int64(i)<<33, int64(-k))
		}
		return x
	}
	tensor := func(i int) formats.Value { return raw(formats.Int64, littleEndian(t, count(i)), i%4+1, 2) }
	matrix := func(i int) formats.Value {
		return raw(formats.Float32, littleEndian(t, []float32{float32(i), 1.5, -2, 3, 4, 5}), 2, 3)
	}
	text := func(i int) formats.Value { return plain(strings.Repeat("é", i%3)) }
	ofText := func(i int) content { v := text(i); return content{v.Data, []int{len(v.Data)}} }
	zipped := func(v func(i int) formats.Value) (a func(i int) formats.Value, b func(i int) content) {
		return func(i int) formats.Value { return compressed(t, v(i)) }, func(i int) content { return content{v(i).Data, v(i).Shape} }
	}
	add(formats.Field{Name: "second", Kind: formats.Label}, func(i int) (v formats.Value) { v.SetInt64(int64(i) - 5); return v }, nil)
	add(formats.Field{Name: "tags", Kind: formats.MultiHot, Classes: []string{"a", "b", "c"}}, func(i int) formats.Value {
		return raw(formats.Uint8, []byte{1, byte(i % 2), 0}, 3)
	}, nil)
	add(formats.Field{Name: "matrix", Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 3}}, matrix, nil)
	add(formats.Field{Name: "series", Kind: formats.Array, DType: formats.Int64, Shape: []int{-1, 2}}, tensor, nil)
	add(formats.Field{Name: "free", Kind: formats.Array, DType: formats.Int64}, tensor, nil)
	a, b := zipped(matrix)
	add(formats.Field{Name: "packed", Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 3}}, a, b)
	a, b = zipped(tensor)
	add(formats.Field{Name: "packed-series", Kind: formats.Array, DType: formats.Int64, Shape: []int{-1, 2}}, a, b)
	add(formats.Field{Name: "caption", Kind: formats.Text}, text, ofText)
	info := func(i int) formats.Value { return plain(`"` + strings.Repeat("é", i%3) + `"`) }
	add(formats.Field{Name: "info", Kind: formats.JSON}, info, func(i int) content { v := info(i); return content{v.Data, []int{len(v.Data)}} })
	add(formats.Field{Name: "blob", Kind: formats.Bytes}, text, ofText)
	return ds, names, func(name string, i int) ([]byte, []int) { c := contents[name](i); return c.data, c.shape }
}

func TestFieldsThatDoNotMove(t *testing.T) {
	ds, names, want := furnished(t, 23)
	for _, workers := range []int{1, 4} {
		l := makeLoader(t, ds, Config{BatchSize: 5, Workers: workers, Shuffle: true, Fields: names})
		for epoch := range 2 {
			for _, b := range collect(t, l, epoch) {
				if len(b.Fields) != len(names) {
					t.Fatalf("%d fields, want %d", len(b.Fields), len(names))
				}
				checkFields(t, b, want)
			}
		}
	}
}

// checkFields compares a batch's fields with what they should be, in value and shape.
func checkFields(t *testing.T, b *Batch, want func(name string, i int) ([]byte, []int)) {
	t.Helper()
	for k := range b.Fields {
		f := b.Fields[k]
		if len(f.Offsets) != b.N+1 || f.Offsets[b.N] != len(f.Data) || f.Shape == nil && len(f.Shapes) != b.N {
			t.Fatalf("%s: %d offsets, %d shapes, %d bytes for %d samples", f.Name, len(f.Offsets), len(f.Shapes), len(f.Data), b.N)
		}
		for i, index := range b.Indices {
			data, shape := want(f.Name, index)
			got := f.Shape
			if got == nil {
				got = f.Shapes[i]
			}
			if !bytes.Equal(f.Value(i), data) || !slices.Equal(got, shape) {
				t.Fatalf("%s of sample %d is %v of shape %v, want %v of %v", f.Name, index, f.Value(i), got, data, shape)
			}
		}
	}
}

func TestFieldsComeInTheOrderAskedFor(t *testing.T) {
	ds, _, want := furnished(t, 4)
	l := makeLoader(t, ds, Config{BatchSize: 4, Fields: []string{"caption", "matrix"}})
	b := collect(t, l, 0)[0]
	if b.Fields[0].Name != "caption" || b.Fields[1].Name != "matrix" || len(b.Fields) != 2 {
		t.Fatalf("fields %+v", b.Fields)
	}
	checkFields(t, b, want)
}

// TestElementsOfAllTypes reads elements in place; the race detector's build also checks that
// they are aligned.
func TestElementsOfAllTypes(t *testing.T) {
	ds, names, _ := furnished(t, 7)
	for _, b := range collect(t, makeLoader(t, ds, Config{BatchSize: 3, Fields: names}), 0) {
		for k := range b.Fields {
			f := b.Fields[k]
			for i := range b.N {
				sameElements(t, f.DType, f.Value(i))
			}
			sameElements(t, f.DType, f.Data)
		}
	}
	for n := range 40 {
		b := aligned(nil, n)
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		sameElements(t, formats.Int64, b[:n&^7])
	}
}

func sameElements(t *testing.T, d formats.DType, b []byte) {
	t.Helper()
	var got any
	switch d {
	case formats.Uint8:
		got = Elements[uint8](b)
	case formats.Int64:
		got = Elements[int64](b)
	case formats.Float32:
		got = Elements[float32](b)
	}
	if again := littleEndian(t, got); !bytes.Equal(again, b) {
		t.Fatalf("elements of %s: %v of %v", d, got, b)
	}
}

func TestFieldErrors(t *testing.T) {
	ds, _, _ := furnished(t, 3)
	ds.addField(formats.Field{Name: "loose", Kind: formats.Array}, func(int) formats.Value { return raw(formats.Uint8, []byte{1}, 1) })
	for name, want := range map[string]string{
		"captoin": `"captoin"; the dataset has image, label, second`,
		"image":   "in every batch already",
		"label":   "in every batch already",
		"loose":   "element type differs",
	} {
		if _, err := New(ds, Config{BatchSize: 1, Fields: []string{name}}); !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %s", name, err, want)
		}
	}
}

// TestBadFieldsNameKeyAndField makes the second of three samples bad in turn.
func TestBadFieldsNameKeyAndField(t *testing.T) {
	good := raw(formats.Uint8, noise(4*4, 1), 4, 4, 1)
	image := raw(formats.Uint8, noise(4*4*3, 1), 4, 4, 3)
	floats := raw(formats.Float32, make([]byte, 32), 2, 4)
	cut := compressed(t, floats)
	cut.Data = cut.Data[:len(cut.Data)/2]
	for _, tt := range []struct {
		field     formats.Field
		good, bad formats.Value
		want      string
	}{
		{formats.Field{Kind: formats.Mask}, good, image, "3 channels"},
		{formats.Field{Kind: formats.Mask}, good, raw(formats.Uint16, noise(32, 1), 4, 4, 1), "uint16"},
		{formats.Field{Kind: formats.Mask}, good, formats.Value{Data: []byte("no image"), Encoding: formats.PNG}, "image"},
		{formats.Field{Kind: formats.Image}, image, formats.Value{Data: []byte("no image"), Encoding: formats.JPEG}, "image"},
		{formats.Field{Kind: formats.Boxes}, floats, raw(formats.Float32, make([]byte, 12), 3), "boxes"},
		{formats.Field{Kind: formats.Boxes}, floats, raw(formats.Int64, make([]byte, 32), 1, 4), "int64"},
		{formats.Field{Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 4}}, floats, raw(formats.Float32, make([]byte, 16), 4), "16 bytes"},
		{formats.Field{Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 4}}, floats, cut, "zstd"},
		{formats.Field{Kind: formats.Array, DType: formats.Float32, Shape: []int{-1, 4}}, floats, cut, "zstd"},
	} {
		t.Run(fmt.Sprint(tt.field.Kind, " ", tt.want), func(t *testing.T) {
			tt.field.Name = "extra"
			ds := rawImages(3, 4, 4, 3)
			ds.addField(tt.field, func(i int) formats.Value { return []formats.Value{tt.good, tt.bad, tt.good}[i] })
			n, err := drain(makeLoader(t, ds, Config{BatchSize: 1, Fields: []string{"extra"}}))
			if n != 1 || err == nil {
				t.Fatalf("%d batches, error %v", n, err)
			}
			for _, part := range []string{ds.samples[1].Key, "extra", tt.want} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

// TestFieldsOfPadding are those of the samples that are repeated.
func TestFieldsOfPadding(t *testing.T) {
	ds, names, want := furnished(t, 4)
	l := makeLoader(t, ds, Config{BatchSize: 2, WorldSize: 3, Rank: 2, Fields: names})
	b := collect(t, l, 0)[0]
	if !slices.Equal(b.Indices, []int{-1, -1}) {
		t.Fatalf("indices %v, want padding", b.Indices)
	}
	b.Indices = []int{0, 1}
	checkFields(t, b, want)
}

func TestFieldsLeaveNothingOfALargerBatch(t *testing.T) {
	ds, names, want := furnished(t, 23) // the last batch is shorter
	l := makeLoader(t, ds, Config{BatchSize: 10, Prefetch: 1, Workers: 1, Fields: names})
	for epoch := range 3 {
		for _, b := range collect(t, l, epoch) {
			checkFields(t, b, want)
		}
	}
}

func TestAtHasFields(t *testing.T) {
	ds, names, want := furnished(t, 9)
	l := makeLoader(t, ds, Config{BatchSize: 4, Fields: names})
	b := new(Batch)
	for _, i := range []int{3, 0, 8} {
		if err := l.At(i, b); err != nil {
			t.Fatal(err)
		}
		checkFields(t, b, want)
	}
}

func TestBoxesStayInTheImage(t *testing.T) {
	ds := photos(t, 20)
	ds.addField(formats.Field{Name: "boxes", Kind: formats.Boxes}, func(i int) formats.Value {
		h, w := float32(30+i%23), float32(40+i%17)
		return raw(formats.Float32, littleEndian(t, []float32{1, 2, w - 3, h - 4, 0, 0, w, h}), 2, 4)
	})
	l := makeLoader(t, ds, Config{BatchSize: 20, Fields: []string{"boxes"}, Transforms: augment.Train(16)})
	b := collect(t, l, 0)[0]
	for i := range b.N {
		all := Elements[float32](b.Fields[0].Value(i))
		if !slices.Equal(all[4:], []float32{0, 0, 16, 16}) {
			t.Errorf("the box of the whole of image %d is %v", i, all[4:])
		}
		if in := all[:4]; in[0] < 0 || in[1] < 0 || in[2] > 16 || in[3] > 16 || in[0] > in[2] || in[1] > in[3] || math.IsNaN(float64(in[0])) {
			t.Errorf("box %v of image %d", in, i)
		}
	}
}

// TestMasksOfImagesOfAnySize have the size of their image, sample by sample.
func TestMasksOfImagesOfAnySize(t *testing.T) {
	for kind, channels := range map[formats.Kind]int{formats.Mask: 1, formats.Image: 3} {
		ds := newMemory()
		shape := func(i int) []int { return []int{3 + i, 7 - i, channels} }
		for i := range 4 {
			ds.add("", raw(formats.Uint8, noise((3+i)*(7-i)*3, i), 3+i, 7-i, 3))
		}
		ds.addField(formats.Field{Name: "second", Kind: kind}, func(i int) formats.Value {
			s := shape(i)
			return raw(formats.Uint8, noise(s[0]*s[1]*s[2], 100+i), s...)
		})
		l := makeLoader(t, ds, Config{BatchSize: 1, AnySize: true, Fields: []string{"second"}})
		if f := l.Frame().Fields[0]; f.Shape != nil {
			t.Errorf("%s: all have the shape %v", kind, f.Shape)
		}
		var b Batch
		for _, i := range []int{3, 0, 2, 1} {
			if err := l.Pick(i, 0, &b); err != nil {
				t.Fatal(err)
			}
			want := ds.samples[i].Values[len(ds.samples[i].Values)-1].Data
			if f := b.Fields[0]; !bytes.Equal(f.Value(0), want) || !slices.Equal(f.Shape, shape(i)) {
				t.Errorf("%s %d: shape %v", kind, i, f.Shape)
			}
		}
	}
}

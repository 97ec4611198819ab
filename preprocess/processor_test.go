package preprocess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

var stereo = formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "right", Kind: formats.Image},
	{Name: "mask", Kind: formats.Mask},
	{Name: "boxes", Kind: formats.Boxes},
	{Name: "label", Kind: formats.Label},
	{Name: "caption", Kind: formats.Text},
}

// stereoSample has a pair of 100x60, a 16-bit mask and two boxes.
func stereoSample(t *testing.T) *formats.Sample {
	t.Helper()
	e := inner.NewEncoder()
	defer e.Close()
	s := &formats.Sample{Key: "a/b", Split: "train", Columns: []string{"x"}}
	s.Resize(len(stereo))
	img := pixeltest.TestImage(100, 60, 3, formats.Uint8)
	for i, enc := range []codec.EncodeOptions{{Encoding: formats.JPEG, Quality: 90}, {Encoding: formats.PNG}} {
		if err := e.Encode(&s.Values[i], img, enc, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Encode(&s.Values[2], pixeltest.TestImage(100, 60, 1, formats.Uint16), inner.EncodeOptions{Encoding: formats.PNG}, 0); err != nil {
		t.Fatal(err)
	}
	s.Values[3] = boxes(10, 20, 50, 40, 90, 0, 100, 60)
	s.Values[4].SetInt64(7)
	s.Values[5] = formats.Value{Data: []byte("two views"), Encoding: formats.Plain}
	return s
}

func boxes(v ...float32) formats.Value {
	b := formats.Value{Encoding: formats.Raw, DType: formats.Float32, Shape: []int{len(v) / 4, 4}}
	for _, x := range v {
		b.Data = binary.LittleEndian.AppendUint32(b.Data, math.Float32bits(x))
	}
	return b
}

func newProcessor(t *testing.T, r Recipe, schema formats.Schema) *Processor {
	t.Helper()
	p, err := NewProcessor(r, schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestProcessGeometry(t *testing.T) {
	p := newProcessor(t, Recipe{Resize: Resize{ResizeCover, 30, 30}, Encode: codec.EncodeOptions{Encoding: formats.Raw}}, stereo)
	var in *formats.Sample
	var out formats.Sample
	for range 2 { // the second time into reused memory
		in = stereoSample(t)
		if err := p.Process(in, &out); err != nil {
			t.Fatal(err)
		}
	}
	// 100x60 covers 30x30 as 50x30, of which columns 10 to 40 stay.
	for i, want := range []struct {
		shape []int
		dtype formats.DType
	}{{[]int{30, 30, 3}, formats.Uint8}, {[]int{30, 30, 3}, formats.Uint8}, {[]int{30, 30, 1}, formats.Uint16}} {
		v := out.Values[i]
		if v.Encoding != formats.Raw || !slices.Equal(v.Shape, want.shape) || v.DType != want.dtype {
			t.Errorf("%s: %s %v %s", stereo[i].Name, v.Encoding, v.Shape, v.DType)
		}
	}
	if want := boxes(0, 10, 15, 20, 30, 0, 30, 30); !bytes.Equal(out.Values[3].Data, want.Data) {
		t.Errorf("boxes %x, want %x", out.Values[3].Data, want.Data)
	}
	if x, _ := out.Values[4].Int64(); x != 7 || string(out.Values[5].Data) != "two views" {
		t.Error("label or caption changed")
	}
	if out.Key != "a/b" || out.Split != "train" || !slices.Equal(out.Columns, in.Columns) {
		t.Errorf("%+v", out)
	}
	// The mask's pixels are pixels of the source.
	mask := pixeltest.TestImage(100, 60, 1, formats.Uint16)
	var want, cut pixel.Image
	var r resample.Resampler
	if err := r.Resize(&want, mask, pixel.Rect{}, 50, 30, pixel.Nearest); err != nil {
		t.Fatal(err)
	}
	want.Crop(&cut, pixel.Rect{X: 10, Y: 0, W: 30, H: 30})
	if !bytes.Equal(out.Values[2].Data, cut.Pix) {
		t.Error("the mask is not its nearest pixels")
	}
}

// A mask of half the size is scaled to the image's new size, also where the image has that size already.
func TestProcessScalesSmallMasks(t *testing.T) {
	for _, r := range []Resize{{ResizeExact, 100, 60}, {ResizeExact, 40, 30}, {ResizeCover, 60, 60}} {
		p := newProcessor(t, Recipe{Resize: r, Encode: codec.EncodeOptions{Encoding: formats.Raw}}, stereo)
		in, half := stereoSample(t), pixeltest.TestImage(50, 30, 1, formats.Uint8)
		in.Values[2] = formats.Value{Data: half.Pix, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{30, 50, 1}}
		var out formats.Sample
		if err := p.Process(in, &out); err != nil {
			t.Fatal(err)
		}
		w, h, keep := r.Plan(100, 60, false)
		var want, cut pixel.Image
		if err := new(resample.Resampler).Resize(&want, half, pixel.Rect{}, w, h, pixel.Nearest); err != nil {
			t.Fatal(err)
		}
		if err := want.Crop(&cut, keep); err != nil {
			t.Fatal(err)
		}
		if v := out.Values[2]; !slices.Equal(v.Shape, []int{r.H, r.W, 1}) || !bytes.Equal(v.Data, cut.Pix) {
			t.Errorf("%s: the mask becomes %v, or other pixels", r, v.Shape)
		}
	}
}

// A mask of single bits is 0 and 1 in every encoding, and an image of single bits 0 and 255.
func TestProcessMasksOfSingleBits(t *testing.T) {
	data := []byte("\x89PNG\r\n\x1a\n")
	data = append(data, pixeltest.ChunkOf("IHDR", []byte{0, 0, 0, 8, 0, 0, 0, 2, 1, 0, 0, 0, 0})...)
	data = append(data, pixeltest.ChunkOf("IDAT", pixeltest.ZlibOf([]byte{0, 0xF0, 0, 0x3C}))...)
	data = append(data, pixeltest.ChunkOf("IEND", nil)...)
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "mask", Kind: formats.Mask}}
	for _, r := range []Recipe{
		{},
		{Color: pixel.ColorKeep, Encode: codec.EncodeOptions{Encoding: formats.Raw}},
		{Color: pixel.ColorKeep, Encode: codec.EncodeOptions{Encoding: formats.PNG}},
		{Color: pixel.ColorKeep, Resize: Resize{ResizeExact, 8, 2}, Encode: codec.EncodeOptions{Encoding: formats.PNG}},
	} {
		in, out := new(formats.Sample), new(formats.Sample)
		in.Resize(2)
		for i := range in.Values {
			in.Values[i] = formats.Value{Data: bytes.Clone(data), Encoding: formats.PNG}
		}
		if err := newProcessor(t, r, schema).Process(in, out); err != nil {
			t.Fatal(err)
		}
		bits := []byte{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0}
		for i, o := range []inner.DecodeOptions{{Color: pixel.ColorKeep}, inner.MaskOptions()} {
			var m pixel.Image
			if err := inner.NewDecoder().Decode(&m, &out.Values[i], o); err != nil {
				t.Fatal(err)
			}
			want := bytes.Clone(bits)
			for k := range want {
				want[k] *= []byte{255, 1}[i]
			}
			if !bytes.Equal(m.Pix, want) {
				t.Errorf("%+v: %s is %v, want %v", r, schema[i].Name, m.Pix, want)
			}
		}
	}
}

// A mask that no Loader could read, of floats, is an error that names the field; an image of floats passes with a warning.
func TestProcessKeepsNoMaskOfFloats(t *testing.T) {
	pixeltest.Exact(t) // others read no TIFF of floats
	tags := [][2]uint32{{256, 1}, {257, 1}, {258, 32}, {259, 1}, {262, 1}, {273, 122}, {277, 1}, {279, 4}, {339, 3}}
	data := binary.LittleEndian.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), uint16(len(tags)))
	for _, tag := range tags {
		data = binary.LittleEndian.AppendUint16(data, uint16(tag[0]))
		data = binary.LittleEndian.AppendUint16(data, 4)
		data = binary.LittleEndian.AppendUint32(data, 1)
		data = binary.LittleEndian.AppendUint32(data, tag[1])
	}
	data = binary.LittleEndian.AppendUint32(data, 0)
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(0.5))
	for _, kind := range []formats.Kind{formats.Mask, formats.Image} {
		schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "depth", Kind: kind}}
		p := newProcessor(t, Recipe{}, schema)
		in := stereoSample(t)
		in.Values = in.Values[:2]
		in.Values[1] = formats.Value{Data: bytes.Clone(data), Encoding: formats.TIFF}
		err := p.Process(in, new(formats.Sample))
		if want := kind == formats.Mask; want != errors.Is(err, pixel.ErrUnsupported) || want && !strings.HasPrefix(err.Error(), "field depth: ") {
			t.Errorf("%s: %v", kind, err)
		}
		if p.Warning() != "" { // a Loader reads the image as 8 bits
			t.Errorf("warning %q", p.Warning())
		}
	}
}

func TestProcessJPEGKeepsMasksLossless(t *testing.T) {
	in := stereoSample(t)
	p := newProcessor(t, Recipe{Resize: Resize{Mode: ResizeShorter, W: 30}, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}}, stereo)
	var out formats.Sample
	if err := p.Process(in, &out); err != nil {
		t.Fatal(err)
	}
	for i, want := range []formats.Encoding{formats.JPEG, formats.JPEG, formats.PNG} {
		enc, h, err := inner.Inspect(out.Values[i].Data)
		if err != nil || enc != want || out.Values[i].Encoding != want || h.H != 30 || h.W != 50 {
			t.Errorf("%s: %s %+v %v", stereo[i].Name, enc, h, err)
		}
		if s := out.Values[i].Shape; !slices.Equal(s, []int{h.H, h.W, h.C}) || out.Values[i].DType != h.DType {
			t.Errorf("%s: shape %v of %s, the file says %+v", stereo[i].Name, s, out.Values[i].DType, h)
		}
	}
}

func TestProcessPassthrough(t *testing.T) {
	in := stereoSample(t)
	before := stereoSample(t)
	for i := range in.Values[:3] {
		in.Values[i].Shape, in.Values[i].DType = nil, ""
	}
	p := newProcessor(t, Recipe{}, stereo)
	read, written := &in.Values[0].Data[0], make([]byte, 1)
	out := formats.Sample{Values: []formats.Value{{Data: written}}}
	if err := p.Process(in, &out); err != nil {
		t.Fatal(err)
	}
	if &out.Values[0].Data[0] != read || &in.Values[0].Data[0] != &written[0] {
		t.Error("in and out did not exchange their buffers")
	}
	for i, v := range out.Values {
		if !bytes.Equal(v.Data, before.Values[i].Data) || v.Encoding != before.Values[i].Encoding ||
			!slices.Equal(v.Shape, before.Values[i].Shape) || v.DType != before.Values[i].DType {
			t.Errorf("%s: changed: %s %v %s", stereo[i].Name, v.Encoding, v.Shape, v.DType)
		}
	}
	if !slices.EqualFunc(p.OutputSchema(), stereo, func(a, b formats.Field) bool { return a.Name == b.Name && a.Shape == nil }) {
		t.Errorf("schema %v", p.OutputSchema())
	}
}

// JPEGs of image fields are tiled, other values keep their bytes.
func TestProcessTiles(t *testing.T) {
	pixeltest.Exact(t)
	p := newProcessor(t, Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 4}}, stereo)
	d := inner.NewDecoder()
	defer d.Close()
	var out formats.Sample
	for range 3 { // buffers are swapped
		in, want := stereoSample(t), stereoSample(t)
		if err := p.Process(in, &out); err != nil {
			t.Fatal(err)
		}
		n, untiled := p.Tiled()
		if n != 1 || !slices.Equal(untiled, []string{jpeg.ReasonNotJPEG}) || p.Warning() != "" {
			t.Errorf("tiled %d, %v, %q", n, untiled, p.Warning())
		}
		for i := 1; i < len(stereo); i++ {
			if !bytes.Equal(out.Values[i].Data, want.Values[i].Data) || out.Values[i].Encoding != want.Values[i].Encoding {
				t.Errorf("%s changed", stereo[i].Name)
			}
		}
		v := &out.Values[0]
		if bytes.Equal(v.Data, want.Values[0].Data) || !slices.Equal(v.Shape, []int{60, 100, 3}) || v.Encoding != formats.JPEG {
			t.Errorf("%d bytes of shape %v", len(v.Data), v.Shape)
		}
		sameDecoded(t, d, want.Values[0].Data, v.Data)
	}
	if got := p.OutputSchema(); got[0].Shape != nil {
		t.Errorf("shape %v", got[0].Shape)
	}
}

// Images that libjpeg warns about keep their bytes, with the warning; with Strict they are errors.
func TestProcessTilesIrregular(t *testing.T) {
	pixeltest.Exact(t)
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	p := newProcessor(t, Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 4}}, schema)
	strict := newProcessor(t, Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 4}, Strict: true}, schema)
	plain := pixeltest.IntactJPEGs(t)["444.jpg"]
	parts := pixeltest.SplitJPEG(plain)
	scan := parts[len(parts)-2]
	irregular := slices.Concat(plain[:scan.Data+20], []byte{0xFF, 0xD3}, plain[scan.Data+20:]) // a marker in the image data
	sample := func() *formats.Sample {
		return &formats.Sample{Values: []formats.Value{{Data: bytes.Clone(irregular), Encoding: formats.JPEG}}}
	}
	var out formats.Sample
	if err := p.Process(sample(), &out); err != nil {
		t.Fatal(err)
	}
	if n, untiled := p.Tiled(); n != 0 || len(untiled) != 1 || p.Warning() == "" || !bytes.Equal(out.Values[0].Data, irregular) {
		t.Errorf("tiled %d, %v, warning %q", n, untiled, p.Warning())
	}
	if err := strict.Process(sample(), &out); !errors.Is(err, pixel.ErrCorrupt) {
		t.Errorf("strict: %v", err)
	}
}

func TestProcessRefusesDamage(t *testing.T) {
	for name, recipe := range map[string]Recipe{"keep": {}, "png": {Encode: codec.EncodeOptions{Encoding: formats.PNG}}} {
		p := newProcessor(t, recipe, stereo)
		var out formats.Sample
		for field, want := range map[int]error{0: pixel.ErrTruncated, 2: pixel.ErrTruncated} {
			in := stereoSample(t)
			v := &in.Values[field]
			v.Data = v.Data[:len(v.Data)/2]
			if err := p.Process(in, &out); !errors.Is(err, want) {
				t.Errorf("%s, half a %s: %v", name, stereo[field].Name, err)
			}
		}
		if err := p.Process(stereoSample(t), &out); err != nil {
			t.Errorf("%s, after errors: %v", name, err)
		}
	}
}

// Images whose structure looks damaged but that are readable are written, with a warning.
func TestProcessWarns(t *testing.T) {
	pixeltest.Exact(t)
	in := stereoSample(t)
	v := &in.Values[0]
	// Pillow stops after the last row: a segment that runs past the end of the file.
	v.Data = append(v.Data[:len(v.Data)-2], 0xFF, 0xE1, 0x7F, 0xFF, 0)
	want := bytes.Clone(v.Data)
	p := newProcessor(t, Recipe{}, stereo)
	var out formats.Sample
	if err := p.Process(in, &out); err != nil {
		t.Fatal(err)
	}
	if p.Warning() == "" || !bytes.Equal(out.Values[0].Data, want) {
		t.Errorf("warning %q", p.Warning())
	}
	if err := p.Process(stereoSample(t), &out); err != nil || p.Warning() != "" {
		t.Errorf("the next sample: %v, warning %q", err, p.Warning())
	}
}

func TestProcessOrientation(t *testing.T) {
	in := stereoSample(t)
	in.Values[0].Data = pixeltest.WithOrientation(in.Values[0].Data, 6)
	var out formats.Sample
	for exif, want := range map[pixel.EXIF][]int{pixel.EXIFKeep: {60, 100, 3}, pixel.EXIFApply: {100, 60, 3}} {
		p := newProcessor(t, Recipe{Encode: codec.EncodeOptions{Encoding: formats.Raw}, EXIF: exif}, stereo)
		if err := p.Process(in, &out); err != nil {
			t.Fatal(err)
		}
		if p.Orientation() != 6 || !slices.Equal(out.Values[0].Shape, want) || !slices.Equal(out.Values[2].Shape[:2], want[:2]) {
			t.Errorf("exif %s: orientation %d, shapes %v and %v", exif, p.Orientation(), out.Values[0].Shape, out.Values[2].Shape)
		}
		if exif == pixel.EXIFApply { // lies on its left side: (x, y) goes to (60-y, x)
			if want := boxes(20, 10, 40, 50, 0, 90, 60, 100); !bytes.Equal(out.Values[3].Data, want.Data) {
				t.Errorf("boxes %x, want %x", out.Values[3].Data, want.Data)
			}
		}
	}
	p := newProcessor(t, Recipe{}, stereo)
	if err := p.Process(in, &out); err != nil || p.Orientation() != 6 {
		t.Errorf("keep: orientation %d, %v", p.Orientation(), err)
	}
}

// A whole recipe equals Pillow's convert, resize and crop.
func TestProcessEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	pil := pixeltest.StartPillow(t)
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	for i, path := range pixeltest.Photos(t) {
		if i%60 != 0 {
			continue
		}
		in := &formats.Sample{Values: []formats.Value{*pixeltest.ReadValue(t, path)}}
		_, h, err := inner.Inspect(in.Values[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []string{"shorter:256", "longer:200", "exact:123x77", "fit:128x128", "cover:224x224"} {
			resize, err := parseResize(spec)
			if err != nil {
				t.Fatal(err)
			}
			p := newProcessor(t, Recipe{Resize: resize, Filter: pixel.Bicubic, Encode: codec.EncodeOptions{Encoding: formats.Raw}}, schema)
			var out formats.Sample
			if err := p.Process(in, &out); err != nil {
				t.Fatal(err)
			}
			w, ht, keep := resize.Plan(h.W, h.H, false)
			want := pil.Ask(pixeltest.Ask{
				"op": "recipe", "path": path, "to": []int{w, ht}, "filter": pixel.Bicubic,
				"keep": []int{keep.X, keep.Y, keep.W, keep.H},
			})
			v := out.Values[0]
			if want.Error != "" || !slices.Equal(v.Shape, want.Shape) || pixeltest.SHA(&pixel.Image{Pix: v.Data}) != want.SHA {
				t.Errorf("%s %s: %v, Pillow %v %s", path, spec, v.Shape, want.Shape, want.Error)
			}
		}
	}
}

func TestOutputSchema(t *testing.T) {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	cover := Resize{ResizeCover, 224, 160}
	for _, c := range []struct {
		name  string
		r     Recipe
		in    []int
		shape []int
		dtype formats.DType
	}{
		{"cover raw", Recipe{Resize: cover, Encode: raw}, nil, []int{160, 224, 3}, formats.Uint8},
		{"cover raw gray", Recipe{Resize: cover, Encode: raw, Color: pixel.ColorGray}, nil, []int{160, 224, 1}, formats.Uint8},
		{"cover raw keep", Recipe{Resize: cover, Encode: raw, Color: pixel.ColorKeep}, nil, nil, ""},
		{"cover raw keep of known", Recipe{Resize: cover, Encode: raw, Color: pixel.ColorKeep}, []int{9, 9, 4}, []int{160, 224, 4}, ""},
		{"cover zstd", Recipe{Resize: cover, Encode: raw, Zstd: 3}, nil, nil, formats.Uint8},
		{"cover jpeg", Recipe{Resize: cover, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}}, nil, nil, formats.Uint8},
		{"shorter raw", Recipe{Resize: Resize{Mode: ResizeShorter, W: 9}, Encode: raw}, []int{9, 9, 3}, nil, formats.Uint8},
		{"raw of known", Recipe{Encode: raw}, []int{9, 8, 4}, []int{9, 8, 3}, formats.Uint8},
		{"raw of known, oriented", Recipe{Encode: raw, EXIF: pixel.EXIFApply}, []int{9, 8, 4}, nil, formats.Uint8},
	} {
		p := newProcessor(t, c.r, formats.Schema{{Name: "image", Kind: formats.Image, Shape: c.in}})
		f := p.OutputSchema()[0]
		if !slices.Equal(f.Shape, c.shape) || f.DType != c.dtype {
			t.Errorf("%s: %v of %q, want %v of %q", c.name, f.Shape, f.DType, c.shape, c.dtype)
		}
	}
}

// sameDecoded checks that two images decode to the same pixels without warnings.
func sameDecoded(t testing.TB, d *inner.Decoder, data, out []byte) {
	t.Helper()
	var want, got pixel.Image
	for _, o := range []inner.DecodeOptions{{}, {Color: pixel.ColorKeep}, {EXIF: pixel.EXIFApply}} {
		err := d.Decode(&want, &formats.Value{Data: data}, o)
		warning := d.Warning()
		if err := errors.Join(err, d.Decode(&got, &formats.Value{Data: out}, o)); err != nil {
			t.Fatal(err)
		}
		if warning != "" || d.Warning() != "" {
			t.Fatalf("warnings %q, %q", warning, d.Warning())
		}
		if !slices.Equal(want.Pix, got.Pix) || want.H != got.H || want.W != got.W {
			t.Fatalf("pixels differ with %+v", o)
		}
	}
}

package preprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// cpuBatch is a gpudecode.Batcher whose GPU gives the CPU's pixels. What it cannot decode is left to Request.CPU.
type cpuBatch struct {
	decoder inner.Decoder
	resizer resample.Resampler
	asked   int
	err     error // of the GPU
}

// newBatch returns a cpuBatch that is closed when the test ends.
func newBatch(t *testing.T) *cpuBatch {
	b := new(cpuBatch)
	t.Cleanup(b.decoder.Close)
	return b
}

func (b *cpuBatch) Decode(_ context.Context, r *gpudecode.Request, dst *pixel.Image) (gpudecode.Outcome, error) {
	if b.asked++; b.err != nil {
		return gpudecode.Outcome{}, b.err
	}
	o := inner.DecodeOptions{Color: pixel.ColorRGB}
	if r.Channels == 1 {
		o.Color = pixel.ColorGray
	}
	var whole pixel.Image
	if irregular, err := jpeg.CheckStructure(r.JPEG); err != nil || irregular != "" {
		err := r.CPU()
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: gpudecode.ReasonIrregular, Err: err}, err
	}
	if err := b.decoder.Decode(&whole, &formats.Value{Data: r.JPEG}, o); err != nil {
		err := r.CPU()
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: "BAD_JPEG", Err: err}, err
	}
	if whole.W != r.Window.W || whole.H != r.Window.H {
		return gpudecode.Outcome{}, fmt.Errorf("window %+v of %dx%d", r.Window, whole.W, whole.H)
	}
	return gpudecode.Outcome{Path: gpudecode.Engine}, b.resizer.Resize(dst, &whole, pixel.Rect{}, r.W, r.H, r.Filter)
}

// onGPU processes a sample by the recipe with DecoderGPU.
func onGPU(t *testing.T, r Recipe, schema formats.Schema, b BatchDecoder, in, out *formats.Sample) (*Decoded, *Processor, error) {
	t.Helper()
	r.Decoder = DecoderGPU
	g, err := NewGPUDecoder(r, schema, b)
	if err != nil {
		t.Fatal(err)
	}
	d := new(Decoded)
	if err := g.Decode(t.Context(), in, d); err != nil {
		t.Fatal(err)
	}
	p := newProcessor(t, r, schema)
	return d, p, p.ProcessDecoded(in, d, out)
}

var gpuRecipes = []Recipe{
	{Encode: codec.EncodeOptions{Encoding: formats.Raw}},
	{Encode: codec.EncodeOptions{Encoding: formats.PNG}, Color: pixel.ColorKeep, EXIF: pixel.EXIFApply},
	{Encode: codec.EncodeOptions{Encoding: formats.PNG}, Color: pixel.ColorGray, Resize: Resize{ResizeExact, 31, 17}},
	{Encode: codec.EncodeOptions{Encoding: formats.Raw}, Resize: Resize{ResizeCover, 30, 30}, Filter: pixel.Lanczos},
	{Encode: codec.EncodeOptions{Encoding: formats.Raw}, Resize: Resize{Mode: ResizeShorter, W: 20}, EXIF: pixel.EXIFApply, Filter: pixel.Nearest},
	{Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}, Resize: Resize{ResizeFit, 50, 40}},
}

// A GPU that gives the CPU's pixels gives the CPU's samples, whatever the image, the recipe and the other fields.
func TestSamplesFromAGPU(t *testing.T) {
	pixeltest.Exact(t)
	files, err := filepath.Glob(filepath.Join("testdata", "sound", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var images [][]byte
	for _, f := range files {
		images = append(images, pixeltest.ReadValue(t, f).Data)
	}
	images = append(images, images[0][:len(images[0])/2], nil, []byte("no image"))
	for _, o := range []byte{2, 3, 6, 8} {
		images = append(images, pixeltest.WithOrientation(images[0], o))
	}
	engine := 0
	for _, r := range gpuRecipes {
		cpu, batch := newProcessor(t, r, stereo), newBatch(t)
		for i := range images {
			samples := [2]*formats.Sample{stereoSample(t), stereoSample(t)}
			for _, s := range samples {
				s.Values[0] = formats.Value{Data: images[i], Encoding: formats.Sniff(images[i])}
				s.Values[1] = formats.Value{Data: images[len(images)-1-i], Encoding: formats.Sniff(images[len(images)-1-i])}
			}
			var want, got formats.Sample
			wantErr := cpu.Process(samples[0], &want)
			d, p, err := onGPU(t, r, stereo, batch, samples[1], &got)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || p.Warning() != cpu.Warning() || p.Orientation() != cpu.Orientation() {
				t.Fatalf("%v, image %d: %v, %q; on the CPU %v, %q", r.Map(), i, err, p.Warning(), wantErr, cpu.Warning())
			}
			for k := range want.Values {
				if a, b := &got.Values[k], &want.Values[k]; err == nil && (!bytes.Equal(a.Data, b.Data) || !slices.Equal(a.Shape, b.Shape) || a.DType != b.DType) {
					t.Errorf("%v, image %d: %s differs", r.Map(), i, stereo[k].Name)
				}
			}
			if len(d.Outcomes()) != 2 {
				t.Errorf("%v, image %d: %v: one for each image, none for the mask", r.Map(), i, d.Outcomes())
			}
			for _, o := range d.Outcomes() {
				if o.Path == gpudecode.Engine {
					engine++
				} else if !gpudecode.ByKind(o.Reason) {
					t.Errorf("%v, image %d: %+v", r.Map(), i, o)
				}
			}
		}
	}
	if engine < 100 {
		t.Errorf("%d images were decoded on the GPU", engine)
	}
}

// A Decoded is used again: a sample does not get pixels of the one before.
func TestDecodedIsEmptiedFirst(t *testing.T) {
	r := Recipe{Encode: codec.EncodeOptions{Encoding: formats.Raw}, Decoder: DecoderGPU}
	g, err := NewGPUDecoder(r, stereo, newBatch(t))
	if err != nil {
		t.Fatal(err)
	}
	var d Decoded
	for _, next := range [][]byte{stereoSample(t).Values[1].Data, []byte("broken")} {
		if err := g.Decode(t.Context(), stereoSample(t), &d); err != nil || d.of(0) == nil {
			t.Fatal(err, d.Outcomes())
		}
		s := stereoSample(t)
		s.Values[0].Data = next
		if err := g.Decode(t.Context(), s, &d); err != nil || d.of(0) != nil || d.of(99) != nil {
			t.Error(err, d.Outcomes())
		}
	}
}

// A failure of the GPU is no failure of the image.
func TestFailureOfAGPU(t *testing.T) {
	lost := errors.New("the GPU is lost")
	g, err := NewGPUDecoder(Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}, Decoder: DecoderGPU}, stereo, &cpuBatch{err: lost})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Decode(t.Context(), stereoSample(t), new(Decoded)); !errors.Is(err, lost) {
		t.Error(err)
	}
}

// A result that is too large is left to the CPU before the GPU is asked, and so is what has more than MaxPixels.
func TestLargeResultsStayOnTheCPU(t *testing.T) {
	for name, r := range map[string]Recipe{
		"result": {Resize: Resize{ResizeExact, 9000, 9000}},
		"pixels": {MaxPixels: 10},
	} {
		r.Encode.Encoding, r.Decoder = formats.Raw, DecoderGPU
		b := newBatch(t)
		g, err := NewGPUDecoder(r, stereo, b)
		if err != nil {
			t.Fatal(err)
		}
		var d Decoded
		s := stereoSample(t)
		if err := g.Decode(t.Context(), s, &d); err != nil || b.asked > 0 || d.Outcomes()[0].Path != gpudecode.CPU || g.Memory(s) != 0 {
			t.Errorf("%s: %v; asked %d times, %+v, %d bytes", name, err, b.asked, d.Outcomes(), g.Memory(s))
		}
	}
}

// The recipe records library and card, and a recipe that was recorded is the same again.
func TestRecipeOfAGPU(t *testing.T) {
	device := DeviceOf(gpudecode.Info{Card: "NVIDIA H200", NVJPEG: "13.3.2", Engines: 1})
	r := Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}, Decoder: DecoderGPU, Device: device, Resize: Resize{Mode: ResizeShorter, W: 9}}
	m := r.Map()
	for key, want := range map[string]string{"decoder": "gpu", "nvjpeg": "13.3.2", "card": "NVIDIA H200", "jpeg-engine": "true", "decoder-version": jpeg.DecoderVersion()} {
		if m[key] != want {
			t.Errorf("%s is %q in %v", key, m[key], m)
		}
	}
	again, err := ParseRecipe(m)
	if err != nil || again.Decoder != DecoderGPU || again.Device != device || fmt.Sprint(again.Map()) != fmt.Sprint(m) {
		t.Errorf("%v: %+v", err, again)
	}
	if err := device.Check(gpudecode.Info{Card: "NVIDIA H200", NVJPEG: "13.3.2", Engines: 8}); err != nil {
		t.Error(err)
	}
	for _, other := range []gpudecode.Info{
		{Card: "NVIDIA H200", NVJPEG: "13.3.2"},
		{Card: "NVIDIA A100", NVJPEG: "13.3.2", Engines: 1},
		{Card: "NVIDIA H200", NVJPEG: "12.4.0", Engines: 1},
	} {
		if err := device.Check(other); err == nil || !strings.Contains(err.Error(), device.String()) || !strings.Contains(err.Error(), DeviceOf(other).String()) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if m := (Recipe{Encode: r.Encode}).Map(); m["decoder"] != jpeg.DecoderName || m["card"] != "" {
		t.Errorf("on the CPU: %v", m)
	}
}

func TestRecipesThatNeedNoGPU(t *testing.T) {
	png := codec.EncodeOptions{Encoding: formats.PNG}
	for want, r := range map[string]Recipe{
		"for recipes that decode": {Decoder: DecoderGPU},
		"leave out one of them":   {Decoder: DecoderGPU, Encode: png, Strict: true},
		"Recipe.Device":           {Encode: png, Device: Device{Card: "x"}},
		"choose cpu or gpu":       {Encode: png, Decoder: "tpu"},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	cpu := newProcessor(t, Recipe{Encode: png, Decoder: DecoderCPU}, stereo)
	if err := cpu.Process(stereoSample(t), new(formats.Sample)); err != nil {
		t.Error(err)
	}
	gpu := newProcessor(t, Recipe{Encode: png, Decoder: DecoderGPU}, stereo)
	if err := gpu.Process(stereoSample(t), new(formats.Sample)); err == nil || !strings.Contains(err.Error(), "ProcessDecoded") {
		t.Error(err)
	}
}

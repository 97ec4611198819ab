//go:build linux && cgo

package gpudecode

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// reference is the CPU path.
type reference struct {
	decoder   codec.Decoder
	resampler resample.Resampler
	pixels    pixel.Image
}

// store stores the result of an image in dst.
func (r *reference) store(dst []byte, im *Image, spec *resample.TensorSpec) error {
	color := pixel.ColorRGB
	if spec.Channels() == 1 {
		color = pixel.ColorGray
	}
	if err := r.decoder.Decode(&r.pixels, &formats.Value{Data: im.JPEG}, codec.DecodeOptions{Color: color}); err != nil {
		return err
	}
	t := resample.Target{Spec: spec, Region: im.Region, Flip: im.Flip, FlipV: im.FlipV}
	region := im.Region
	if region == (pixel.Rect{}) {
		region = pixel.Rect{W: im.W, H: im.H}
	}
	n := region.W * region.H * spec.Channels()
	switch spec.DType() {
	case formats.Uint8:
		t.Uint8 = dst[:n]
	case formats.Float32:
		t.Float32 = elements[float32](dst, n)
	default:
		t.Half = elements[uint16](dst, n)
	}
	return r.resampler.ResizeTo(t, &r.pixels, im.Window, im.W, im.H, im.Filter)
}

// storeOnce is store of a reference of its own.
func storeOnce(dst []byte, im *Image, spec *resample.TensorSpec) error {
	r := &reference{}
	defer r.decoder.Close()
	return r.store(dst, im, spec)
}

var dtypes = []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16, formats.Uint16}

func newSpec(t testing.TB, channels int, d formats.DType, l pixel.Layout) *resample.TensorSpec {
	t.Helper()
	spec, err := resample.NewTensorSpec(channels, d, l, []float32{0.4, 0.5, 0.6}[:channels], []float32{0.2, 0.25, 0.3}[:channels])
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// openFake opens the fake GPU with modes.
func openFake(t testing.TB, modes string) *GPU {
	t.Helper()
	g, err := Open(Options{NVJPEG: fakegpu.Load(t, modes)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// pool is JPEGs that batches are made of, with their sizes.
type pool struct {
	data  [][]byte
	kinds []int
	w, h  []int
}

func newPool(t testing.TB, n int) *pool {
	j, p := newJPEGs(t, 7), &pool{}
	for i := range n {
		w, h := 8+j.rng.IntN(73), 8+j.rng.IntN(73)
		if i%17 == 0 {
			w, h = 1+j.rng.IntN(4), 1+j.rng.IntN(4)
		}
		p.data, p.kinds = append(p.data, j.make(i%kinds, w, h)), append(p.kinds, i%kinds)
		p.w, p.h = append(p.w, w), append(p.h, h)
	}
	return p
}

// image returns a random use of a random JPEG.
func (p *pool) image(rng *rand.Rand) (im Image, kind int) {
	i := rng.IntN(len(p.data))
	w, h := p.w[i], p.h[i]
	im.JPEG, im.H, im.W = p.data[i], h, w
	if rng.IntN(3) > 0 {
		im.Window = pixel.Rect{X: rng.IntN(w), Y: rng.IntN(h)}
		im.Window.W, im.Window.H = 1+rng.IntN(w-im.Window.X), 1+rng.IntN(h-im.Window.Y)
		im.H, im.W = im.Window.H, im.Window.W
	}
	if rng.IntN(4) > 0 {
		im.H, im.W = 1+rng.IntN(40), 1+rng.IntN(40)
	}
	im.Filter = []pixel.Filter{"", pixel.Nearest, pixel.Box, pixel.Bilinear, pixel.Hamming, pixel.Bicubic, pixel.Lanczos}[rng.IntN(7)]
	if rng.IntN(3) == 0 {
		im.Region = pixel.Rect{X: rng.IntN(im.W), Y: rng.IntN(im.H)}
		im.Region.W, im.Region.H = 1+rng.IntN(im.W-im.Region.X), 1+rng.IntN(im.H-im.Region.Y)
	}
	im.Flip, im.FlipV = rng.IntN(2) == 0, rng.IntN(2) == 0
	return im, p.kinds[i]
}

// modesOf are modes for random batches: what goes wrong, and how often.
var modesOf = []string{
	"", "", "eager", "slow", "engines:0", "engines:1,cores:1", "skip/3", "partial/3", "image:3/4", "image:6/5,skip/7", "image:10/3,engines:0",
	"unsupported/2", "nvjpegDecodeBatchedEx:6/3", "nvjpegDecodeBatchedEx:5/2", "nvjpegDecodeJpegHost:8/3", "nvjpegDecodeJpegDevice:2/4",
	"nvjpegDecodeBatchedSupportedEx:8/5", "nvjpegJpegStreamParseHeader:3/9", "cuMemAlloc_v2:2/5", "pinned/4",
	"cuMemHostAlloc:2/4", "nvjpegDecodeBatchedInitialize:8/4", "nvjpegDecoderJpegSupported:4/3", "nvjpegDecodeParamsSetROI:2/5",
}

// TestRandomBatches: whatever goes wrong, results are the CPU's bit for bit, and so are errors. DSCONV_BATCHES is how
// many batches there are; make torture has 10,000.
func TestRandomBatches(t *testing.T) {
	batches := 2_000
	if testing.Short() {
		batches = 480
	}
	if n, err := strconv.Atoi(os.Getenv("DSCONV_BATCHES")); err == nil {
		batches = n
	}
	p := newPool(t, 40*kinds)
	rng := rand.New(rand.NewPCG(20, 20))
	total := Counts{Reasons: map[string]int64{}}
	for done, n := 0, 0; done < batches; done += n {
		mode := modesOf[done/10%len(modesOf)]
		n = min(10, batches-done)
		channels := []int{3, 3, 3, 1}[rng.IntN(4)]
		spec := newSpec(t, channels, dtypes[rng.IntN(len(dtypes))], []pixel.Layout{pixel.NHWC, pixel.NCHW}[rng.IntN(2)])
		name := fmt.Sprintf("%q %d channels %s %s", mode, channels, spec.DType(), spec.Layout())
		counts := randomBatches(t, name, mode, p, spec, rng, n)
		total.Engine, total.CUDA, total.CPU = total.Engine+counts.Engine, total.CUDA+counts.CUDA, total.CPU+counts.CPU
		for reason, n := range counts.Reasons {
			total.Reasons[reason] += n
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d batches: %+v", batches, total)
	for _, reason := range []string{ReasonIrregular, ReasonColors, ReasonGray, ReasonNotJPEG, ReasonNotWritten, "BAD_JPEG", "EXECUTION_FAILED"} {
		if total.Reasons[reason] == 0 {
			t.Errorf("no image had the reason %q", reason)
		}
	}
	if total.Engine == 0 || total.CUDA == 0 {
		t.Errorf("paths: %+v", total)
	}
}

// randomBatches decodes n random batches with one Decoder while modes hold.
func randomBatches(t *testing.T, name, modes string, p *pool, spec *resample.TensorSpec, rng *rand.Rand, n int) Counts {
	g := openFake(t, "")
	defer g.Close()
	const most, bytesOf = 12, 12 * 80 * 80 * 3 * 4
	config := Config{Spec: spec, Batch: most, Bytes: bytesOf, Threads: 1 + rng.IntN(3)}
	if rng.IntN(3) == 0 {
		config.Pixels = 1 << (12 + rng.IntN(8))
	}
	d, err := g.NewDecoder(config)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	fakegpu.Set(modes)
	defer fakegpu.Set("")
	r := &reference{}
	defer r.decoder.Close()
	for range n {
		b := newRandomBatch(p, spec, rng, 1+rng.IntN(most), r)
		if err := d.Decode(context.Background(), b.images, out, b.outcomes); err != nil {
			t.Errorf("%s: %v", name, err)
			return d.Counts()
		}
		b.compare(t, name, d, out)
	}
	return d.Counts()
}

// randomBatch is a batch with the results that it must have.
type randomBatch struct {
	images   []Image
	kinds    []int
	outcomes []Outcome
	want     [][]byte
	errs     []error
}

func newRandomBatch(p *pool, spec *resample.TensorSpec, rng *rand.Rand, n int, r *reference) *randomBatch {
	b, at := &randomBatch{outcomes: make([]Outcome, n)}, 0
	size := spec.DType().Size() * spec.Channels()
	for range n {
		im, kind := p.image(rng)
		im.At = at
		want := make([]byte, im.size(size))
		err := r.store(want, &im, spec)
		at += len(want)
		own := im
		im.CPU = func(dst []byte) error { return storeOnce(dst, &own, spec) }
		switch rng.IntN(12) {
		case 0: // decoded elsewhere
			if err == nil {
				im = Image{Ready: want, At: im.At, Reason: "PNG"}
			}
		case 1: // no JPEG
			im.JPEG = slices.Concat([]byte("P"), im.JPEG)
		}
		b.images, b.kinds, b.want, b.errs = append(b.images, im), append(b.kinds, kind), append(b.want, want), append(b.errs, err)
	}
	return b
}

// compare compares what is in out with what must be there.
func (b *randomBatch) compare(t *testing.T, name string, d *Decoder, out *Memory) {
	t.Helper()
	for i, im := range b.images {
		o := b.outcomes[i]
		if fmt.Sprint(o.Err) != fmt.Sprint(b.errs[i]) {
			t.Errorf("%s: kind %d: error %v, on the CPU %v (%+v)", name, b.kinds[i], o.Err, b.errs[i], o)
		}
		if o.Err != nil {
			continue
		}
		got := make([]byte, len(b.want[i]))
		if err := d.stream.ToHost(got, out.block.Address()+0+address(im.At)); err != nil {
			t.Fatal(err)
		}
		if err := d.stream.Sync(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, b.want[i]) {
			t.Errorf("%s: kind %d, %+v: pixels differ from the CPU's: window %+v, %dx%d %s, region %+v, flips %v %v", name, b.kinds[i], o,
				im.Window, im.H, im.W, im.Filter, im.Region, im.Flip, im.FlipV)
		}
		if o.Path == CPU && o.Reason == "" || o.Path == Engine && o.Reason != "" {
			t.Errorf("%s: kind %d: %+v", name, b.kinds[i], o)
		}
	}
}

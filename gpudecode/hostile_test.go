//go:build linux && cgo

package gpudecode

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// fixture is a Decoder on the fake GPU with a batch of images that the engine and CUDA can decode.
type fixture struct {
	t     *testing.T
	gpu   *GPU
	d     *Decoder
	out   *Memory
	spec  *resample.TensorSpec
	batch *randomBatch
}

// newFixture opens a fake GPU with modes and makes a batch of n coloured images of 64 by 48 pixels.
func newFixture(t *testing.T, modes string, n int, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, gpu: openFake(t, modes), spec: newSpec(t, 3, formats.Float32, pixel.NCHW)}
	c := Config{Spec: f.spec, Batch: n, Bytes: n * 3 * 64 * 48 * 4, Threads: 2}
	if change != nil {
		change(&c)
	}
	var err error
	if f.d, err = f.gpu.NewDecoder(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.d.Close)
	if f.out, err = f.d.Memory(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.out.Release)
	f.batch = newPlainBatch(t, f.spec, n)
	return f
}

// newPlainBatch is a batch of n images of 64 by 48 pixels, resized to half.
func newPlainBatch(t *testing.T, spec *resample.TensorSpec, n int) *randomBatch {
	p := &pool{}
	j := newJPEGs(t, 3)
	for i := range n {
		kind := []int{kind444, kind422, kind420, kind440, kindGray}[i%5]
		p.data, p.kinds = append(p.data, j.make(kind, 64, 48)), append(p.kinds, kind)
	}
	b, r, at := &randomBatch{kinds: p.kinds, outcomes: make([]Outcome, n)}, &reference{}, 0
	defer r.decoder.Close()
	for _, data := range p.data {
		im := Image{JPEG: data, Window: pixel.Rect{X: 3, Y: 5, W: 50, H: 40}, H: 20, W: 25, Flip: true, At: at}
		want := make([]byte, im.size(3*spec.DType().Size()))
		if err := r.store(want, &im, spec); err != nil {
			t.Fatal(err)
		}
		own := im
		im.CPU = func(dst []byte) error { return storeOnce(dst, &own, spec) }
		at += len(want)
		b.images, b.want, b.errs = append(b.images, im), append(b.want, want), append(b.errs, nil)
	}
	return b
}

// decode decodes the batch and compares it with the CPU's.
func (f *fixture) decode() Counts {
	f.t.Helper()
	if err := f.d.Decode(context.Background(), f.batch.images, f.out, f.batch.outcomes); err != nil {
		f.t.Fatal(err)
	}
	f.batch.compare(f.t, "", f.d, f.out)
	return f.d.Counts()
}

// TestHostile: each way in which the libraries fail is noticed and named, and no wrong pixel comes out.
func TestHostile(t *testing.T) {
	for modes, want := range map[string]struct {
		path   Path // of some image
		reason string
	}{
		"":                                       {Engine, ""},
		"slow":                                   {Engine, ""},
		"engines:0":                              {CUDA, ""},
		"unsupported/2":                          {CUDA, ""},
		"nvjpegDecodeBatchedSupportedEx:1":       {CUDA, ""},
		"nvjpegDecodeBatchedEx:6":                {CUDA, "EXECUTION_FAILED"},
		"nvjpegDecodeBatchedEx:3@1":              {Engine, ""}, // the call is repeated in halves
		"nvjpegDecodeBatchedInitialize:8":        {CUDA, "INTERNAL_ERROR"},
		"skip@1":                                 {CUDA, ReasonNotWritten},
		"partial@1":                              {CUDA, ReasonNotWritten},
		"skip":                                   {CPU, ReasonNotWritten},
		"partial":                                {CPU, ReasonNotWritten},
		"image:2":                                {CPU, "INVALID_PARAMETER"},
		"image:3":                                {CPU, "BAD_JPEG"},
		"image:4":                                {CPU, "JPEG_NOT_SUPPORTED"},
		"image:5":                                {CPU, "ALLOCATOR_FAILURE"},
		"image:6":                                {CPU, "EXECUTION_FAILED"},
		"image:8":                                {CPU, "INTERNAL_ERROR"},
		"image:9":                                {CPU, "IMPLEMENTATION_NOT_SUPPORTED"},
		"image:10":                               {CPU, "INCOMPLETE_BITSTREAM"},
		"image:11":                               {CPU, "STATUS_11"},
		"engines:0,skip":                         {CPU, ReasonNotWritten},
		"engines:0,nvjpegDecodeJpegHost:10":      {CPU, "INCOMPLETE_BITSTREAM"},
		"engines:0,pinned":                       {CPU, "ALLOCATOR_FAILURE"},
		"engines:0,nvjpegDecoderJpegSupported:4": {CPU, "JPEG_NOT_SUPPORTED"},
		"engines:0,nvjpegDecodeJpegDevice:8":     {CPU, "INTERNAL_ERROR"},
		"engines:0,nvjpegDecoderStateCreate:5":   {CPU, "ALLOCATOR_FAILURE"},
		"engines:0,nvjpegJpegStreamParse:1":      {CPU, "NOT_INITIALIZED"},
		"nvjpegDecodeBatchedPreAllocate:5":       {Engine, ""},
		"nvjpegJpegStreamParseHeader:3":          {Engine, ""}, // the whole JPEG is taken
		"nvjpegJpegStreamParse*:3":               {CPU, "BAD_JPEG"},
		"engines:0,nvjpeg:120400,nvjpegJpegStreamParse:3/4": {CPU, "BAD_JPEG"},
		"direct,slow,nvjpegJpegStreamParse*:3":              {CPU, "BAD_JPEG"},
		"nvjpegDecodeParamsSetExifOrientation:2":            {CPU, "INVALID_PARAMETER"},
		"engines:0,nvjpegDecodeJpegTransferToDevice:6":      {CPU, "EXECUTION_FAILED"},
	} {
		t.Run(modes, func(t *testing.T) {
			f := newFixture(t, "", 10, nil)
			if strings.Contains(modes, "engines:0") {
				f.d.engine.close() // as if the GPU had none
				f.d.engine = nil
			}
			fakegpu.Set(modes)
			counts := f.decode()
			have := map[Path]int64{Engine: counts.Engine, CUDA: counts.CUDA, CPU: counts.CPU}
			if have[want.path] == 0 || want.reason != "" && counts.Reasons[want.reason] == 0 || want.reason == "" && len(counts.Reasons) > 0 {
				t.Errorf("counts are %+v, want %+v", counts, want)
			}
			fakegpu.Set("") // and it goes on
			if again := f.decode(); again.Reasons[want.reason] != counts.Reasons[want.reason] || again.CPU != counts.CPU {
				t.Errorf("afterwards counts are %+v, before %+v", again, counts)
			}
		})
	}
}

// TestEngineIsWaitedFor: the fake engine spoils a batch if it is called before that was waited for, and begins as late
// as it may.
func TestEngineIsWaitedFor(t *testing.T) {
	f := newFixture(t, "slow,engines:1,cores:2", 42, nil)
	f.decode()
	if n := fakegpu.Count("nvjpegDecodeBatchedEx"); n != 1 {
		t.Errorf("%d calls with memory for all images", n)
	}
	f.d.engine.most = 5 * bytesOfImage(64, 48)
	for range 4 {
		f.decode()
	}
	// 10 calls of 4 images, which is a multiple of the cores, and one of 2.
	if c, n := f.d.Counts(), fakegpu.Count("nvjpegDecodeBatchedEx"); c.Engine != 5*42 || n != 1+4*11 {
		t.Errorf("%+v by %d calls", c, n)
	}
}

// TestNoEngine: without an engine, or one whose cores are unknown, the GPU's cores decode, and Info says why.
func TestNoEngine(t *testing.T) {
	for modes, why := range map[string]string{
		"engines:0": "ARCH_MISMATCH", "nvjpegGetHardwareDecoderInfo:7": "ARCH_MISMATCH", "cores:0": "0 engines", "nvjpegCreateEx:9@2": "IMPLEMENTATION_NOT_SUPPORTED",
	} {
		t.Run(modes, func(t *testing.T) {
			f := newFixture(t, modes, 10, nil)
			if info := f.gpu.Info(); info.Engines != 0 || !strings.Contains(info.NoEngine, why) {
				t.Errorf("%+v", info)
			}
			if c := f.decode(); c.CUDA != 10 {
				t.Errorf("%+v", c)
			}
		})
	}
	if why := openFake(t, "").Info().NoEngine; why != "" {
		t.Errorf("with an engine: %s", why)
	}
}

// TestTwoDecodersShareTheEngine: their calls do not overlap either.
func TestTwoDecodersShareTheEngine(t *testing.T) {
	f := newFixture(t, "slow", 12, nil)
	done := make(chan Counts)
	for range 3 {
		d, err := f.gpu.NewDecoder(f.d.config)
		if err != nil {
			t.Fatal(err)
		}
		other := &fixture{t: t, gpu: f.gpu, d: d, spec: f.spec, batch: newPlainBatch(t, f.spec, 12)}
		if other.out, err = d.Memory(); err != nil {
			t.Fatal(err)
		}
		go func() {
			for range 5 {
				if err := d.Decode(context.Background(), other.batch.images, other.out, other.batch.outcomes); err != nil {
					t.Error(err)
				}
				other.batch.compare(t, "", d, other.out)
			}
			other.out.Release()
			d.Close()
			done <- d.Counts()
		}()
	}
	for range 3 {
		if c := <-done; c.Engine != 60 {
			t.Errorf("%+v", c)
		}
	}
}

// TestLost: a lost GPU is an error of the batch, and everything can be closed.
func TestLost(t *testing.T) {
	for _, modes := range []string{"kernel:719@1", "kernel:700@2", "kernel:719@3", "cuStreamSynchronize:700@1", "cuStreamSynchronize:719@3", "cuMemcpyHtoDAsync_v2:214@1", "cuLaunchKernel:719@1"} {
		t.Run(modes, func(t *testing.T) {
			f := newFixture(t, "", 6, nil)
			fakegpu.Set(modes)
			err := f.d.Decode(context.Background(), f.batch.images, f.out, f.batch.outcomes)
			if !errors.Is(err, cuda.ErrLost) {
				t.Fatalf("error %v", err)
			}
			if err := f.d.Decode(context.Background(), f.batch.images, f.out, f.batch.outcomes); !errors.Is(err, cuda.ErrLost) {
				t.Errorf("afterwards: %v", err)
			}
			fakegpu.Set("") // so that what is closed can be counted, after what was in flight
			if err := f.d.stream.Sync(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMemoryIsShort: less of the GPU's memory makes smaller parts, and at last images for the CPU.
func TestMemoryIsShort(t *testing.T) {
	for name, c := range map[string]struct {
		pixels int // Config.Pixels
		modes  string
		engine int64
		reason string // of the others
	}{
		"in parts":                   {3 * 64 * 48 * 4, "", 20, ""},
		"each too large":             {64 * 30, "", 0, ReasonSize},
		"once without memory":        {0, "cuMemAlloc_v2:2@1", 20, ""},
		"without memory":             {0, "cuMemAlloc_v2:2", 0, ReasonMemory},
		"without pinned memory":      {0, "cuMemHostAlloc:2", 0, ReasonMemory},
		"nvJPEG once without memory": {0, "nvjpegDecodeBatchedEx:5@1", 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "", 20, func(config *Config) { config.Pixels = c.pixels })
			fakegpu.Set(c.modes)
			have := f.decode()
			if have.Engine != c.engine || have.CPU != 20-c.engine || have.Reasons[c.reason] != 20-c.engine {
				t.Errorf("%+v", have)
			}
		})
	}
}

// TestCancel: Decode ends between images and batches, with nothing in flight.
func TestCancel(t *testing.T) {
	f := newFixture(t, "skip", 10, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cpu := f.batch.images[0].CPU
	called := 0
	for i := range f.batch.images {
		f.batch.images[i].CPU = func(dst []byte) error {
			called++
			cancel()
			return cpu(dst)
		}
	}
	if err := f.d.Decode(ctx, f.batch.images, f.out, f.batch.outcomes); !errors.Is(err, context.Canceled) || called != 1 {
		t.Errorf("cancelled on the CPU: %v after %d images", err, called)
	}
	if err := f.d.Decode(ctx, f.batch.images, f.out, f.batch.outcomes); !errors.Is(err, context.Canceled) || called != 1 {
		t.Errorf("cancelled before: %v after %d images", err, called)
	}
	if c := f.d.Counts(); c.Engine+c.CUDA+c.CPU != 0 {
		t.Errorf("a cancelled batch was counted: %+v", c)
	}
}

// TestOpenErrors: what is missing is said, with what provides it.
func TestOpenErrors(t *testing.T) {
	path := fakegpu.Load(t, "")
	for modes, want := range map[string]string{
		"sm:70": "compute capability 7.0", "nvjpegCreateEx:6": "no usable GPU",
	} {
		fakegpu.Set(modes)
		_, err := Open(Options{NVJPEG: path})
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", modes, err)
		}
	}
	fakegpu.Set("")
	for name, o := range map[string]Options{
		"there is no GPU 3": {NVJPEG: path, Device: 3},
		"/no/such":          {NVJPEG: "/no/such/libnvjpeg.so"},
		fakegpu.Old:         {NVJPEG: filepath.Join(filepath.Dir(path), fakegpu.Old)},
	} {
		if _, err := Open(o); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInfo: what Open found.
func TestInfo(t *testing.T) {
	g := openFake(t, "engines:3,cores:2")
	i := g.Info()
	if i.Card == "" || i.UUID == "" || i.Compute != "9.0" || i.Engines != 3 || i.Cores != 2 || i.Memory == 0 || i.Driver != "13.0" || i.NVJPEG != "13.3.2" || i.Library == "" {
		t.Errorf("%+v", i)
	}
	fakegpu.Set("engines:0")
	other, err := Open(Options{NVJPEG: i.Library})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if i := other.Info(); i.Engines != 0 || i.Cores != 0 {
		t.Errorf("%+v", i)
	}
}

// TestClose: the order of closing is checked, and closed things say so.
func TestClose(t *testing.T) {
	f := newFixture(t, "", 2, nil)
	if err := f.gpu.Close(); err == nil || !strings.Contains(err.Error(), "1 Decoders are open") {
		t.Errorf("closed under a Decoder: %v", err)
	}
	f.decode()
	f.d.Close()
	f.d.Close()
	if err := f.d.Decode(context.Background(), f.batch.images, f.out, f.batch.outcomes); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("Decode after Close: %v", err)
	}
	if _, err := f.d.Memory(); err == nil {
		t.Error("Memory after Close")
	}
	for range 2 {
		if err := f.gpu.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.gpu.NewDecoder(f.d.config); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("NewDecoder after Close: %v", err)
	}
	f.out.Release() // after all else
}

// TestNonsense: wrong arguments are errors of the batch.
func TestNonsense(t *testing.T) {
	f := newFixture(t, "", 2, nil)
	good := f.batch.images[0]
	for name, change := range map[string]func(*Image){
		"CPU is nil":    func(im *Image) { im.CPU = nil },
		"size is 0x":    func(im *Image) { im.H = 0 },
		"is not inside": func(im *Image) { im.Region = pixel.Rect{X: 1, W: 25, H: 1} },
		"filter":        func(im *Image) { im.Filter = "best" },
		"a multiple":    func(im *Image) { im.At = 2 },
		"at -4":         func(im *Image) { im.At = -4 },
		"than the":      func(im *Image) { im.H, im.W = 1<<40, 1<<40 },
		"bytes at":      func(im *Image) { *im = Image{Ready: make([]byte, f.d.config.Bytes+1)} },
	} {
		im := good
		change(&im)
		if err := f.d.Decode(context.Background(), []Image{im}, f.out, make([]Outcome, 1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := f.gpu.NewDecoder(f.d.config)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	other, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	for name, err := range map[string]error{
		"no outcomes":    f.d.Decode(context.Background(), f.batch.images, f.out, nil),
		"too many":       f.d.Decode(context.Background(), make([]Image, 3), f.out, make([]Outcome, 3)),
		"no memory":      f.d.Decode(context.Background(), f.batch.images, nil, f.batch.outcomes),
		"another memory": f.d.Decode(context.Background(), f.batch.images, other, f.batch.outcomes),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	im := good
	im.Window = pixel.Rect{X: 60, W: 10, H: 10}
	im.CPU = func([]byte) error { return errors.New("outside") }
	o := make([]Outcome, 1)
	if err := f.d.Decode(context.Background(), []Image{im}, f.out, o); err != nil || o[0].Reason != ReasonWindow || o[0].Err == nil {
		t.Errorf("a window outside: %v, %+v", err, o[0])
	}
	if err := f.d.Decode(context.Background(), nil, f.out, nil); err != nil {
		t.Errorf("no images: %v", err)
	}
	for name, c := range map[string]Config{
		"no Spec": {Batch: 1, Bytes: 1}, "no batch": {Spec: f.spec, Bytes: 1}, "no bytes": {Spec: f.spec, Batch: 1},
		"negative": {Spec: f.spec, Batch: 1, Bytes: 1, Pixels: -1}, "channels": {Spec: newSpec(t, 2, formats.Uint8, pixel.NHWC), Batch: 1, Bytes: 1},
	} {
		if _, err := f.gpu.NewDecoder(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFast: reduced by the engine, pixels are near the CPU's.
func TestFast(t *testing.T) {
	f := newFixture(t, "", 1, func(c *Config) { c.Fast, c.Bytes = true, 3*100*100*4 })
	j := newJPEGs(t, 5)
	j.rng = rand.New(rand.NewPCG(5, 5))
	data := j.encode(500, 333, 3, jpeg.EncodeOptions{Sampling: pixel.Sampling420})
	im := Image{JPEG: data, H: 60, W: 90}
	want := make([]byte, im.size(12))
	if err := storeOnce(want, &im, f.spec); err != nil {
		t.Fatal(err)
	}
	im.CPU = func([]byte) error { return errors.New("not by the GPU") }
	o := make([]Outcome, 1)
	if err := f.d.Decode(context.Background(), []Image{im}, f.out, o); err != nil || o[0].Err != nil || o[0].Path != Engine {
		t.Fatal(err, o[0])
	}
	got := make([]byte, len(want))
	if err := f.d.stream.ToHost(got, f.out.block.Address()); err != nil {
		t.Fatal(err)
	}
	if err := f.d.stream.Sync(); err != nil {
		t.Fatal(err)
	}
	sum, same := 0.0, true
	for i, v := range elements[float32](got, len(got)/4) {
		off := float64(v - elements[float32](want, len(want)/4)[i])
		sum, same = sum+off*off, same && off == 0
	}
	if mean := sum / float64(len(got)/4); mean > 0.1 || same {
		t.Errorf("mean square difference %v, all the same: %v", mean, same)
	}
}

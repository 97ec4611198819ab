//go:build linux && cgo

package nvjpeg_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
	"github.com/dsconv/dsconv/internal/testing/cudatest"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
)

// must returns a value, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// gpu is a fake GPU with a stream and nvJPEG, closed with the test.
type gpu struct {
	*cuda.Device
	stream  *cuda.Stream
	library *nvjpeg.Library
}

func open(t *testing.T) *gpu {
	path := fakegpu.Load(t, "")
	d := must[*cuda.Device](t)(must[*cuda.Driver](t)(cuda.Open()).Device(0))
	s := must[*cuda.Stream](t)(d.NewStream())
	t.Cleanup(func() { ok(t, s.Close(), d.Close()) })
	return &gpu{Device: d, stream: s, library: must[*nvjpeg.Library](t)(nvjpeg.Open(nvjpeg.Search{Path: path}))}
}

func (g *gpu) create(t *testing.T, b nvjpeg.Backend) *nvjpeg.Handle {
	h := must[*nvjpeg.Handle](t)(g.library.Create(g.Device, b, nvjpeg.Interpolate))
	t.Cleanup(func() { ok(t, h.Close()) })
	return h
}

// value is the sample of blocks at x, y.
func value(seed, x, y int) byte { return byte(seed + 40*(x/8) + 11*(y/8)) }

// blocks is a JPEG of w x h whose blocks are each of one value: every decoder gives exactly those.
func blocks(t *testing.T, seed, w, h int) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetGray(x, y, color.Gray{Y: value(seed, x, y)})
		}
	}
	var b bytes.Buffer
	ok(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}))
	return b.Bytes()
}

// region is the part of a blocks image that is decoded.
type region struct{ seed, x, y, w, h int }

const (
	pitch  = 100
	canary = 0xa5
	room   = pitch * 40
)

// output is memory of the GPU, filled with canary.
func (g *gpu) output(t *testing.T) cuda.Address {
	a := must[cuda.Address](t)(g.Alloc(room))
	t.Cleanup(func() { ok(t, g.Free(a)) })
	ok(t, g.stream.Set32(a, canary*0x01010101, room/4))
	return a
}

// check compares what was decoded to address, and that nothing was written beside it.
func (g *gpu) check(t *testing.T, address cuda.Address, r region) {
	t.Helper()
	got := make([]byte, room)
	ok(t, g.stream.ToHost(got, address), g.stream.Sync())
	want := bytes.Repeat([]byte{canary}, room)
	for y := range r.h {
		for x := range r.w {
			for c := range 3 {
				want[y*pitch+3*x+c] = value(r.seed, r.x+x, r.y+y)
			}
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%+v: wrong pixels", r)
	}
}

// request asks for a region, as RGB.
func (r region) request() nvjpeg.Request {
	return nvjpeg.Request{Format: nvjpeg.RGBI, X: r.x, Y: r.y, W: r.w, H: r.h}
}

var regions = []region{{1, 0, 0, 33, 25}, {50, 5, 3, 20, 13}, {90, 32, 24, 1, 1}}

// newImage is an Image of r, closed with the test; whole says whether all of it is parsed.
func newImage(t *testing.T, h *nvjpeg.Handle, r region, whole bool) *nvjpeg.Image {
	i := must[*nvjpeg.Image](t)(h.NewImage())
	t.Cleanup(func() { ok(t, i.Close()) })
	parse := i.Parse
	if whole {
		parse = i.ParseAll
	}
	header := must[nvjpeg.Header](t)(parse(blocks(t, r.seed, 33, 25)))
	want := nvjpeg.Header{W: 33, H: 25}
	if header != want {
		t.Errorf("header %+v", header)
	}
	ok(t, i.Set(r.request()))
	return i
}

func TestBatch(t *testing.T) {
	g := open(t)
	h := g.create(t, nvjpeg.Hardware)
	if engines, cores, err := h.Hardware(); err != nil || engines != 2 || cores != 3 {
		t.Errorf("%d engines of %d cores, %v", engines, cores, err)
	}
	b := must[*nvjpeg.Batch](t)(h.NewBatch(4))
	t.Cleanup(func() { ok(t, b.Close()) })
	ok(t, b.PreAllocate(2, 40, 40, nvjpeg.CSS420, nvjpeg.RGBI))
	for round := range 3 {
		var jobs []nvjpeg.Job
		for _, r := range regions[round:] { // batches of 3, 2 and 1
			i := newImage(t, h, r, false)
			if supported, err := h.Supports(i); err != nil || !supported {
				t.Errorf("supported: %v, %v", supported, err)
			}
			jobs = append(jobs, nvjpeg.Job{Image: i, Address: uint64(g.output(t)), Pitch: pitch})
		}
		ok(t, g.stream.Sync(), b.Start(len(jobs), nvjpeg.RGBI), b.Decode(jobs, g.stream.Handle()), g.stream.Sync())
		for k, r := range regions[round:] {
			g.check(t, cuda.Address(jobs[k].Address), r)
		}
	}
	if err := b.Decode(nil, g.stream.Handle()); err == nil {
		t.Error("a batch of nothing")
	}
	if err := b.Decode(make([]nvjpeg.Job, 5), g.stream.Handle()); err == nil {
		t.Error("a batch larger than agreed")
	}
	fakegpu.Set("unsupported")
	if supported, err := h.Supports(newImage(t, h, regions[0], false)); err != nil || supported {
		t.Errorf("supported: %v, %v", supported, err)
	}
}

func TestStages(t *testing.T) {
	g := open(t)
	h := g.create(t, nvjpeg.Default)
	d := must[*nvjpeg.Decoder](t)(h.NewDecoder(nvjpeg.Hybrid))
	t.Cleanup(func() { ok(t, d.Close()) })
	s := must[*nvjpeg.State](t)(d.NewState())
	t.Cleanup(func() { ok(t, s.Close()) })
	for _, r := range append(regions, region{7, 0, 0, 33, 25}) {
		i := newImage(t, h, r, true)
		if supported, err := d.Supports(i); err != nil || !supported {
			t.Errorf("supported: %v, %v", supported, err)
		}
		a := g.output(t)
		ok(t, s.Host(i), s.Device(nvjpeg.Job{Image: i, Address: uint64(a), Pitch: pitch}, g.stream.Handle()), g.stream.Sync())
		g.check(t, a, r)
	}
	// W = 0 is the whole image, also after another region.
	i := newImage(t, h, region{3, 8, 8, 4, 4}, true)
	ok(t, i.Set(nvjpeg.Request{Format: nvjpeg.RGBI}))
	a := g.output(t)
	ok(t, s.Host(i), s.Device(nvjpeg.Job{Image: i, Address: uint64(a), Pitch: pitch}, g.stream.Handle()), g.stream.Sync())
	g.check(t, a, region{3, 0, 0, 33, 25})
	// The host may decode an image while the GPU still has the one before.
	address := cuda.Address(0)
	for k, r := range regions {
		i := newImage(t, h, r, true)
		ok(t, s.Host(i), g.stream.Sync())
		if k > 0 {
			g.check(t, address, regions[k-1])
		}
		address = g.output(t)
		ok(t, s.Device(nvjpeg.Job{Image: i, Address: uint64(address), Pitch: pitch}, g.stream.Handle()))
	}
	ok(t, g.stream.Sync())
	g.check(t, address, regions[len(regions)-1])
}

// Each status is told apart, with what was being done; CUDA's own errors pass through.
func TestStatuses(t *testing.T) {
	g := open(t)
	h := g.create(t, nvjpeg.Default)
	i := must[*nvjpeg.Image](t)(h.NewImage())
	t.Cleanup(func() { ok(t, i.Close()) })
	for status := nvjpeg.NotInitialized; status <= nvjpeg.IncompleteBitstream; status++ {
		fakegpu.Set(fmt.Sprintf("nvjpegJpegStreamParse*:%d", int(status)))
		_, err := i.Parse(blocks(t, 1, 8, 8))
		var got nvjpeg.Status
		if !errors.As(err, &got) || got != status || !strings.Contains(err.Error(), "header of a JPEG: nvJPEG: "+status.String()) {
			t.Errorf("%v: %v", status, err)
		}
	}
	fakegpu.Set("")
	for _, data := range [][]byte{nil, {}, []byte("no JPEG"), blocks(t, 1, 8, 8)[:20]} {
		var status nvjpeg.Status
		if _, err := i.Parse(data); !errors.As(err, &status) {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
	fakegpu.Set("cuCtxPushCurrent_v2:709")
	if _, err := i.Parse(blocks(t, 1, 8, 8)); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("the context is gone: %v", err)
	}
	fakegpu.Set("")
	if got := nvjpeg.Status(77).Error(); got != "nvJPEG: STATUS_77 (77)" {
		t.Error(got)
	}
}

// A JPEG that could not be parsed is no hindrance to the next one, nor is a header that the library refuses of a JPEG
// that it takes.
func TestParseGoesOn(t *testing.T) {
	g := open(t)
	h := g.create(t, nvjpeg.Default)
	i := must[*nvjpeg.Image](t)(h.NewImage())
	t.Cleanup(func() { ok(t, i.Close()) })
	for _, modes := range []string{"", "nvjpeg:120400"} {
		for _, parse := range []func([]byte) (nvjpeg.Header, error){i.Parse, i.ParseAll} {
			fakegpu.Set(modes)
			if _, err := parse([]byte("no JPEG")); !errors.Is(err, nvjpeg.BadJPEG) {
				t.Errorf("%q: %v", modes, err)
			}
			if header, err := parse(blocks(t, 1, 33, 25)); err != nil || header.W != 33 || header.H != 25 {
				t.Errorf("%q: the JPEG after a bad one: %+v, %v", modes, header, err)
			}
			fakegpu.Set(modes + ",nvjpegJpegStreamParseHeader:3")
			if _, err := parse(blocks(t, 1, 33, 25)); err != nil {
				t.Errorf("%q: only the header is refused: %v", modes, err)
			}
		}
	}
	fakegpu.Set("nvjpegJpegStreamCreate:5")
	if _, err := i.Parse([]byte("no JPEG")); !errors.Is(err, nvjpeg.AllocatorFailure) {
		t.Errorf("no memory for another stream: %v", err)
	}
}

// What cannot be created leaves nothing behind: open checks that.
func TestCreateFails(t *testing.T) {
	g := open(t)
	for modes, want := range map[string]string{
		"nvjpegCreateEx:6":        "found no usable GPU; the driver supports CUDA 13.0",
		"nvjpegCreateEx:1":        "found no usable GPU",
		"nvjpegCreateEx:2":        "update it",
		"nvjpegCreateEx:5":        "ALLOCATOR_FAILURE",
		"engines:0":               "ARCH_MISMATCH",
		"cuCtxPushCurrent_v2:709": "709",
	} {
		fakegpu.Set(modes)
		if _, err := g.library.Create(g.Device, nvjpeg.Hardware, nvjpeg.Interpolate); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", modes, err, want)
		}
	}
	fakegpu.Set("")
	h := g.create(t, nvjpeg.Default)
	d := must[*nvjpeg.Decoder](t)(h.NewDecoder(nvjpeg.Default))
	create := map[string]func() error{
		"nvjpegJpegStreamCreate":        func() error { _, err := h.NewImage(); return err },
		"nvjpegDecodeParamsCreate":      func() error { _, err := h.NewImage(); return err },
		"nvjpegJpegStateCreate":         func() error { _, err := h.NewBatch(3); return err },
		"nvjpegDecoderCreate":           func() error { _, err := h.NewDecoder(nvjpeg.Default); return err },
		"nvjpegDecoderStateCreate":      func() error { _, err := d.NewState(); return err },
		"nvjpegBufferPinnedCreate":      func() error { _, err := d.NewState(); return err },
		"nvjpegBufferDeviceCreate":      func() error { _, err := d.NewState(); return err },
		"nvjpegStateAttachDeviceBuffer": func() error { _, err := d.NewState(); return err },
	}
	for function, f := range create {
		fakegpu.Set(function + ":5")
		if err := f(); !errors.Is(err, nvjpeg.AllocatorFailure) {
			t.Errorf("%s: %v", function, err)
		}
	}
	fakegpu.Set("")
	if _, err := h.NewBatch(0); err == nil {
		t.Error("a batch of 0 images")
	}
	ok(t, d.Close())
}

// Versions that lack what we need are refused by name.
func TestOldLibraries(t *testing.T) {
	path := fakegpu.Load(t, "nvjpeg:120000")
	if _, err := nvjpeg.Open(nvjpeg.Search{Path: path}); !errors.Is(err, nvjpeg.ErrNotFound) || !strings.Contains(err.Error(), "is version 12.0.0; 12.2.2 or newer") {
		t.Errorf("12.0: %v", err)
	}
	fakegpu.Set("nvjpeg:120201")
	if _, err := nvjpeg.Open(nvjpeg.Search{Path: path}); err == nil {
		t.Error("12.2.1, which crashes on damaged EXIF data, is taken")
	}
	fakegpu.Set("nvjpeg:120202")
	if l, err := nvjpeg.Open(nvjpeg.Search{Path: path}); err != nil || l.Version() != "12.2.2" || l.Path() != path {
		t.Errorf("12.2.2: %v", err)
	}
	old := filepath.Join(filepath.Dir(path), fakegpu.Old)
	if _, err := nvjpeg.Open(nvjpeg.Search{Path: old}); err == nil || !strings.Contains(err.Error(), "too old: it has no function") {
		t.Errorf("11: %v", err)
	}
}

// NVIDIA's own library finds no GPU behind a driver that is a fake, and says so.
func TestNVIDIAsWithoutGPU(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(cudatest.Packages(t), "nvidia/*/lib/libnvjpeg.so.*"))
	if len(files) == 0 {
		t.Skip("DSCONV_PYTHON lacks the package nvidia-nvjpeg")
	}
	g := open(t)
	for _, file := range files {
		l := must[*nvjpeg.Library](t)(nvjpeg.Open(nvjpeg.Search{Path: file}))
		if _, err := l.Create(g.Device, nvjpeg.Default, nvjpeg.Interpolate); err == nil || !strings.Contains(err.Error(), "nvJPEG found no usable GPU") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

//go:build cgo

package kernels_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/gpudecode/internal/kernels/internal/emulate"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

var (
	filters = []pixel.Filter{pixel.Nearest, pixel.Box, pixel.Bilinear, pixel.Hamming, pixel.Bicubic, pixel.Lanczos}
	dtypes  = []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16, formats.Uint16}
	layouts = []pixel.Layout{pixel.NHWC, pixel.NCHW}
)

// one is an image of a batch: its pixels with the rows' padding, and what the CPU makes of it.
type one struct {
	kernels.Job
	source emulate.Memory
	want   []byte
	result emulate.Memory
}

func (o *one) free() {
	o.source.Free()
	o.result.Free()
}

// reference is the entry that the CPU makes of the image.
func reference(t *testing.T, spec *resample.TensorSpec, m *pixel.Image, j kernels.Job) []byte {
	t.Helper()
	n := j.Region.W * j.Region.H * m.C
	to := resample.Target{Spec: spec, Region: j.Region, Flip: j.Flip, FlipV: j.FlipV}
	var out []byte
	switch spec.DType() {
	case formats.Uint8:
		to.Uint8 = make([]uint8, n)
		out = to.Uint8
	case formats.Float32:
		to.Float32 = make([]float32, n)
		out = unsafe.Slice((*byte)(unsafe.Pointer(&to.Float32[0])), 4*n)
	default:
		to.Half = make([]uint16, n)
		out = unsafe.Slice((*byte)(unsafe.Pointer(&to.Half[0])), 2*n)
	}
	var r resample.Resampler
	if err := r.ResizeTo(to, m, j.Window, j.W, j.H, j.Filter); err != nil {
		t.Fatal(err)
	}
	return out
}

// newOne makes an image of h by w random pixels, some of its rows with extremes, which make sums overshoot.
func newOne(t *testing.T, r *rand.Rand, spec *resample.TensorSpec, h, w int, j kernels.Job) *one {
	t.Helper()
	c := spec.Channels()
	m := pixel.Image{H: h, W: w, C: c, DType: formats.Uint8, Pix: make([]byte, h*w*c)}
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
		if i/(w*c)%3 == 0 {
			m.Pix[i] = byte(r.Uint32N(2) * 255)
		}
	}
	if j.Region == (pixel.Rect{}) {
		j.Region = pixel.Rect{W: j.W, H: j.H}
	}
	o := &one{Job: j, want: reference(t, spec, &m, j)}
	o.Pitch = w*c + r.IntN(5)
	o.source = emulate.Allocate(o.Pitch*(h-1) + w*c) // the last row has no padding
	for y := range h {
		copy(o.source.Bytes[y*o.Pitch:], m.Pix[y*w*c:(y+1)*w*c])
	}
	o.result = emulate.Allocate(len(o.want))
	o.Source, o.Result = o.source.Address, o.result.Address
	return o
}

// store runs the kernel on a batch of images and compares each with the CPU's.
func store(t *testing.T, spec *resample.TensorSpec, b *kernels.Batch, images []*one) {
	t.Helper()
	b.Reset()
	for _, o := range images {
		if err := b.Add(o.Job); err != nil {
			t.Fatal(err)
		}
	}
	upload := make([]byte, b.Size())
	b.Write(upload)
	up := emulate.Copy(upload)
	defer up.Free()
	table := emulate.Copy(words(spec.Table()))
	defer table.Free()
	l := b.Launch()
	if err := emulate.Run(kernels.Store, l.Grid, l.Block, l.Shared, [3]uint64{up.Address, up.Address + uint64(b.Weights()), table.Address}); err != nil {
		t.Fatal(err)
	}
	for _, o := range images {
		if !bytes.Equal(o.result.Bytes, o.want) {
			t.Fatalf("%+v of %d channels as %s %s: not the CPU's pixels", o.Job, spec.Channels(), spec.DType(), spec.Layout())
		}
	}
}

func words(w []uint32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, w)
	return b
}

func specOf(t *testing.T, c int, d formats.DType, l pixel.Layout) *resample.TensorSpec {
	t.Helper()
	spec, err := resample.NewTensorSpec(c, d, l, []float32{0.485, 0.456, 0.406}[:c], []float32{0.229, 0.224, 0.225}[:c])
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Each case is a batch of one: edges that random sizes rarely hit.
func TestStoreEqualsTheCPU(t *testing.T) {
	for name, c := range map[string]struct {
		h, w int
		kernels.Job
	}{
		"one pixel":                 {1, 1, kernels.Job{H: 1, W: 1}},
		"one pixel enlarged":        {1, 1, kernels.Job{H: 40, W: 70}},
		"reduced to one pixel":      {300, 299, kernels.Job{H: 1, W: 1, Filter: pixel.Lanczos}},
		"reduced 100 times":         {1000, 1200, kernels.Job{H: 10, W: 12, Filter: pixel.Lanczos}},
		"one row":                   {1, 3000, kernels.Job{H: 1, W: 30, Filter: pixel.Bicubic}},
		"one column":                {3000, 1, kernels.Job{H: 30, W: 1, Filter: pixel.Bicubic}},
		"only narrower":             {50, 200, kernels.Job{H: 50, W: 61}},
		"only lower":                {200, 50, kernels.Job{H: 61, W: 50}},
		"vertical first":            {300, 60, kernels.Job{H: 50, W: 50, Filter: pixel.Lanczos}},
		"copy":                      {40, 50, kernels.Job{H: 40, W: 50}},
		"copy of a region, flipped": {40, 50, kernels.Job{H: 40, W: 50, Region: pixel.Rect{X: 3, Y: 4, W: 41, H: 33}, Flip: true, FlipV: true}},
		"an axis of many pixels":    {2, 20000, kernels.Job{H: 3, W: 9000, Region: pixel.Rect{X: 8000, Y: 1, W: 500, H: 2}}},
		"enlarged 50 times":         {6, 7, kernels.Job{H: 300, W: 350, Filter: pixel.Lanczos, Region: pixel.Rect{X: 100, Y: 20, W: 200, H: 100}}},
		"no filter is bilinear":     {30, 30, kernels.Job{H: 7, W: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			spec := specOf(t, 3, formats.Float32, pixel.NCHW)
			b, err := kernels.NewBatch(spec)
			if err != nil {
				t.Fatal(err)
			}
			c.Window = pixel.Rect{W: c.w, H: c.h}
			o := newOne(t, r, spec, c.h, c.w, c.Job)
			defer o.free()
			store(t, spec, b, []*one{o})
		})
	}
}

// Batches of random images, windows, sizes, filters, regions and flips, in every type and layout.
func TestStoreOfRandomBatchesEqualsTheCPU(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		spec := specOf(t, 1+2*(round%2), dtypes[round/2%len(dtypes)], layouts[round/10%2])
		b, err := kernels.NewBatch(spec)
		if err != nil {
			t.Fatal(err)
		}
		images := make([]*one, 1+r.IntN(5))
		for i := range images {
			h, w := side(r), side(r)
			j := kernels.Job{Window: within(r, h, w), Filter: filters[r.IntN(len(filters))], Flip: r.IntN(2) == 0, FlipV: r.IntN(2) == 0}
			j.H, j.W = side(r), side(r)
			switch r.IntN(6) {
			case 0:
				j.H = j.Window.H
			case 1:
				j.W = j.Window.W
			case 2:
				j.H, j.W = j.Window.H, j.Window.W
			}
			if r.IntN(2) == 0 {
				j.Region = within(r, j.H, j.W)
			}
			images[i] = newOne(t, r, spec, h, w, j)
		}
		store(t, spec, b, images)
		for _, o := range images {
			o.free()
		}
	}
}

// side is the length of a side: often short, sometimes one pixel.
func side(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return 1 + r.IntN(300)
	case 1:
		return 1 + r.IntN(4)
	}
	return 1 + r.IntN(80)
}

func within(r *rand.Rand, h, w int) pixel.Rect {
	x, y := r.IntN(w), r.IntN(h)
	return pixel.Rect{X: x, Y: y, W: 1 + r.IntN(w-x), H: 1 + r.IntN(h-y)}
}

// An image that cannot be stored leaves the batch as it was: the others of the batch are right.
func TestARefusedImageLeavesTheBatchAsItWas(t *testing.T) {
	spec := specOf(t, 3, formats.Uint8, pixel.NHWC)
	b, err := kernels.NewBatch(spec)
	if err != nil {
		t.Fatal(err)
	}
	size := b.Size()
	huge := kernels.Job{Pitch: 3 * 60000, Window: pixel.Rect{W: 60000, H: 60000}, H: 1, W: 1, Filter: pixel.Lanczos}
	if err := b.Add(huge); !errors.Is(err, kernels.ErrReduction) {
		t.Errorf("60000 pixels to 1: %v, want ErrReduction", err)
	}
	for _, c := range []struct {
		want string
		kernels.Job
	}{
		{"window", kernels.Job{Pitch: 30, Window: pixel.Rect{X: 1, W: 10, H: 1}, H: 1, W: 1}},
		{"window", kernels.Job{Pitch: 29, Window: pixel.Rect{W: 10, H: 1}, H: 1, W: 1}},
		{"region", kernels.Job{Pitch: 30, Window: pixel.Rect{W: 10, H: 1}, H: 1, W: 1, Region: pixel.Rect{W: 2, H: 1}}},
		{"filter", kernels.Job{Pitch: 30, Window: pixel.Rect{W: 10, H: 1}, H: 1, W: 1, Filter: "sharp"}},
	} {
		if err := b.Add(c.Job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("wrong %s: %v", c.want, err)
		}
	}
	if b.Len() != 0 || b.Size() != size {
		t.Errorf("after refused images there are %d images and %d bytes, want none and %d", b.Len(), b.Size(), size)
	}
}

func TestUploadedStructsHaveTheLayoutOfC(t *testing.T) {
	b, err := kernels.NewBatch(specOf(t, 1, formats.Uint8, pixel.NHWC))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(kernels.Job{Pitch: 8, Window: pixel.Rect{W: 8, H: 8}, H: 8, W: 8}); err != nil {
		t.Fatal(err)
	}
	if b.Weights() != emulate.JobSize {
		t.Errorf("a job has %d bytes, in C %d", b.Weights(), emulate.JobSize)
	}
	if n := len(kernels.CanaryBytes(make([]kernels.Canary, 1))); n != emulate.CanarySize {
		t.Errorf("a canary has %d bytes, in C %d", n, emulate.CanarySize)
	}
}

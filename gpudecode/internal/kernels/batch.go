package kernels

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Names of the kernels.
const (
	Store       = "dsconv_store"
	CanaryFill  = "dsconv_canary_fill"
	CanaryCheck = "dsconv_canary_check"
)

// threads is DSCONV_THREADS.
const threads = 256

// maxImages is the largest grid in z.
const maxImages = 65535

// ErrReduction is in the chain of the error for an image that is reduced so much that what one pixel needs does not fit
// a block's memory: more than about 1300 times with the filter lanczos and 8000 times with box.
var ErrReduction = errors.New("the image is reduced too much for the GPU")

// Launch is how a kernel is launched.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // bytes of a block's dynamic shared memory
}

// Job is an image that becomes an entry of a batch.
type Job struct {
	Source uint64 // address of the first decoded pixel, of 8 bits a channel, channels interleaved
	Pitch  int    // bytes from row to row there
	// Window is the part of the decoded pixels that is resampled by Filter to H by W pixels, of which Region is
	// stored; the zero Region is all of it.
	Window pixel.Rect
	H, W   int
	Filter pixel.Filter
	Region pixel.Rect
	// Flip mirrors what is stored left to right, FlipV top to bottom.
	Flip, FlipV bool
	Result      uint64 // address of the entry; a multiple of the element's size
}

// axis is dsconv_store_axis of kernels.h.
type axis struct {
	start, weights int64
	n, taps        int32
}

// job is dsconv_store_job of kernels.h.
type job struct {
	source, result                            uint64
	hor, ver                                  axis
	pitch, channels, verticalFirst            int32
	flip, flipV, planar, typ, tileW, tileH, _ int32
}

// Batch is what one launch of Store needs. It belongs to one goroutine. Its memory is used again after Reset.
type Batch struct {
	spec    *resample.TensorSpec
	jobs    []job
	words   []int32
	axes    map[resample.Axis]axis
	weights resample.Weights
	tiles   int
	shared  int
}

// NewBatch returns an empty Batch of entries as spec has them, of 1 or 3 channels.
func NewBatch(spec *resample.TensorSpec) (*Batch, error) {
	if c := spec.Channels(); c != 1 && c != 3 {
		return nil, fmt.Errorf("images of %d channels are not stored by the GPU, only those of 1 and 3", c)
	}
	return &Batch{spec: spec, axes: map[resample.Axis]axis{}}, nil
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.jobs, b.words, b.tiles, b.shared = b.jobs[:0], b.words[:0], 0, 0
	clear(b.axes)
}

// Len is the number of images.
func (b *Batch) Len() int { return len(b.jobs) }

// Add adds an image. After an error the batch is as before.
func (b *Batch) Add(j Job) error {
	if j.Region == (pixel.Rect{}) {
		j.Region = pixel.Rect{W: j.W, H: j.H}
	}
	c := b.spec.Channels()
	w := j.Window
	switch {
	case len(b.jobs) == maxImages:
		return fmt.Errorf("a batch of more than %d images", maxImages)
	case w.X < 0 || w.Y < 0 || w.W <= 0 || w.H <= 0 || j.Pitch > math.MaxInt32 || w.X > j.Pitch/c-w.W:
		return fmt.Errorf("window %+v of rows of %d bytes", w, j.Pitch)
	case j.H <= 0 || j.W <= 0 || !j.Region.Inside(j.W, j.H):
		return fmt.Errorf("region %+v of an image that is scaled to %dx%d", j.Region, j.W, j.H)
	}
	words := len(b.words)
	out := job{
		source: j.Source + uint64(w.Y)*uint64(j.Pitch) + uint64(w.X*c), result: j.Result,
		pitch: int32(j.Pitch), channels: int32(c), verticalFirst: bit(resample.VerticalFirst(w.H, w.W, j.H, j.W)),
		flip: bit(j.Flip), flipV: bit(j.FlipV), planar: bit(b.spec.Layout() == pixel.NCHW), typ: typeOf(b.spec.DType()),
	}
	var err error
	if out.hor, err = b.axis(resample.Axis{In: w.W, Out: j.W, First: j.Region.X, N: j.Region.W, Filter: j.Filter}); err != nil {
		return err
	}
	if out.ver, err = b.axis(resample.Axis{In: w.H, Out: j.H, First: j.Region.Y, N: j.Region.H, Filter: j.Filter}); err != nil {
		return err
	}
	tiles, shared := out.tile(b.words)
	if shared > maxShared {
		b.forget(words)
		return fmt.Errorf("%w: %dx%d pixels to %dx%d by %s", ErrReduction, w.W, w.H, j.W, j.H, j.Filter)
	}
	b.jobs, b.tiles, b.shared = append(b.jobs, out), max(b.tiles, tiles), max(b.shared, shared)
	return nil
}

func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// typeOf is the number of a type in kernels.h.
func typeOf(d formats.DType) int32 {
	return map[formats.DType]int32{formats.Uint8: 0, formats.Float32: 1, formats.Float16: 2, formats.BFloat16: 3, formats.Uint16: 4}[d]
}

// axis returns how a's needed pixels are computed. Images of a batch share weights.
func (b *Batch) axis(a resample.Axis) (axis, error) {
	if a.In == a.Out {
		return axis{start: int64(a.First), n: int32(a.N)}, nil
	}
	whole := a.Whole()
	at, ok := b.axes[whole]
	if !ok {
		start := len(b.words)
		words, taps, err := b.weights.Append(b.words, a)
		if err != nil {
			return axis{}, err
		}
		at = axis{start: int64(start), weights: int64(start + whole.N), taps: int32(taps)}
		b.words, b.axes[whole] = words, at
	}
	skip := int64(a.First - whole.First)
	at.start, at.weights, at.n = at.start+skip, at.weights+skip*int64(at.taps), int32(a.N)
	return at, nil
}

// forget takes back the weights from a word on.
func (b *Batch) forget(words int) {
	b.words = b.words[:words]
	for a, at := range b.axes {
		if at.start >= int64(words) {
			delete(b.axes, a)
		}
	}
}

// Size is how many bytes Write writes.
func (b *Batch) Size() int { return b.Weights() + 4*len(b.words) }

// Weights is where the weights begin in what Write writes, in bytes; the jobs are before them.
func (b *Batch) Weights() int { return len(b.jobs) * int(unsafe.Sizeof(job{})) }

// Write writes what is uploaded to dst, which has Size bytes at least. It lies at a multiple of 8 in the GPU's memory.
func (b *Batch) Write(dst []byte) {
	n := copy(dst, bytesOf(b.jobs))
	copy(dst[n:], bytesOf(b.words))
}

// Launch returns how Store is launched for the batch, which is not empty.
func (b *Batch) Launch() Launch {
	return Launch{[3]uint32{uint32(b.tiles), 1, uint32(len(b.jobs))}, [3]uint32{threads, 1, 1}, uint32(b.shared)}
}

func bytesOf[T any](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
}

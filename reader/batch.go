package reader

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// Batch is N images with their labels. It belongs to the Loader: it is valid, and may be
// written to, until the loop's body ends.
type Batch struct {
	// Uint8, Float32 or Half holds the images, as Config.DType says; the others are nil.
	// Half has the bits of float16 or bfloat16 values.
	Uint8   []uint8
	Float32 []float32
	Half    []uint16
	// Shape is (N, H, W, C) or (N, C, H, W), as Config.Layout says.
	Shape [4]int
	// Labels are the designated labels: formats.NoLabel (-1) for a sample without one, for
	// padding, and throughout where the label is multi-hot.
	Labels []int64
	// MultiHot has a row of one column per class for each image where the designated label
	// is multi-hot; nil otherwise. Rows of padding are 0.
	MultiHot []uint8
	// Indices are the samples' indices in the Dataset; -1 marks padding, a repeated sample
	// that should not be counted (see the package's section on order).
	Indices []int
	N       int
	// End is the position in the epoch, over all ranks, after the step that the batch belongs
	// to: where State says that an epoch is to be resumed.
	End int
}

// frame is what all batches of a Loader have in common.
type frame struct {
	shape   [3]int // H, W, C
	dtype   formats.DType
	layout  augment.Layout
	columns int // of MultiHot
}

// entry is the number of elements of one image.
func (f *frame) entry() int { return f.shape[0] * f.shape[1] * f.shape[2] }

// reset gives b n entries, with the memory it has if that is enough.
func (f *frame) reset(b *Batch, n int) {
	b.N = n
	h, w, c := f.shape[0], f.shape[1], f.shape[2]
	b.Shape = [4]int{n, h, w, c}
	if f.layout == augment.NCHW {
		b.Shape = [4]int{n, c, h, w}
	}
	size := n * f.entry()
	switch f.dtype {
	case formats.Uint8:
		b.Uint8, b.Float32, b.Half = resize(b.Uint8, size), nil, nil
	case formats.Float32:
		b.Uint8, b.Float32, b.Half = nil, resize(b.Float32, size), nil
	default:
		b.Uint8, b.Float32, b.Half = nil, nil, resize(b.Half, size)
	}
	b.Labels, b.Indices = resize(b.Labels, n), resize(b.Indices, n)
	if f.columns > 0 {
		b.MultiHot = resize(b.MultiHot, n*f.columns)
	} else {
		b.MultiHot = nil
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

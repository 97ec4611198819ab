package reader

import (
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Batch is N images with their labels. It belongs to the Loader: it is valid, and may be written
// to, until the loop's body ends, or until Release if Keep was called.
type Batch struct {
	// Uint8, Uint16, Float32 or Half holds the images, as Config.DType says; the others are
	// nil. Half has the bits of float16 or bfloat16 values.
	Uint8   []uint8
	Uint16  []uint16
	Float32 []float32
	Half    []uint16
	// Shape is (N, H, W, C) or (N, C, H, W), as Config.Layout says.
	Shape [4]int
	// Labels, Labels8 or Labels16 holds the designated labels, as Config.LabelDType says; the
	// others are nil. formats.NoLabel (-1), 255 or 65535 stands for a sample without one, for
	// padding unless order.Repeat keeps its label, and throughout where the label is multi-hot.
	Labels   []int64
	Labels8  []uint8
	Labels16 []uint16
	// Numbers holds the designated labels where they are numbers to predict; Labels, Labels8 and
	// Labels16 are nil then. NaN stands for a sample without one, and for padding as above.
	Numbers []float32
	// MultiHot has a row of one column per class for each image where the designated label
	// is multi-hot; nil otherwise. Rows of padding are 0.
	MultiHot []uint8
	// Soft are the labels of images that MixUp or CutMix mixed: a row of one column per class for
	// each image; nil without those ops. Rows of padding are 0, and images without a label add 0.
	// Labels that are numbers are mixed in Numbers; NaN makes the result NaN.
	Soft []float32
	// Fields are the extra fields that Config.Fields names, in its order.
	Fields []Field
	// Indices number the samples as Pick, InfoOf, Order and StartList do: among the Loader's, in
	// order of key, from 0. With Config.Split those are the split's samples. -1 marks padding, a
	// repeated sample that should not be counted (see the package's section on order).
	Indices []int
	N       int
	// Skipped is the number of bad samples that were left out, Substituted the number of those
	// that were replaced by others: see Config.OnError.
	Skipped, Substituted int
	// End is the position in the epoch, over all ranks, after the step that the batch belongs
	// to: where Resume continues.
	End int

	loader *Loader // that lends it
	slot   *slot   // that it was built in, nil once it is kept

	released *atomic.Bool // of a batch that is kept
}

// Keep keeps the batch valid until Release. Call it in the loop's body. Each batch that is kept
// takes memory of its own.
func (b *Batch) Keep() {
	if b.slot != nil {
		b.slot.batch, b.slot, b.released = nil, nil, new(atomic.Bool)
	}
}

// Release gives back a batch that was kept. It must not be used from then on. Any goroutine may call
// it. Releasing a batch again, or one that was not kept, does nothing.
func (b *Batch) Release() {
	if b.released == nil || b.released.Swap(true) {
		return
	}
	reused := *b // another Batch with the same memory: b itself stays released
	reused.released = nil
	b.loader.releaseBatch(&reused)
}

// Frame is what all batches of a Loader have in common.
type Frame struct {
	DType formats.DType // of the images
	Image []int         // shape of one, as Config.Layout says; nil with Config.AnySize
	Label formats.DType // of the labels: formats.Float32 of numbers
	// Columns are those of Batch.MultiHot, Soft those of Batch.Soft; 0 where that is nil.
	Columns, Soft int
	// Fields have no values: name, kind, type and, where it is the same for all, shape.
	Fields []Field
}

// Frame describes the Loader's batches.
func (l *Loader) Frame() Frame {
	f := &l.frame
	described := Frame{DType: f.dtype, Label: f.label, Columns: f.columns, Soft: f.soft}
	if !l.config.AnySize {
		described.Image = f.imageShape()
	}
	for _, field := range f.fields {
		described.Fields = append(described.Fields, Field{Name: field.name, Kind: field.kind, DType: field.dtype, Shape: field.shape})
	}
	return described
}

// frame is Frame with the shape, as the Loader needs it.
type frame struct {
	shape   [3]int // H, W, C
	dtype   formats.DType
	layout  pixel.Layout
	label   formats.DType
	columns int // of MultiHot
	soft    int // columns of Soft
	fields  []fieldFrame
}

// numbers reports whether the designated label is a number.
func (f *frame) numbers() bool { return f.label == formats.Float32 }

// entry is the number of elements of one image.
func (f *frame) entry() int { return f.shape[0] * f.shape[1] * f.shape[2] }

// entryBytes is the number of bytes of one image.
func (f *frame) entryBytes() int { return f.entry() * f.dtype.Size() }

// reset gives b n entries, in the memory it has if that is enough. What the first n entries held
// stays.
func (f *frame) reset(b *Batch, n int) {
	size := n * f.entry()
	b.Uint8 = resize(b.Uint8, f.dtype == formats.Uint8, size)
	b.Uint16 = resize(b.Uint16, f.dtype == formats.Uint16, size)
	b.Float32 = resize(b.Float32, f.dtype == formats.Float32, size)
	b.Half = resize(b.Half, f.dtype == formats.Float16 || f.dtype == formats.BFloat16, size)
	b.Labels = resize(b.Labels, f.label == formats.Int64, n)
	b.Labels8 = resize(b.Labels8, f.label == formats.Uint8, n)
	b.Labels16 = resize(b.Labels16, f.label == formats.Uint16, n)
	b.Numbers = resize(b.Numbers, f.numbers(), n)
	b.Indices = resize(b.Indices, true, n)
	b.MultiHot = resize(b.MultiHot, f.columns > 0, n*f.columns)
	b.Soft = resize(b.Soft, f.soft > 0, n*f.soft)
	f.resetFields(b, n)
	b.N, b.Skipped, b.Substituted = n, 0, 0
	h, w, c := f.shape[0], f.shape[1], f.shape[2]
	b.Shape = [4]int{n, h, w, c}
	if f.layout == pixel.NCHW {
		b.Shape = [4]int{n, c, h, w}
	}
}

// move moves entry from of b to entry to. Entry from is undefined afterwards.
func (f *frame) move(b *Batch, to, from int) {
	f.copyEntry(b, to, b, from)
	f.moveFields(b, to, from)
}

// copyEntry copies entry from of src to entry to of dst, without extra fields.
func (f *frame) copyEntry(dst *Batch, to int, src *Batch, from int) {
	copyRow(dst.ImageBytes(), to, src.ImageBytes(), from, f.entryBytes())
	copyRow(dst.Labels, to, src.Labels, from, 1)
	copyRow(dst.Labels8, to, src.Labels8, from, 1)
	copyRow(dst.Labels16, to, src.Labels16, from, 1)
	copyRow(dst.Numbers, to, src.Numbers, from, 1)
	copyRow(dst.Indices, to, src.Indices, from, 1)
	copyRow(dst.MultiHot, to, src.MultiHot, from, f.columns)
}

// bytes is the memory of a batch of n entries, without fields whose size varies.
func (f *frame) bytes(n int) int64 {
	entry := f.entryBytes() + f.label.Size() + 8 + f.columns + 4*f.soft
	for k := range f.fields {
		entry += f.fields[k].size
	}
	return int64(n) * int64(entry)
}

// resize gives s n elements if it is used, or makes it nil.
func resize[T any](s []T, used bool, n int) []T {
	switch {
	case !used:
		return nil
	case cap(s) < n:
		return make([]T, n)
	}
	return s[:n]
}

// copyRow copies row from of src to row to of dst where rows have n elements; nil has none.
func copyRow[T any](dst []T, to int, src []T, from, n int) {
	if dst != nil {
		copy(dst[to*n:(to+1)*n], src[from*n:(from+1)*n])
	}
}

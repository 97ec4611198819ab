package reader

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// Batch is N images with their labels.
//
// One that an epoch gives belongs to the Loader. It is valid, and may be written to, until the loop's
// body ends (with a Run until the next call of Next), or until Release if Keep was called. What its
// slices held is another batch's afterwards: the fields are nil then, and Pixels, Labels, Label,
// Keep and Clone panic; Shape, the types, N and End stay. One that the caller made, that Pick filled or that Clone returned is the caller's, for
// ever.
//
// Keep, Release and Clone may be called from any goroutine; the rest belongs to one at a time.
type Batch struct {
	// Shape is (N, H, W, C) or (N, C, H, W), as Config.Layout says. Of several views it is that of the
	// first, see ViewShape.
	Shape [4]int
	// DType is the type of the images, which Pixels returns.
	DType formats.DType
	// LabelDType is the type of the designated labels, which Labels returns: formats.Float32 of
	// numbers to predict.
	LabelDType formats.DType
	// MultiHot has a row of one column per class for each image where the designated label
	// is multi-hot; nil otherwise. Rows of padding are 0.
	MultiHot []uint8
	// Soft are the labels of images that MixUp or CutMix mixed: a row of one column per class for
	// each image; nil without those ops. Rows of padding are 0, and images without a label add 0.
	// Labels that are numbers are mixed in Labels; NaN makes the result NaN.
	Soft []float32
	// Fields are the extra fields that Config.Fields names, in its order.
	Fields []Field
	// Indices number the samples as Pick, InfoOf, Order and RunOptions.List do: among the Loader's,
	// in order of key, from 0. With Config.Split those are the split's samples. -1 marks padding, a
	// repeated sample that should not be counted (see the package's section on order).
	Indices []int
	// Samples are Indices, but of padding the sample that is repeated.
	Samples []int
	N       int
	// Skipped is the number of bad samples that were left out, Substituted the number of those
	// that were replaced by others: see Config.OnError.
	Skipped, Substituted int
	// End is the position in the epoch, over all ranks, after the step that the batch belongs
	// to: where Resume continues.
	End int
	// Rest is what is left to do on the images of each view, with Config.Deferred or DecodeOnGPU; nil without.
	Rest []Rest

	images []byte // elements of DType, of the first view; the others' follow within its capacity
	behind int    // bytes of Previous, which follows the images within their capacity
	left   []left // of each view of each entry, from the workers

	device deviceMemory // that the images lie in; nil on the CPU
	others []otherView
	labels []byte // elements of LabelDType
	lease  *lease // nil of the caller's own
}

// NewBatch makes a batch of the caller's own, for what takes batches that no Loader made: Shape[0]
// images and labels that are 0, with the indices from 0 on. labels may be "" for none.
func NewBatch(shape [4]int, dtype, labels formats.DType) (*Batch, error) {
	b := &Batch{Shape: shape, DType: dtype, LabelDType: labels, N: shape[0]}
	size := dtype.Size()
	for _, n := range shape {
		if n < 0 || n > 0 && size > math.MaxInt32*1024/n {
			return nil, fmt.Errorf("batch of shape %v: the sizes must not be negative, nor all of it so large", shape)
		}
		size *= n
	}
	if err := checkDType(dtype); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if labels != formats.Float32 && labels != "" {
		if err := checkLabels(labels, 0); err != nil {
			return nil, fmt.Errorf("batch: %w", err)
		}
	}
	b.images, b.labels = aligned(nil, size), aligned(nil, b.N*labels.Size())
	b.Indices, b.Samples = make([]int, b.N), make([]int, b.N)
	for i := range b.Indices {
		b.Indices[i], b.Samples[i] = i, i
	}
	return b, nil
}

// Pixels is the batch's images, one after another, as Shape says; it is no copy. Of several views it is
// the first, see ViewPixels. T follows
// Batch.DType: uint8, uint16 (also of float16 and bfloat16, whose bits it holds) or float32. It is nil
// after TakeImages, and with DecodeOnGPU: see Device. Pixels panics for another T, and for a batch that is no longer valid.
func Pixels[T uint8 | uint16 | float32](b *Batch) []T {
	images, _ := b.memory("Pixels")
	checkElements[T]("Pixels", "DType", b.DType)
	return Elements[T](images)
}

// Labels is the designated labels, one per image; it is no copy. T follows Batch.LabelDType: int64,
// uint8 or uint16 of classes, float32 of numbers to predict. formats.NoLabel (-1), 255, 65535 or NaN
// stands for a sample without one, for padding unless order.Repeat keeps its label, and, but for
// numbers, throughout where the label is multi-hot. Labels panics for another T, and for a batch that
// is no longer valid.
func Labels[T int64 | uint8 | uint16 | float32](b *Batch) []T {
	_, labels := b.memory("Labels")
	checkElements[T]("Labels", "LabelDType", b.LabelDType)
	return Elements[T](labels)
}

// checkElements panics if T does not hold elements of type d.
func checkElements[T uint8 | uint16 | int64 | float32](function, field string, d formats.DType) {
	var zero T
	if got, wanted := fmt.Sprintf("%T", zero), elementType(d); got != wanted {
		panic(fmt.Sprintf("reader: %s[%s] of a batch whose %s is %q: use %s[%s], or set Config.%s", function, got, field, d, function, wanted, field))
	}
}

// elementType is the Go type of elements of type d.
func elementType(d formats.DType) string {
	switch d {
	case formats.Float16, formats.BFloat16:
		return string(formats.Uint16)
	}
	return string(d)
}

// Frame is what all batches of a Loader have in common.
type Frame struct {
	DType formats.DType // of the images
	Image []int         // shape of one, as Config.Layout says; nil with Config.AnySize
	Views []ViewFrame   // all of them, the first one too; nil without Config.Views
	Label formats.DType // of the labels: formats.Float32 of numbers
	// Columns are those of Batch.MultiHot, Soft those of Batch.Soft; 0 where that is nil.
	Columns, Soft int
	// Fields have no values: name, kind, type and, where it is the same for all, shape.
	Fields []Field
	// Final is what the images of each view become once Batch.Rest is carried out; nil where batches have no Rest.
	Final []FinalFrame
}

// Frame describes the Loader's batches.
func (l *Loader) Frame() Frame {
	f := &l.frame
	described := Frame{DType: f.dtype, Label: f.label, Columns: f.columns, Soft: f.soft, Final: l.finalFrames()}
	if !l.config.AnySize {
		described.Image = f.imageShape()
	}
	if len(l.config.Views) > 0 {
		described.Views = f.viewFrames(l.config.AnySize)
	}
	for _, field := range f.fields {
		if l.config.AnySize && (field.kind == formats.Image || field.kind == formats.Mask) {
			field.shape = nil
		}
		described.Fields = append(described.Fields, Field{Name: field.name, Kind: field.kind, DType: field.dtype, Shape: field.shape})
	}
	return described
}

// frame is Frame with the shape, as the Loader needs it.
type frame struct {
	shape   [3]int // H, W, C of the first view
	others  []otherFrame
	dtype   formats.DType
	layout  pixel.Layout
	label   formats.DType
	columns int // of MultiHot
	soft    int // columns of Soft
	fields  []fieldFrame

	leaves   augment.Leaving // to the consumer
	previous int             // 1 if the image that the first one is mixed with follows the batch's images
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
	b.DType, b.LabelDType = f.dtype, f.label
	f.resetImages(b, n)
	b.labels = aligned(b.labels, n*f.label.Size())
	b.Indices, b.Samples = resize(b.Indices, true, n), resize(b.Samples, true, n)
	b.MultiHot = resize(b.MultiHot, f.columns > 0, n*f.columns)
	b.Soft = resize(b.Soft, f.soft > 0, n*f.soft)
	f.resetFields(b, n)
	f.resetLeft(b, n)
	b.N, b.Skipped, b.Substituted = n, 0, 0
	b.Shape = f.batchShape(n, f.shape)
}

// batchShape is the shape of n images of h by w pixels with c channels.
func (f *frame) batchShape(n int, image [3]int) [4]int {
	h, w, c := image[0], image[1], image[2]
	if f.layout == pixel.NCHW {
		return [4]int{n, c, h, w}
	}
	return [4]int{n, h, w, c}
}

// move moves entry from of b to entry to. Entry from is undefined afterwards.
func (f *frame) move(b *Batch, to, from int) {
	f.copyEntry(b, to, b, from)
	f.moveViews(b, to, from)
	f.moveFields(b, to, from)
	f.moveLeft(b, to, b, from)
}

// copyEntry copies entry from of src to entry to of dst, without extra fields.
func (f *frame) copyEntry(dst *Batch, to int, src *Batch, from int) {
	copyRow(dst.images, to, src.images, from, f.entryBytes())
	copyRow(dst.labels, to, src.labels, from, f.label.Size())
	copyRow(dst.Indices, to, src.Indices, from, 1)
	copyRow(dst.Samples, to, src.Samples, from, 1)
	copyRow(dst.MultiHot, to, src.MultiHot, from, f.columns)
}

// bytes is the memory of a batch of n entries, without fields whose size varies.
func (f *frame) bytes(n int) int64 {
	entry := f.label.Size() + 8 + f.columns + 4*f.soft
	for k := range f.fields {
		entry += f.fields[k].size
	}
	return int64(f.imageBytes(n)) + int64(n)*int64(entry)
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

// Allocator returns memory for the images of a batch, for callers that need a special kind: pinned,
// or another language's. It returns size bytes, aligned for any element type, or nil to let the
// Loader allocate. StartWith and Next call it before a batch is started; it must not call the Run or
// the Loader. The memory belongs to the caller again when it is taken from the batch, when a batch
// that was kept is released, or when the Run is stopped.
type Allocator func(size int) []byte

// MemorySize is the size in bytes of a batch's images, of all views: what an Allocator is asked for.
func (l *Loader) MemorySize() int {
	return l.frame.imageBytes(l.config.BatchSize)
}

// Slots is the maximum number of batches that are being built at a time.
func (l *Loader) Slots() int { return l.config.Prefetch + 1 }

// ImageBytes is the images as bytes, without a copy; nil if there are none. Of several views it is the
// first, see ViewBytes. It panics if the batch is no longer valid.
func (b *Batch) ImageBytes() []byte {
	images, _ := b.memory("ImageBytes")
	return slices.Clip(images)
}

// LabelBytes is the designated labels as bytes of LabelDType, without a copy. It panics if the batch
// is no longer valid.
func (b *Batch) LabelBytes() []byte {
	_, labels := b.memory("LabelBytes")
	return labels
}

// lend gives b the caller's memory for its images, unless it has memory already.
func (r *running) lend(b *Batch) error {
	if b.images != nil {
		return nil
	}
	size := r.loader.MemorySize()
	lent := r.allocate(size)
	switch {
	case lent == nil:
		return nil
	case len(lent) < size:
		return fmt.Errorf("the Allocator gave %d bytes, it was asked for %d", len(lent), size)
	case uintptr(unsafe.Pointer(unsafe.SliceData(lent)))%uintptr(r.loader.frame.dtype.Size()) != 0:
		return fmt.Errorf("the Allocator gave memory that is not aligned for %s", r.loader.frame.dtype)
	}
	b.images = lent
	return nil
}

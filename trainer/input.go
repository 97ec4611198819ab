package trainer

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// inputs are a graph's arguments for one batch, in the device's memory: padded to rows, so that one graph serves all
// smaller batches. A batch without a sample has no tensors.
type inputs struct {
	rows, samples         int
	images, targets, mask *tensors.Tensor // (rows,H,W,C) uint8 or float32; (rows,classes), (rows) float32
}

// stager makes inputs of batches. It belongs to one goroutine, which need not be the one that computes.
type stager struct {
	backend compute.Backend
	classes int
	rows    int // of the largest batch so far
	// Memory for the host's side of a batch, used again.
	pixels        []byte
	targets, mask []float32
}

// stage copies b, which checkBatch accepted, to the device and masks the padding.
func (s *stager) stage(b *reader.Batch) (in *inputs, err error) {
	s.rows = max(s.rows, b.Shape[0])
	in = &inputs{rows: s.rows, samples: samples(b)}
	if in.samples == 0 {
		return in, nil
	}
	dtype := dtypes.Uint8
	if b.DType == formats.Float32 {
		dtype = dtypes.Float32
	}
	s.fillTargets(b)
	in.images, err = tensors.FromRaw(s.backend, 0, shapes.Make(dtype, s.rows, b.Shape[1], b.Shape[2], b.Shape[3]), s.padded(b))
	if err == nil {
		in.targets, err = tensors.FromRaw(s.backend, 0, shapes.Make(dtypes.Float32, s.rows, s.classes), dtypes.UnsafeByteSliceFromAny(s.targets))
	}
	if err == nil {
		in.mask, err = tensors.FromRaw(s.backend, 0, shapes.Make(dtypes.Float32, s.rows), dtypes.UnsafeByteSliceFromAny(s.mask))
	}
	if err != nil {
		in.free()
		return nil, fmt.Errorf("copy the batch to the device: %w", err)
	}
	return in, nil
}

// padded returns the batch's pixels, with zeros for the rows that it lacks.
func (s *stager) padded(b *reader.Batch) []byte {
	pixels := b.ImageBytes()
	size := len(pixels) / b.Shape[0] * s.rows
	if len(pixels) == size {
		return pixels
	}
	s.pixels = buffer(s.pixels, size)
	clear(s.pixels[copy(s.pixels, pixels):])
	return s.pixels
}

// fillTargets sets the target probabilities: those of MixUp or CutMix, or 1 for the label.
func (s *stager) fillTargets(b *reader.Batch) {
	s.targets, s.mask = buffer(s.targets, s.rows*s.classes), buffer(s.mask, s.rows)
	clear(s.targets)
	clear(s.mask)
	copy(s.targets, b.Soft)
	for i := range b.Shape[0] {
		if !counts(b, i) {
			continue
		}
		s.mask[i] = 1
		if b.Soft == nil {
			s.targets[i*s.classes+int(b.Label(i))] = 1
		}
	}
}

// buffer returns a slice of n elements, in the memory of s if that is large enough.
func buffer[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// arguments are those of the graph.
func (in *inputs) arguments() []any { return []any{in.images, in.targets, in.mask} }

func (in *inputs) shapes() []shapes.Shape {
	return []shapes.Shape{in.images.Shape(), in.targets.Shape(), in.mask.Shape()}
}

// free frees the device's memory, once no graph uses it.
func (in *inputs) free() {
	for _, t := range []*tensors.Tensor{in.images, in.targets, in.mask} {
		if t != nil {
			t.MustFinalizeAll()
		}
	}
}

// samples is the number of the batch's samples without padding.
func samples(b *reader.Batch) int {
	n := 0
	for i := range b.Shape[0] {
		if counts(b, i) {
			n++
		}
	}
	return n
}

// counts reports whether row i of the batch is a sample and not padding.
func counts(b *reader.Batch, i int) bool { return i < b.N && b.Indices[i] >= 0 }

// errNumbers is the error of labels that are not classes.
var errNumbers = fmt.Errorf("%w: the labels are numbers to predict, and the models learn classes", ErrBatch)

// checkBatch reports why the batch does not fit images of shape (H,W,C) and the number of classes.
func checkBatch(b *reader.Batch, shape [3]int, classes int) error {
	if want := ([4]int{b.Shape[0], shape[0], shape[1], shape[2]}); b.Shape != want {
		return fmt.Errorf("%w: shape %v, want NHWC %v", ErrBatch, b.Shape, want)
	}
	if b.LabelDType == formats.Float32 {
		return errNumbers
	}
	if b.DType != formats.Uint8 && b.DType != formats.Float32 {
		return fmt.Errorf("%w: pixels of type %q, want %s or %s", ErrBatch, b.DType, formats.Uint8, formats.Float32)
	}
	rows, size := b.Shape[0], b.Shape[0]*shape[0]*shape[1]*shape[2]
	pixels, labels := len(b.ImageBytes())/b.DType.Size(), len(b.LabelBytes())/max(b.LabelDType.Size(), 1)
	if rows == 0 || labels < rows || len(b.Indices) < rows || pixels != size {
		return fmt.Errorf("%w: %d pixels, %d labels, %d indices for shape %v", ErrBatch, pixels, labels, len(b.Indices), b.Shape)
	}
	if b.Soft != nil && len(b.Soft) != rows*classes {
		return fmt.Errorf("%w: %d soft labels, want %d for each of %d images", ErrBatch, len(b.Soft), classes, rows)
	}
	if b.MultiHot != nil {
		return fmt.Errorf("%w: multi-hot labels: the models learn one class a sample", ErrBatch)
	}
	for i := range rows {
		if label := b.Label(i); counts(b, i) && (label < 0 || label >= int64(classes)) {
			return fmt.Errorf("%w: sample %d has label %d, want 0 to %d", ErrBatch, b.Indices[i], label, classes-1)
		}
	}
	return nil
}

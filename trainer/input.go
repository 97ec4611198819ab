package trainer

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// feed holds the input tensors of one graph and fills them from batches. It has as many
// rows as the largest batch so far, so that one graph serves all smaller batches.
type feed struct {
	rows, classes         int
	images, targets, mask *tensors.Tensor // (rows,H,W,C) uint8 or float32; (rows,classes), (rows) float32
}

// fill copies b, which checkBatch accepted, into the tensors and masks the padding.
// It reports whether the tensors have a new shape, which needs another graph.
func (f *feed) fill(b *reader.Batch) (resized bool, err error) {
	dtype := dtypes.Uint8
	if b.DType == formats.Float32 {
		dtype = dtypes.Float32
	}
	if f.images == nil || b.Shape[0] > f.rows || dtype != f.images.DType() {
		f.free()
		f.rows = max(f.rows, b.Shape[0])
		f.images = tensors.FromShape(shapes.Make(dtype, f.rows, b.Shape[1], b.Shape[2], b.Shape[3]))
		f.targets = tensors.FromShape(shapes.Make(dtypes.Float32, f.rows, f.classes))
		f.mask = tensors.FromShape(shapes.Make(dtypes.Float32, f.rows))
		resized = true
	}
	if dtype == dtypes.Uint8 {
		err = fillPixels(f.images, reader.Pixels[uint8](b))
	} else {
		err = fillPixels(f.images, reader.Pixels[float32](b))
	}
	if err != nil {
		return resized, err
	}
	return resized, f.fillTargets(b)
}

// fillTargets writes the target probabilities: those of MixUp or CutMix, or 1 for the label.
func (f *feed) fillTargets(b *reader.Batch) error {
	err := tensors.MutableFlatData(f.targets, func(dst []float32) {
		clear(dst)
		copy(dst, b.Soft)
		for i := range b.Shape[0] {
			if b.Soft == nil && counts(b, i) {
				dst[i*f.classes+int(b.Label(i))] = 1
			}
		}
	})
	if err != nil {
		return err
	}
	return tensors.MutableFlatData(f.mask, func(dst []float32) {
		clear(dst)
		for i := range b.Shape[0] {
			if counts(b, i) {
				dst[i] = 1
			}
		}
	})
}

// inputs are the arguments of the graph.
func (f *feed) inputs() []any { return []any{f.images, f.targets, f.mask} }

func (f *feed) shapes() []shapes.Shape {
	return []shapes.Shape{f.images.Shape(), f.targets.Shape(), f.mask.Shape()}
}

func (f *feed) free() {
	for _, t := range []*tensors.Tensor{f.images, f.targets, f.mask} {
		if t != nil {
			t.MustFinalizeAll()
		}
	}
	f.images, f.targets, f.mask = nil, nil, nil
}

// fillPixels copies the batch's rows and clears the others.
func fillPixels[T uint8 | float32](t *tensors.Tensor, pixels []T) error {
	return tensors.MutableFlatData(t, func(dst []T) { clear(dst[copy(dst, pixels):]) })
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

package trainer

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/dsconv/dsconv/reader"
)

// feed holds the input tensors of one graph and fills them from batches. It has as many
// rows as the largest batch so far, so that one graph serves all smaller ones.
type feed struct {
	rows                 int
	images, labels, mask *tensors.Tensor // (rows,H,W,C) uint8 or float32; (rows) int32; (rows) float32
}

// fill copies b, which checkBatch found good, into the tensors and masks what is padding.
// resized says that the tensors have a new shape, which takes another graph.
func (f *feed) fill(b *reader.Batch) (resized bool, err error) {
	dtype := dtypes.Uint8
	if b.Uint8 == nil {
		dtype = dtypes.Float32
	}
	if f.images == nil || b.Shape[0] > f.rows || dtype != f.images.DType() {
		f.free()
		f.rows = max(f.rows, b.Shape[0])
		f.images = tensors.FromShape(shapes.Make(dtype, f.rows, b.Shape[1], b.Shape[2], b.Shape[3]))
		f.labels = tensors.FromShape(shapes.Make(dtypes.Int32, f.rows))
		f.mask = tensors.FromShape(shapes.Make(dtypes.Float32, f.rows))
		resized = true
	}
	if dtype == dtypes.Uint8 {
		err = fillPixels(f.images, b.Uint8)
	} else {
		err = fillPixels(f.images, b.Float32)
	}
	if err != nil {
		return resized, err
	}
	return resized, f.fillLabels(b)
}

func (f *feed) fillLabels(b *reader.Batch) error {
	err := tensors.MutableFlatData(f.labels, func(dst []int32) {
		clear(dst)
		for i := range b.Shape[0] {
			if counts(b, i) {
				dst[i] = int32(b.Labels[i])
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
func (f *feed) inputs() []any { return []any{f.images, f.labels, f.mask} }

func (f *feed) shapes() []shapes.Shape {
	return []shapes.Shape{f.images.Shape(), f.labels.Shape(), f.mask.Shape()}
}

func (f *feed) free() {
	for _, t := range []*tensors.Tensor{f.images, f.labels, f.mask} {
		if t != nil {
			t.MustFinalizeAll()
		}
	}
	f.images, f.labels, f.mask = nil, nil, nil
}

// fillPixels copies the rows that there are and clears the rest.
func fillPixels[T uint8 | float32](t *tensors.Tensor, pixels []T) error {
	return tensors.MutableFlatData(t, func(dst []T) { clear(dst[copy(dst, pixels):]) })
}

// samples is the number of entries that are not padding.
func samples(b *reader.Batch) int {
	n := 0
	for i := range b.Shape[0] {
		if counts(b, i) {
			n++
		}
	}
	return n
}

// counts says whether entry i of the batch is a sample and not padding.
func counts(b *reader.Batch, i int) bool { return i < b.N && b.Indices[i] >= 0 }

// checkBatch reports what about the batch does not fit images of shape (H,W,C).
func checkBatch(b *reader.Batch, shape [3]int, classes int) error {
	if want := ([4]int{b.Shape[0], shape[0], shape[1], shape[2]}); b.Shape != want {
		return fmt.Errorf("%w: shape %v, want NHWC %v", ErrBatch, b.Shape, want)
	}
	rows, size := b.Shape[0], b.Shape[0]*shape[0]*shape[1]*shape[2]
	if rows == 0 || len(b.Labels) < rows || len(b.Indices) < rows || max(len(b.Uint8), len(b.Float32)) != size {
		return fmt.Errorf("%w: %d pixels, %d labels, %d indices for shape %v", ErrBatch,
			max(len(b.Uint8), len(b.Float32)), len(b.Labels), len(b.Indices), b.Shape)
	}
	if b.MultiHot != nil {
		return fmt.Errorf("%w: multi-hot labels: the models learn one class a sample", ErrBatch)
	}
	for i, label := range b.Labels[:rows] {
		if counts(b, i) && (label < 0 || label >= int64(classes)) {
			return fmt.Errorf("%w: sample %d has label %d, want 0 to %d", ErrBatch, b.Indices[i], label, classes-1)
		}
	}
	return nil
}

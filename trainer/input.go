package trainer

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// inputs are a graph's arguments for one batch, in the device's memory: images (rows,H,W,C) uint8 or float32, targets
// (rows,classes) and mask (rows) float32.
type inputs []*tensors.Tensor

// stage copies b, which checkBatch accepted, to the device, padded to rows, so that one graph serves all smaller batches.
func stage(backend compute.Backend, b *reader.Batch, rows, classes int) (in inputs, err error) {
	dtype := dtypes.Uint8
	if b.DType == formats.Float32 {
		dtype = dtypes.Float32
	}
	pixels := b.ImageBytes()
	if size := len(pixels) / b.Shape[0] * rows; size > len(pixels) {
		pixels = append(make([]byte, 0, size), pixels...)[:size]
	}
	targets, mask := targetsOf(b, rows, classes)
	for _, raw := range []struct {
		shape shapes.Shape
		data  []byte
	}{
		{shapes.Make(dtype, rows, b.Shape[1], b.Shape[2], b.Shape[3]), pixels},
		{shapes.Make(dtypes.Float32, rows, classes), dtypes.UnsafeByteSliceFromAny(targets)},
		{shapes.Make(dtypes.Float32, rows), dtypes.UnsafeByteSliceFromAny(mask)},
	} {
		tensor, err := tensors.FromRaw(backend, 0, raw.shape, raw.data)
		if err != nil {
			in.free()
			return nil, fmt.Errorf("copy the batch to the device: %w", err)
		}
		in = append(in, tensor)
	}
	return in, nil
}

// targetsOf are the target probabilities, those of MixUp or CutMix or 1 for the label, and 1 for each row that is a sample.
func targetsOf(b *reader.Batch, rows, classes int) (targets, mask []float32) {
	targets, mask = make([]float32, rows*classes), make([]float32, rows)
	copy(targets, b.Soft)
	for i := range b.Shape[0] {
		if !counts(b, i) {
			continue
		}
		mask[i] = 1
		if b.Soft == nil {
			targets[i*classes+int(b.Label(i))] = 1
		}
	}
	return targets, mask
}

// free frees the device's memory, once no graph uses it.
func (in inputs) free() {
	for _, t := range in {
		t.MustFinalizeAll()
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

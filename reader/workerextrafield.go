package reader

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// fields stores the sample's extra fields in entry i, transformed as the image.
func (w *worker) fields(b *Batch, i int) error {
	w.steps[0].Turned(w.orientation)
	for k := range w.loader.frame.fields {
		from, to := &w.loader.frame.fields[k], &b.Fields[k]
		if err := w.field(&w.sample.Values[from.field], from, to, i); err != nil {
			return fmt.Errorf("field %s: %w", from.name, err)
		}
	}
	return nil
}

func (w *worker) field(v *formats.Value, from *fieldFrame, to *Field, i int) error {
	w.freeStored()
	extra := w.room.Extra
	defer func() { w.room.Extra = extra }()
	switch from.kind {
	case formats.Image:
		return w.extraImage(v, to.Value(i))
	case formats.Mask:
		return w.mask(v, from, to.Value(i))
	case formats.Boxes:
		return w.boxes(v, &to.values[i])
	}
	data, err := w.decoder.Elements(v)
	if err == nil {
		err = legible.CheckPlain(from.kind, data)
	}
	if err != nil {
		return err
	}
	if from.shape == nil {
		value := &to.values[i]
		value.data = append(value.data[:0], data...)
		value.shape = append(value.shape[:0], v.Shape...)
		if v.Encoding == formats.Plain {
			value.shape = append(value.shape[:0], len(data))
		}
		return nil
	}
	if len(data) != from.size {
		return fmt.Errorf("%w: a value of %d bytes, which is not the size of the shape %v", formats.ErrSchema, len(data), from.shape)
	}
	copy(to.Value(i), data)
	return nil
}

// decodeMask returns a mask's pixels: the indices of a palette image.
func (w *worker) decodeMask(v *formats.Value) (*pixel.Image, error) {
	o := codec.MaskOptions()
	o.MaxPixels, w.decoder.Reservation = w.loader.config.MaxPixels, &w.room
	w.room.Extra += w.roomToFit(v, o)
	err := w.decoder.Decode(&w.masked, v, o)
	return &w.masked, err
}

// roomToFit is about how many bytes it takes to scale v, an extra image or a mask, to the designated image's size, if
// it has another one.
func (w *worker) roomToFit(v *formats.Value, o codec.DecodeOptions) int64 {
	if w.h == 0 { // it follows nothing
		return 0
	}
	h, width, err := w.decoder.Size(v, o)
	if th, tw := pixel.OrientedSize(h, width, w.orientation); err != nil || th == w.h && tw == w.w {
		return 0 // Decode returns the error
	}
	return budget.ImageBytes(w.h, w.w, w.loader.views[0].pipeline.Shape()[2]*w.loader.pixelDType().Size())
}

// mask stores a mask in dst.
func (w *worker) mask(v *formats.Value, from *fieldFrame, dst []byte) error {
	m, err := w.decodeMask(v)
	if err != nil {
		return err
	}
	if m.C != from.shape[2] || m.DType != from.dtype {
		return fmt.Errorf("%w: the mask has %d channels of %s, that of the first sample %d of %s", formats.ErrSchema,
			m.C, m.DType, from.shape[2], from.dtype)
	}
	to := pixel.Image{Pix: dst[:len(dst):len(dst)]}
	return w.runner.Mask(&w.steps[0], m, &to)
}

// extraImage stores an extra image in dst, by the same plan as the designated one.
func (w *worker) extraImage(v *formats.Value, dst []byte) error {
	l := w.loader
	o := w.options()
	o.EXIF = pixel.EXIFKeep // that of the designated image is applied below
	w.room.Extra += w.roomToFit(v, o)
	decoded, own, err := w.decode(v, o)
	if err != nil {
		return err
	}
	steps := &w.steps[0]
	m, err := w.runner.Fit(steps, decoded)
	if err != nil {
		return err
	}
	steps.Widen()
	steps.Leave(augment.LeaveNothing)
	if err := l.views[0].pipeline.Fits(m, steps); err != nil {
		return err
	}
	if err := w.runner.Apply(steps, m, own || m != decoded, l.target(&l.single, 0, dst)); err != nil {
		return err
	}
	return w.runner.Store()
}

// boxes stores the sample's transformed boxes.
func (w *worker) boxes(v *formats.Value, to *fieldValue) error {
	data, err := w.decoder.Elements(v)
	if err != nil {
		return err
	}
	boxes, err := geometry.ReadBoxes(w.corners[:0], data, v.DType)
	if err != nil {
		return err
	}
	w.corners = w.steps[0].Boxes(boxes[:0], boxes)
	to.data = geometry.AppendBoxes(to.data[:0], w.corners)
	to.shape = append(to.shape[:0], len(w.corners)/4, 4)
	return nil
}

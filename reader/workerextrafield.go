package reader

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// fields stores the sample's extra fields in entry i, transformed as the image.
func (w *worker) fields(b *Batch, i int) error {
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
	switch from.kind {
	case formats.Image:
		return w.extraImage(v, to.Value(i))
	case formats.Mask:
		return w.mask(v, from, to.Value(i))
	case formats.Boxes:
		return w.boxes(v, &to.values[i])
	}
	data, err := w.decoder.Elements(v)
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
	err := w.decoder.Decode(&w.masked, v, codec.DecodeOptions{
		Color: pixel.ColorKeep, Indices: true, MaxPixels: w.loader.config.MaxPixels, Reservation: &w.room,
	})
	return &w.masked, err
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
	return w.runner.Mask(&w.steps[0], w.upright(m), &to)
}

// extraImage stores an extra image in dst, by the same plan as the designated one.
func (w *worker) extraImage(v *formats.Value, dst []byte) error {
	l := w.loader
	o := w.options()
	o.ApplyOrientation = false // that of the designated image is applied below
	m, own, err := w.decode(v, o)
	if err != nil {
		return err
	}
	m = w.upright(m)
	if m.H != w.h || m.W != w.w {
		return fmt.Errorf("the image is %dx%d, the designated image %dx%d: they must be equal", m.W, m.H, w.w, w.h)
	}
	steps := &w.steps[0]
	steps.Widen()
	steps.Leave(augment.LeaveNothing)
	if err := l.views[0].pipeline.Fits(m, steps); err != nil {
		return err
	}
	if err := w.runner.Apply(steps, m, own, l.target(&l.single, 0, dst)); err != nil {
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
	if v.DType != formats.Float32 || len(data)%16 != 0 {
		return fmt.Errorf("%w: boxes of %d bytes of %s: each must have 4 values of float32", formats.ErrSchema, len(data), v.DType)
	}
	w.corners = w.corners[:0]
	for ; len(data) > 0; data = data[4:] {
		w.corners = append(w.corners, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	pixel.OrientBoxes(w.corners, w.h, w.w, w.orientation)
	w.corners = w.steps[0].Boxes(w.corners[:0], w.corners)
	to.data = to.data[:0]
	for _, x := range w.corners {
		to.data = binary.LittleEndian.AppendUint32(to.data, math.Float32bits(x))
	}
	to.shape = append(to.shape[:0], len(w.corners)/4, 4)
	return nil
}

// upright applies the orientation of the designated image to m.
func (w *worker) upright(m *pixel.Image) *pixel.Image {
	if w.orientation == 1 {
		return m
	}
	_ = pixel.Orient(&w.turned, m, w.orientation) // cannot fail: it was decoded
	return &w.turned
}

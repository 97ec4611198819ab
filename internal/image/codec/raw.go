package codec

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeRaw decodes raw or raw+zstd to dst.
func (d *Decoder) decodeRaw(dst *pixel.Image, v *formats.Value, o DecodeOptions) error {
	h, err := RawHeader(v)
	if err != nil {
		return err
	}
	d.header = h
	if err := CheckSize(h, o.MaxPixels); err != nil {
		return err
	}
	region, err := o.storedRegion(h)
	if err != nil {
		return err
	}
	if err := d.reserve(RawMemory(v, h, region, o)); err != nil {
		return err
	}
	raw := pixel.Image{Pix: v.Data, H: h.H, W: h.W, C: h.C, DType: h.DType}
	if v.Encoding == formats.RawZstd {
		if raw.Pix, err = d.unzstd(v.Data, uint64(h.H)*uint64(h.W*h.C*h.DType.Size())); err != nil {
			return err
		}
	}
	if len(raw.Pix) < raw.H*raw.Stride() {
		return fmt.Errorf("%w: %d raw bytes for shape %v of %s", pixel.ErrTruncated, len(raw.Pix), v.Shape, v.DType)
	}
	if err := raw.Check(); err != nil {
		return err
	}
	if region != (pixel.Rect{W: h.W, H: h.H}) {
		if err := raw.Crop(&d.scratch[3], region); err != nil {
			return err
		}
		raw = d.scratch[3]
	}
	if o.Indices {
		o.Color = pixel.ColorKeep
	}
	return d.convert(dst, &raw, o)
}

// RawMemory is decodeMemory of raw pixels.
func RawMemory(v *formats.Value, h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	own := h.C * h.DType.Size()
	n := budget.ImageBytes(r.H, r.W, own+o.pixelSize(h))
	if v.Encoding == formats.RawZstd {
		n += budget.ImageBytes(h.H, h.W, own)
	}
	return n
}

// RawHeader returns the header of raw pixels, which their Value records.
func RawHeader(v *formats.Value) (pixel.Header, error) {
	h := pixel.Header{C: 1, DType: v.DType, Orientation: 1}
	switch len(v.Shape) {
	case 3:
		h.C = v.Shape[2]
		fallthrough
	case 2:
		h.H, h.W = v.Shape[0], v.Shape[1]
	}
	if h.H <= 0 || h.W <= 0 || h.C < 1 || h.C > 4 || (h.DType != formats.Uint8 && h.DType != formats.Uint16) {
		return h, fmt.Errorf("%w: raw pixels of shape %v and type %q", pixel.ErrUnsupported, v.Shape, v.DType)
	}
	return h, nil
}

// Elements returns the elements of a tensor: the bytes of v if it is raw; for raw+zstd, memory that
// is valid until the Decoder's next use.
func (d *Decoder) Elements(v *formats.Value) ([]byte, error) {
	if v.Encoding != formats.RawZstd {
		return v.Data, nil
	}
	want, limit := uint64(v.DType.Size()), uint64(max(budget.UnreservedBytes, budget.UnreservedRatio*len(v.Data)))
	for _, n := range v.Shape {
		if n < 0 || n > 0 && want > limit/uint64(n) {
			return nil, fmt.Errorf("%w: a tensor of shape %v in %d bytes", pixel.ErrTooLarge, v.Shape, len(v.Data))
		}
		want *= uint64(n)
	}
	return d.unzstd(v.Data, want)
}

// unzstd decompresses want bytes to scratch memory, never more.
func (d *Decoder) unzstd(data []byte, want uint64) ([]byte, error) {
	var frame zstd.Header
	if err := frame.Decode(data); err != nil {
		return nil, fmt.Errorf("%w: raw+zstd: %w", pixel.ErrCorrupt, err)
	}
	if frame.HasFCS && frame.FrameContentSize != want {
		return nil, fmt.Errorf("%w: raw+zstd holds %d bytes, its shape needs %d", pixel.ErrCorrupt, frame.FrameContentSize, want)
	}
	if d.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, fmt.Errorf("start zstd: %w", err)
		}
		d.zstd = z
	}
	// A frame need not record its size: it is decompressed into as much memory as its shape takes.
	const slack = 64 // lets zstd decode the last block as fast as the others
	d.scratch[0].Pix = buffer.Grow(d.scratch[0].Pix, int(want)+slack)
	pix, err := d.zstd.DecodeAll(data, d.scratch[0].Pix[:0])
	if err != nil {
		return nil, fmt.Errorf("%w: raw+zstd: %w", pixel.ErrCorrupt, err)
	}
	if uint64(len(pix)) != want {
		return nil, fmt.Errorf("%w: raw+zstd holds %d bytes, its shape needs %d", pixel.ErrTruncated, len(pix), want)
	}
	return pix, nil
}

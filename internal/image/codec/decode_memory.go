package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// reserve reserves the n bytes that decoding takes.
func (d *Decoder) reserve(n int64) error {
	d.reserved = n
	return d.reserveMore(0)
}

// reserveMore reserves n bytes in addition. Pixels decoded so far may be lost.
func (d *Decoder) reserveMore(n int64) error {
	return d.reservation.ReserveImageOr(d.reserved+n, d.fileSize, d.maxPixels, d)
}

// Drop frees the buffers that memory was reserved for.
func (d *Decoder) Drop() {
	d.Shrink()
	d.dst.Shrink()
}

// DecodeMemory estimates the bytes that decoding the rectangle r of an image file takes, all in
// all. It is for an intact file: the extra memory of a damaged one is reserved once the damage is
// found.
func DecodeMemory(data []byte, enc formats.Encoding, h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	own := h.C * h.DType.Size()
	perPixel := o.pixelMemory(h)
	n := int64(0)
	switch enc {
	case formats.JPEG:
		return jpegMemory(h, r, o)
	case formats.PNG:
		n = budget.ImageBytes(2, h.W, own)
		if h.Palette {
			perPixel++
		}
	case formats.GIF:
		perPixel += 2
	case formats.TIFF:
		more, block := tiffMemory(data)
		perPixel, n = perPixel+more, block
	case formats.BMP:
		perPixel++
	case formats.WebP:
		perPixel += 4 // libwebp's own pixels, or alpha
	}
	n += budget.ImageBytes(h.H, h.W, perPixel)
	if r != (pixel.Rect{W: h.W, H: h.H}) {
		n += budget.ImageBytes(r.H, r.W, perPixel)
	}
	if o.ApplyOrientation && h.Orientation != 1 {
		n += budget.ImageBytes(r.H, r.W, perPixel)
	}
	return n
}

// pixelMemory is the bytes of a pixel in the file's format plus, if it is converted, in the
// caller's.
func (o DecodeOptions) pixelMemory(h pixel.Header) int {
	own := h.C * h.DType.Size()
	if o.keeps(h) {
		return own
	}
	return own + o.pixelSize(h)
}

// jpegMemory is decodeMemory of a JPEG, whose rows and columns around r are not kept.
func jpegMemory(h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	n := o.scaleDenominator(r)
	perPixel := o.Color.Channels(h.C)
	sum := budget.ImageBytes(r.H/n+1, r.W/n+1, perPixel)
	if o.ApplyOrientation && h.Orientation != 1 {
		sum *= 2
	}
	return sum + int64(h.CoefficientBytes)
}

// Shrink frees large buffers.
func (d *Decoder) Shrink() {
	for i := range d.scratch {
		d.scratch[i].Shrink()
	}
	d.tiff = buffer.DropLarge(d.tiff)
	d.png.rows = [2][]byte{buffer.DropLarge(d.png.rows[0]), buffer.DropLarge(d.png.rows[1])}
	if d.zstd != nil { // it keeps a reference to its last output
		d.zstd.Close()
		d.zstd = nil
	}
}

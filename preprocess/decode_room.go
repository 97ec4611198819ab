package preprocess

import (
	"github.com/dsconv/dsconv/formats"
)

// take makes room for the n bytes that decoding takes.
func (d *Decoder) reserve(n int64) error {
	d.reserved = n
	return d.reserveMore(0)
}

// more makes room for n bytes besides. Pixels that are decoded already may be lost.
func (d *Decoder) reserveMore(n int64) error {
	return d.reservation.reserveImage(d.reserved+n, d.fileSize, d.maxPixels, d)
}

func (d *Decoder) drop() {
	d.Shrink()
	d.dst.Shrink()
}

// decodeRoom is about how many bytes it takes to decode the part r of an image file, all in all.
// Where that differs it is for a sound file: what a damaged one takes besides is taken where the
// damage is found.
func decodeMemory(data []byte, enc formats.Encoding, h Header, r Rect, o DecodeOptions) int64 {
	own := h.C * h.DType.Size()
	pixel := o.pixelMemory(h)
	n := int64(0)
	switch enc {
	case formats.JPEG:
		return jpegMemory(h, r, o)
	case formats.PNG:
		n = imageBytes(2, h.W, own)
		if h.Palette {
			pixel++
		}
	case formats.GIF:
		pixel += 2
	case formats.TIFF:
		pixel += own
		if own > 1 {
			pixel += own / 3 // alpha
		}
		if d, err := firstIFD(data); err == nil {
			n = tiffBlockMemory(d)
			if d.orientation() != 1 {
				pixel += own
			}
		}
	case formats.BMP:
		pixel++
	case formats.WebP:
		pixel += 4 // libwebp's own pixels, or alpha
	}
	n += imageBytes(h.H, h.W, pixel)
	if r != (Rect{W: h.W, H: h.H}) {
		n += imageBytes(r.H, r.W, pixel)
	}
	if o.ApplyOrientation && h.Orientation != 1 {
		n += imageBytes(r.H, r.W, pixel)
	}
	return n
}

// pixelRoom is the bytes of a pixel as the file has it and, where that is something else, as the
// caller wants it.
func (o DecodeOptions) pixelMemory(h Header) int {
	own := h.C * h.DType.Size()
	if o.keeps(h) {
		return own
	}
	return own + o.pixelSize(h)
}

// jpegRoom is decodeRoom of a JPEG, of which rows and columns around the part are not kept.
func jpegMemory(h Header, r Rect, o DecodeOptions) int64 {
	n := o.scaleDenominator(r)
	pixel := o.Color.channels(h.C)
	if !HasLibjpegTurbo { // the standard library's planes, and a copy
		pixel += 3 + 4 + 3
		r = Rect{W: h.W, H: h.H}
	}
	sum := imageBytes(r.H/n+1, r.W/n+1, pixel)
	if o.ApplyOrientation && h.Orientation != 1 {
		sum *= 2
	}
	return sum + int64(h.CoefficientBytes)
}

// Shrink drops large buffers.
func (d *Decoder) Shrink() {
	for i := range d.scratch {
		d.scratch[i].Shrink()
	}
	d.png.row, d.png.zeroRow = dropLarge(d.png.row), dropLarge(d.png.zeroRow)
	if d.zstd != nil { // it remembers what it wrote to
		d.zstd.Close()
		d.zstd = nil
	}
}

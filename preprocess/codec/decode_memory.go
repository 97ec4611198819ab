package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/budget"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// take makes room for the n bytes that decoding takes.
func (d *Decoder) take(n int64) error {
	d.taken = n
	return d.more(0)
}

// more makes room for n bytes besides. Pixels that are decoded already may be lost.
func (d *Decoder) more(n int64) error { return d.room.TakeOr(d.taken+n, d.size, d.limit, d) }

func (d *Decoder) Drop() {
	d.Shrink()
	d.dst.Shrink()
}

// DecodeRoom is about how many bytes it takes to decode the part r of an image file, all in all.
// Where that differs it is for a sound file: what a damaged one takes besides is taken where the
// damage is found.
func DecodeRoom(data []byte, enc formats.Encoding, h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	own := h.C * h.DType.Size()
	perPixel := o.pixelRoom(h)
	n := int64(0)
	switch enc {
	case formats.JPEG:
		return jpegRoom(h, r, o)
	case formats.PNG:
		n = budget.Area(2, h.W, own)
		if h.Palette {
			perPixel++
		}
	case formats.GIF:
		perPixel += 2
	case formats.TIFF:
		perPixel += own
		if own > 1 {
			perPixel += own / 3 // alpha
		}
		if d, err := firstTIFF(data); err == nil {
			n = tiffBlockRoom(d)
			if d.Orientation() != 1 {
				perPixel += own
			}
		}
	case formats.BMP:
		perPixel++
	case formats.WebP:
		perPixel += 4 // libwebp's own pixels, or alpha
	}
	n += budget.Area(h.H, h.W, perPixel)
	if r != (pixel.Rect{W: h.W, H: h.H}) {
		n += budget.Area(r.H, r.W, perPixel)
	}
	if o.ApplyOrientation && h.Orientation != 1 {
		n += budget.Area(r.H, r.W, perPixel)
	}
	return n
}

// pixelRoom is the bytes of a pixel as the file has it and, where that is something else, as the
// caller wants it.
func (o DecodeOptions) pixelRoom(h pixel.Header) int {
	own := h.C * h.DType.Size()
	if o.keeps(h) {
		return own
	}
	return own + o.pixelSize(h)
}

// jpegRoom is decodeRoom of a JPEG, of which rows and columns around the part are not kept.
func jpegRoom(h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	n := o.scale(r)
	perPixel := o.Color.Channels(h.C)
	if !jpeg.CanScale { // the standard library's planes, and a copy
		perPixel += 3 + 4 + 3
		r = pixel.Rect{W: h.W, H: h.H}
	}
	sum := budget.Area(r.H/n+1, r.W/n+1, perPixel)
	if o.ApplyOrientation && h.Orientation != 1 {
		sum *= 2
	}
	return sum + int64(h.Coefficients)
}

// Shrink drops large buffers.
func (d *Decoder) Shrink() {
	for i := range d.scratch {
		d.scratch[i].Shrink()
	}
	d.png.row, d.png.top = pixel.Shrunk(d.png.row), pixel.Shrunk(d.png.top)
	if d.zstd != nil { // it remembers what it wrote to
		d.zstd.Close()
		d.zstd = nil
	}
}

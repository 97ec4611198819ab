package preprocess

import (
	"github.com/dsconv/dsconv/formats"
)

// pixels is the most that an image is made by r, 0 if that depends on the image.
func (r Resize) pixels() int {
	switch r.Mode {
	case ResizeExact, ResizeFit, ResizeCover:
		return r.W * r.H
	case ResizeLonger:
		return r.W * r.W
	}
	return 0
}

// reserve tells the room what will be made of an image besides its pixels.
func (p *Processor) reserve(v *formats.Value, o DecodeOptions, g *geometry, enc Encode, f Filter) error {
	h, err := p.decoder.Inspect(v)
	if err != nil {
		return err
	}
	if err := checkSize(h, o.MaxPixels); err != nil {
		return err
	}
	c := o.Color.channels(h.C)
	d := formats.Uint8
	if o.Color == ColorKeep {
		d = h.DType
	}
	if o.Indices && h.Palette {
		c = 1
	}
	n := int64(0)
	if g.orientation != 1 {
		n += area(h.H, h.W, c*d.Size())
	}
	th, tw := orientedSize(h.H, h.W, g.orientation)
	outH, outW := th, tw
	if g.scale || g.cut {
		outH, outW = g.keep.H, g.keep.W
		n += area(outH, outW, c*d.Size())
	}
	if g.scale {
		n += ResizeRoom(th, tw, g.h, g.w, c, g.keep, f, d)
	}
	p.room.Extra = n + enc.room(outH, outW, c, d)
	if out := area(outH, outW, c*d.Size()); enc.Encoding == formats.Raw && p.recipe.Zstd == 0 && p.Hold != nil &&
		out > max(modestOutput, share(len(v.Data))) && !p.Hold(out) {
		return ErrLater
	}
	return nil
}

// room is about how many bytes it takes to encode an image, the result among them.
func (e Encode) room(h, w, c int, d formats.DType) int64 {
	switch {
	case e.Encoding == formats.Raw:
		return area(h, w, 2*c*d.Size()) // and a copy that the writer makes
	case e.Encoding == formats.PNG:
		return area(pngFilters+3, w, c*d.Size()) // rows
	case e.Optimize || e.Progressive:
		return area(h, w, 2*c) // coefficients
	}
	return 0
}

// tileRoom is what it takes to transcode a JPEG: its coefficients, and those of the result,
// which are compared with them.
func tileRoom(data []byte) int64 {
	if formats.Sniff(data) != formats.JPEG {
		return 0
	}
	_, n, _ := jpegHeader(data)
	return 2 * int64(n)
}

// free gives back what the image took.
func (p *Processor) free() {
	if p.room.Large() {
		p.decoder.Shrink()
		p.encoder.Shrink()
		p.resizer.Shrink()
		for _, m := range []*Image{&p.decoded, &p.turned, &p.scaled} {
			m.Shrink()
		}
	}
	p.room.Free()
}

// Shrink drops large buffers.
func (e *Encoder) Shrink() {
	r := &e.png.rows
	r.blank = shrunk(r.blank)
	for i := range r.out {
		r.out[i] = shrunk(r.out[i])
	}
	for i := range e.png.wide {
		e.png.wide[i] = shrunk(e.png.wide[i])
	}
}

package preprocess

import (
	"runtime/debug"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/budget"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/resample"
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
func (p *Processor) reserve(v *formats.Value, o codec.DecodeOptions, g *geometry, enc codec.Encode, f resample.Filter) error {
	h, err := p.decoder.Inspect(v)
	if err != nil {
		return err
	}
	if err := codec.CheckSize(h, o.MaxPixels); err != nil {
		return err
	}
	c := o.Color.Channels(h.C)
	d := formats.Uint8
	if o.Color == pixel.ColorKeep {
		d = h.DType
	}
	if o.Indices && h.Palette {
		c = 1
	}
	w := newWork(v, h, o, budget.Area(h.H, h.W, c*d.Size()))
	if g.orientation != 1 {
		w.step(w.last, 0)
	}
	th, tw := pixel.OrientedSize(h.H, h.W, g.orientation)
	outH, outW := th, tw
	if g.scale || g.cut {
		outH, outW = g.keep.H, g.keep.W
		scaling := int64(0)
		if g.scale {
			scaling = resample.ResizeRoom(th, tw, g.h, g.w, c, g.keep, f, d)
		}
		w.step(budget.Area(outH, outW, c*d.Size()), scaling)
	}
	w.step(0, enc.Room(outH, outW, c, d))
	p.plans(w, len(v.Data), o.MaxPixels)
	if out := budget.Area(outH, outW, c*d.Size()); enc.Encoding == formats.Raw && p.recipe.Zstd == 0 && p.Hold != nil &&
		out > max(budget.ModestOutput, budget.Share(len(v.Data))) && !p.Hold(out) {
		return pixel.ErrLater
	}
	return nil
}

// work adds up what an image takes: all that is made of it beside what decoding takes, and the most
// at once if each image goes as soon as the next is made of it.
type work struct{ decoding, rest, most, last int64 }

// newWork begins with the decoding of v, whose pixels take n bytes.
func newWork(v *formats.Value, h pixel.Header, o codec.DecodeOptions, n int64) work {
	decoding := int64(0)
	if all := (pixel.Rect{W: h.W, H: h.H}); v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		decoding = codec.RawRoom(v, h, all, o)
	} else {
		decoding = codec.DecodeRoom(v.Data, formats.Sniff(v.Data), h, all, o)
	}
	return work{decoding: decoding, most: decoding, last: n}
}

// step makes an image of made bytes of the last one, which takes n more.
func (w *work) step(made, n int64) {
	w.rest += made + n
	w.most = max(w.most, w.last+made+n)
	w.last = made
}

// plans decides whether images of the way from file to result are kept as buffers for the next
// image: not if there is no room for all of them.
func (p *Processor) plans(w work, size, maxPixels int) {
	p.room.Extra = w.rest
	_, err := p.room.Need(w.decoding, size, maxPixels)
	if p.tight = err != nil; p.tight {
		p.room.Extra = w.most - w.decoding
	}
}

// leave drops what was used for the last time, if there is no room for all.
func (p *Processor) leave(used ...*pixel.Image) {
	if !p.tight {
		return
	}
	p.decoder.Shrink()
	p.resizer.Shrink()
	for _, m := range used {
		m.Shrink()
	}
	debug.FreeOSMemory()
}

// tileRoom is what it takes to transcode a JPEG: its coefficients, and those of the result,
// which are compared with them.
func tileRoom(data []byte) int64 {
	if formats.Sniff(data) != formats.JPEG {
		return 0
	}
	_, n, _ := jpeg.ReadHeader(data)
	return 2 * int64(n)
}

// free gives back what the image took.
func (p *Processor) free() {
	if p.room.Large() {
		p.decoder.Shrink()
		p.encoder.Shrink()
		p.resizer.Shrink()
		for _, m := range []*pixel.Image{&p.decoded, &p.turned, &p.scaled} {
			m.Shrink()
		}
	}
	p.room.Free()
}

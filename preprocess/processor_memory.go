package preprocess

import (
	"runtime/debug"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// maxOutputPixels is the largest number of pixels of a resized image, 0 if that depends on the
// image.
func (r Resize) maxOutputPixels() int {
	switch r.Mode {
	case ResizeExact, ResizeFit, ResizeCover:
		return r.W * r.H
	case ResizeLonger:
		return r.W * r.W
	}
	return 0
}

// reserve plans the memory of an image's processing, without decoding, and asks ReserveOutput for
// that of the result. If a GPU decoded the image, gpu has the pixels, whose memory is the caller's.
func (p *Processor) reserve(v *formats.Value, gpu *decodedImage, o inner.DecodeOptions, g *geometry, enc codec.EncodeOptions, f pixel.Filter) error {
	h, err := p.decoder.Inspect(v)
	if err != nil {
		return err
	}
	if err := inner.CheckSize(h, o.MaxPixels); err != nil {
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
	w := memoryEstimate{}
	if gpu == nil {
		w = newMemoryEstimate(v, h, o, budget.ImageBytes(h.H, h.W, c*d.Size()))
	}
	if g.orientation != 1 {
		w.step(w.last, 0)
	}
	th, tw := pixel.OrientedSize(h.H, h.W, g.orientation)
	outH, outW := th, tw
	if g.changes(h.H, h.W) {
		outH, outW = g.keep.H, g.keep.W
		scaling := int64(0)
		if fits := g.fits(h.H, h.W); fits || g.scale && (gpu == nil || !gpu.scaled) {
			scaling = resample.ResizeMemory(th, tw, g.h, g.w, c, g.keep, f, d)
		}
		if g.fits(h.H, h.W) && g.cut {
			w.step(budget.ImageBytes(g.h, g.w, c*d.Size()), 0)
		}
		w.step(budget.ImageBytes(outH, outW, c*d.Size()), scaling)
	}
	w.step(0, enc.Memory(outH, outW, c, d))
	p.chooseBuffers(w, len(v.Data), o.MaxPixels)
	if gpu != nil {
		if err := p.reservation.ReserveImage(w.decoding, len(v.Data), o.MaxPixels); err != nil {
			return err
		}
	}
	if out := budget.ImageBytes(outH, outW, c*d.Size()); enc.Encoding == formats.Raw && p.recipe.Zstd == 0 && p.ReserveOutput != nil &&
		out > max(budget.UnreservedOutput, budget.Allowance(len(v.Data))) && !p.ReserveOutput(out) {
		return pixel.ErrPostponed
	}
	return nil
}

// memoryEstimate adds up the memory of an image's processing: rest is that of all steps after
// decoding, peak is the most at once if each buffer is freed as soon as the next one is filled.
type memoryEstimate struct{ decoding, rest, peak, last int64 }

// newMemoryEstimate begins with the decoding of v, whose pixels take n bytes.
func newMemoryEstimate(v *formats.Value, h pixel.Header, o inner.DecodeOptions, n int64) memoryEstimate {
	decoding := int64(0)
	if all := (pixel.Rect{W: h.W, H: h.H}); v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		decoding = inner.RawMemory(v, h, all, o)
	} else {
		decoding = inner.DecodeMemory(v.Data, formats.Sniff(v.Data), h, all, o)
	}
	return memoryEstimate{decoding: decoding, peak: decoding, last: n}
}

// step adds a step that turns the last buffer into one of out bytes and needs n bytes of scratch.
func (w *memoryEstimate) step(out, n int64) {
	w.rest += out + n
	w.peak = max(w.peak, w.last+out+n)
	w.last = out
}

// chooseBuffers decides whether the buffers of the steps are kept for the next image: not if all of
// them together exceed the limit.
func (p *Processor) chooseBuffers(w memoryEstimate, size, maxPixels int) {
	p.reservation.Extra = w.rest
	_, err := p.reservation.Amount(w.decoding, size, maxPixels)
	if p.dropEarly = err != nil; p.dropEarly {
		p.reservation.Extra = w.peak - w.decoding
	}
}

// dropUsed frees buffers that are not needed any more, if not all can be kept.
func (p *Processor) dropUsed(used ...*pixel.Image) {
	if !p.dropEarly {
		return
	}
	p.decoder.Shrink()
	p.mover.Resampler.Shrink()
	for _, m := range used {
		m.Shrink()
	}
	debug.FreeOSMemory()
}

// dropMoved is dropUsed of an image that was moved: not if a GPU's memory holds it, which is the caller's.
func (p *Processor) dropMoved(m *pixel.Image) {
	if m == p.lent {
		m = &p.decoded
	}
	p.dropUsed(m)
}

// transcodeMemory is the memory that transcoding a JPEG takes: its coefficients, and those of the
// result, which are compared with them.
func transcodeMemory(data []byte) int64 {
	if formats.Sniff(data) != formats.JPEG {
		return 0
	}
	_, n, _ := jpeg.ReadHeader(data)
	return 2 * int64(n)
}

// free releases the image's memory.
func (p *Processor) free() {
	if p.reservation.Large() {
		p.decoder.Shrink()
		p.encoder.Shrink()
		p.mover.Shrink()
		p.decoded.Shrink()
	}
	p.reservation.Release()
}

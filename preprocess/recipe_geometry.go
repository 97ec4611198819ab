package preprocess

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// geometry is how a sample's images are transformed: from inH by inW pixels turned by
// orientation, scaled to h by w, cropped to keep.
type geometry struct {
	planned     bool
	inH, inW    int
	orientation int
	scale, cut  bool
	h, w        int
	keep        pixel.Rect
}

// geometry plans the transform of an image that is stored as h by w.
func (r Recipe) geometry(h, w, orientation int) geometry {
	g := geometry{planned: true, inH: h, inW: w, orientation: 1}
	if r.exif() == pixel.EXIFApply {
		g.orientation = orientation
	}
	th, tw := pixel.OrientedSize(h, w, g.orientation)
	g.w, g.h, g.keep = r.Resize.Plan(tw, th, r.Upscale)
	g.scale = r.Resize.Mode != ResizeNone && (g.w != tw || g.h != th)
	g.cut = g.keep != pixel.Rect{W: g.w, H: g.h}
	return g
}

// boxes writes the boxes of in, float32 (N,4) with x0 y0 x1 y1 in pixels, to out, transformed as
// the pixels are.
func (g *geometry) boxes(out, in *formats.Value) error {
	if in.DType != formats.Float32 || in.Encoding != formats.Raw || len(in.Data)%16 != 0 {
		return fmt.Errorf("%w: boxes must be raw float32 of shape (N,4), not %d bytes of %s %v",
			formats.ErrSchema, len(in.Data), in.DType, in.Shape)
	}
	out.Set(*in)
	h, w := pixel.OrientedSize(g.inH, g.inW, g.orientation)
	sx, sy := float64(g.w)/float64(w), float64(g.h)/float64(h)
	for at := 0; at < len(out.Data); at += 16 {
		var b [4]float32
		for i := range b {
			b[i] = math.Float32frombits(binary.LittleEndian.Uint32(out.Data[at+4*i:]))
		}
		b = pixel.OrientBox(b, g.inH, g.inW, g.orientation)
		for i, v := range b {
			size, scale, shift := g.keep.W, sx, g.keep.X
			if i&1 == 1 {
				size, scale, shift = g.keep.H, sy, g.keep.Y
			}
			v = float32(min(max(float64(v)*scale-float64(shift), 0), float64(size)))
			binary.LittleEndian.PutUint32(out.Data[at+4*i:], math.Float32bits(v))
		}
	}
	return nil
}

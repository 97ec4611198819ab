package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	moves "github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// geometry is how a sample's images are transformed: turned by an orientation, scaled to h by w, cropped to keep.
type geometry struct {
	planned     bool
	orientation int
	resizes     bool // the recipe has a resize: all images of the sample get the size of the designated one
	scale, cut  bool // what that does to the designated image
	h, w        int
	keep        pixel.Rect
	path        moves.Path
}

// plan makes g the transform of a sample whose designated image is stored as h by w.
func (g *geometry) plan(r Recipe, h, w, orientation int) {
	if r.exif() != pixel.EXIFApply {
		orientation = 1
	}
	th, tw := pixel.OrientedSize(h, w, orientation)
	*g = geometry{planned: true, orientation: orientation, resizes: r.Resize.Mode != ResizeNone, path: g.path}
	g.w, g.h, g.keep = r.Resize.Plan(tw, th, r.Upscale)
	g.scale = g.resizes && (g.w != tw || g.h != th)
	g.cut = g.keep != pixel.Rect{W: g.w, H: g.h}
	g.path.Reset(th, tw)
	g.path.Orientation = orientation
	// Neither fails: sizes of images and of resizes are far below the limit, and Resize.Plan keeps a part of the image.
	_ = g.path.Resize(g.h, g.w, r.filter())
	_ = g.path.Crop(g.keep)
}

// changes reports whether an image or mask that is stored as h by w is moved at all.
func (g *geometry) changes(h, w int) bool {
	return g.scale || g.cut || g.fits(h, w)
}

// fits reports whether an image or mask that is stored as h by w is scaled to the size of the designated image, though that
// is not scaled.
func (g *geometry) fits(h, w int) bool {
	h, w = pixel.OrientedSize(h, w, g.orientation)
	return g.resizes && !g.scale && (h != g.path.FromH || w != g.path.FromW)
}

// afterScaling is the path of an image that is upright and scaled already.
func (g *geometry) afterScaling() *moves.Path {
	p := new(moves.Path)
	p.Reset(g.h, g.w)
	_ = p.Crop(g.keep) // as in plan
	return p
}

// boxes writes the boxes of in, float32 (N,4) with x0 y0 x1 y1 in pixels, to out, transformed as
// the pixels are.
func (p *Processor) moveBoxes(g *geometry, out, in *formats.Value) error {
	if in.Encoding != formats.Raw {
		return fmt.Errorf("%w: boxes must be raw float32 of shape (N,4), not %s", formats.ErrSchema, in.Encoding)
	}
	boxes, err := moves.ReadBoxes(p.corners[:0], in.Data, in.DType)
	if err != nil {
		return err
	}
	p.corners = g.path.Boxes(boxes[:0], boxes)
	out.Set(*in)
	moves.AppendBoxes(out.Data[:0], p.corners)
	return nil
}

package preprocess

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	moves "github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ResizeMode is how a Resize computes the new size.
type ResizeMode string

// The modes of Resize. Sizes are truncated to whole pixels, as in torchvision.
const (
	ResizeNone    ResizeMode = ""        // the size stays
	ResizeShorter ResizeMode = "shorter" // the shorter side gets W pixels: torchvision's Resize(W)
	ResizeLonger  ResizeMode = "longer"  // the longer side gets W pixels
	ResizeExact   ResizeMode = "exact"   // W by H, whatever the aspect
	ResizeFit     ResizeMode = "fit"     // the largest size that fits into W by H, aspect kept
	ResizeCover   ResizeMode = "cover"   // the smallest size that covers W by H, aspect kept, cropped to W by H around the centre
)

// Resize is how images are scaled. Shorter and longer use W alone; H is then 0 or W. Its text is the value of --resize:
// shorter:N, longer:N, exact:WxH, fit:WxH, cover:WxH or "" for none.
type Resize struct {
	Mode ResizeMode
	W, H int
}

// UnmarshalText implements encoding.TextUnmarshaler: see Resize.
func (r *Resize) UnmarshalText(text []byte) error {
	parsed, err := parseResize(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (r Resize) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func parseResize(s string) (Resize, error) {
	if s == "" {
		return Resize{}, nil
	}
	bad := fmt.Errorf("resize %q: choose shorter:N, longer:N, exact:WxH, fit:WxH or cover:WxH", s)
	mode, size, _ := strings.Cut(s, ":")
	r := Resize{Mode: ResizeMode(mode)}
	ok := false
	switch r.Mode {
	case ResizeShorter, ResizeLonger:
		r.W, ok = parseSide(size)
	case ResizeExact, ResizeFit, ResizeCover:
		w, h, _ := strings.Cut(size, "x")
		var okW, okH bool
		r.W, okW = parseSide(w)
		r.H, okH = parseSide(h)
		ok = okW && okH
	}
	if !ok {
		return Resize{}, bad
	}
	return r, nil
}

// maxSide is the longest side allowed.
const maxSide = 65535

func parseSide(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n <= maxSide
}

// check returns an error about a size that has no effect.
func (r Resize) check() error {
	switch r.Mode {
	case ResizeNone:
		if r.W != 0 || r.H != 0 {
			return fmt.Errorf("Recipe.Resize is %dx%d without a Mode: choose one, such as ResizeCover", r.W, r.H)
		}
	case ResizeShorter, ResizeLonger:
		if r.H != 0 && r.H != r.W {
			return fmt.Errorf("Recipe.Resize.H is %d: %s uses W alone, which is %d: leave out H", r.H, r.Mode, r.W)
		}
	}
	return nil
}

// String is what UnmarshalText reads.
func (r Resize) String() string {
	switch r.Mode {
	case ResizeNone:
		return ""
	case ResizeShorter, ResizeLonger:
		return fmt.Sprintf("%s:%d", r.Mode, r.W)
	}
	return fmt.Sprintf("%s:%dx%d", r.Mode, r.W, r.H)
}

// Plan returns the size that an image of w by h is scaled to, and the rectangle of the scaled image
// that is kept: all of it except for cover. Without upscale, shorter, longer and fit do not enlarge
// images.
func (r Resize) Plan(w, h int, upscale bool) (scaledW, scaledH int, keep pixel.Rect) {
	sw, sh := r.scaled(w, h)
	if !upscale && (sw > w || sh > h) && r.Mode != ResizeExact && r.Mode != ResizeCover {
		sw, sh = w, h
	}
	keep = pixel.Rect{W: sw, H: sh}
	if r.Mode == ResizeCover {
		keep = pixel.Rect{
			X: moves.Middle(sw, r.W), Y: moves.Middle(sh, r.H), W: r.W, H: r.H,
		}
	}
	return sw, sh, keep
}

func (r Resize) scaled(w, h int) (int, int) {
	byWidth := func(n int) (int, int) { return n, moves.Scaled(n, w, h) }
	byHeight := func(n int) (int, int) { return moves.Scaled(n, h, w), n }
	switch r.Mode {
	case ResizeShorter:
		if w <= h {
			return byWidth(r.W)
		}
		return byHeight(r.W)
	case ResizeLonger:
		if w >= h {
			return byWidth(r.W)
		}
		return byHeight(r.W)
	case ResizeFit:
		if r.W*h <= r.H*w {
			return byWidth(r.W)
		}
		return byHeight(r.H)
	case ResizeCover:
		if r.W*h >= r.H*w {
			return byWidth(r.W)
		}
		return byHeight(r.H)
	case ResizeExact:
		return r.W, r.H
	}
	return w, h
}

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

// plan makes g the transform of a sample whose designated image is stored as h by w. An image of a few rows may become too
// wide: cover:64x64 of one row of 5 million pixels first has 320 million columns.
func (g *geometry) plan(r Recipe, h, w, orientation int) error {
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
	return cmp.Or(g.path.Resize(g.h, g.w, r.filter()), g.path.Crop(g.keep))
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
	_ = p.Crop(g.keep) // which plan has tried
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

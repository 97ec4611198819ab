// Package geometry moves images, and the masks and boxes that belong to them. It is the only place that knows
// how: a pack resizes by it, and a Loader crops, flips, pads, resizes and rotates by it.
//
// A [Path] is planned from the size of a sample's designated image alone: an EXIF orientation, then steps. A
// [Mover] carries it out on pixels, of the designated image or of masks and extra images that follow; [Path.Boxes]
// does the same to boxes. What a step means is what torchvision.transforms.v2 means by it on tv_tensors.
//
// A Path and a Mover belong to one goroutine.
package geometry

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Path is how the images, masks and boxes of a sample are moved. Crops and flips are delayed as long as
// possible: they become the window of the next step, or what is left at the end. The zero value is made ready
// by Reset and can be used again and again.
type Path struct {
	// H and W are the size of the image after the steps so far.
	H, W int
	// FromH and FromW are the size of the upright image that the steps begin with.
	FromH, FromW int
	Steps        []Step
	// Window is what is left of the last step's image, and Flips is how that is mirrored.
	Window pixel.Rect
	Flips  Flips

	// Orientation is that of the EXIF data with which masks, extra images and boxes are stored; the steps follow
	// it. 0 and 1 are upright.
	Orientation int

	narrowed bool
	area     pixel.Area // where Source is in the image to come, if narrowed
}

// Flips are mirrorings: left to right and top to bottom.
type Flips struct{ H, V bool }

// Kind is what a Step does.
type Kind uint8

// The kinds. A Still step moves nothing: it is a place in the path where others change the pixels of the
// window.
const (
	Resize Kind = iota
	Pad
	Transpose
	Affine
	Still
)

// Step is one pass over pixels. Its input is the window of the image before it.
type Step struct {
	Kind   Kind
	Window pixel.Rect
	Flips  Flips // mirror the window first

	H, W   int             // of the result
	Filter pixel.Filter    // of Resize
	Border Border          // of Pad
	Affine resample.Affine // of Affine
}

// Reset removes all steps: the image is an upright one of h by w pixels.
func (p *Path) Reset(h, w int) {
	*p = Path{FromH: h, FromW: w, Steps: p.Steps[:0]}
	p.resized(h, w)
}

// Crop keeps the part r of the image, which must lie inside it.
func (p *Path) Crop(r pixel.Rect) error {
	if !r.Inside(p.W, p.H) {
		return fmt.Errorf("crop of %dx%d at %d,%d: it is not inside the image of %dx%d", r.W, r.H, r.X, r.Y, p.W, p.H)
	}
	x, y := r.X, r.Y
	if p.Flips.H {
		x = p.W - r.X - r.W
	}
	if p.Flips.V {
		y = p.H - r.Y - r.H
	}
	p.Window = pixel.Rect{X: p.Window.X + x, Y: p.Window.Y + y, W: r.W, H: r.H}
	p.H, p.W = r.H, r.W
	return nil
}

// Resize resamples the image to h by w pixels; one of that size stays as it is. Mirroring does not commute exactly
// with Pillow's fixed-point resampling, so a flip that was planned before is carried out first.
func (p *Path) Resize(h, w int, f pixel.Filter) error {
	if h == p.H && w == p.W {
		return nil
	}
	return p.Add(Step{Kind: Resize, H: h, W: w, Filter: f})
}

// Transpose mirrors the image at its main diagonal.
func (p *Path) Transpose() error {
	after := Flips{H: p.Flips.V, V: p.Flips.H}
	p.Flips = Flips{}
	err := p.Add(Step{Kind: Transpose, H: p.W, W: p.H})
	p.Flips = after
	return err
}

// MaxSide keeps sizes within what can be multiplied.
const MaxSide = 1 << 28

// Add adds a step that what was kept back is done before: st's Window and Flips are the path's.
func (p *Path) Add(st Step) error {
	switch {
	case st.H < 1 || st.W < 1:
		return fmt.Errorf("an image of %dx%d has no pixels", st.W, st.H)
	case st.H > MaxSide || st.W > MaxSide:
		return fmt.Errorf("%w: an image of %dx%d; at most %d are allowed on a side", pixel.ErrTooLarge, st.W, st.H, MaxSide)
	}
	st.Window, st.Flips = p.Window, p.Flips
	p.Steps = append(p.Steps, st)
	p.Flips = Flips{}
	p.resized(st.H, st.W)
	return nil
}

// AddStill adds a step that moves nothing. Flips that were planned before stay planned; the window is cropped
// before the step.
func (p *Path) AddStill() {
	p.Steps = append(p.Steps, Step{Kind: Still, Window: p.Window, H: p.H, W: p.W})
	p.resized(p.H, p.W)
}

func (p *Path) resized(h, w int) {
	p.H, p.W = h, w
	p.Window = pixel.Rect{W: w, H: h}
}

// Source is the part of the upright image that the steps use.
func (p *Path) Source() pixel.Rect {
	r := p.WindowAfter(-1)
	if len(p.Steps) > 0 && p.Steps[0].Kind == Affine {
		in, _ := p.Mapping(0)
		r = pixel.Rect{X: r.X + in.X, Y: r.Y + in.Y, W: in.W, H: in.H}
	}
	return r
}

// WindowAfter is the part of step i's result that is used after it; -1 stands for the image.
func (p *Path) WindowAfter(i int) pixel.Rect {
	if i+1 < len(p.Steps) {
		return p.Steps[i+1].Window
	}
	return p.Window
}

// Mapping is how step i, an affine one, maps the part of its window that it needs, which is that window
// mirrored if the step begins with that; needed is where that part lies in the window as it is.
func (p *Path) Mapping(i int) (needed pixel.Rect, m resample.Mapping) {
	st := &p.Steps[i]
	m = resample.Mapping{
		Affine: &st.Affine, ImageH: st.Window.H, ImageW: st.Window.W, H: st.H, W: st.W, Region: p.WindowAfter(i),
	}
	needed = m.Source()
	m.Left, m.Top = needed.X, needed.Y
	if st.Flips.H {
		needed.X = st.Window.W - needed.X - needed.W
	}
	if st.Flips.V {
		needed.Y = st.Window.H - needed.Y - needed.H
	}
	return needed, m
}

// Least is the height and width that Source may be scaled down to before the path is carried out, because it
// is resampled to that size; 0 if it must not be.
func (p *Path) Least() (h, w int) {
	if len(p.Steps) == 0 || p.Steps[0].Kind != Resize || p.Steps[0].Flips != (Flips{}) {
		return 0, 0
	}
	return p.Steps[0].H, p.Steps[0].W
}

// Narrow says that the designated image, which comes next, is not whole: Source is its area a, as large as it
// is, or scaled down but not below Least. Masks and boxes are those of the whole image all the same.
func (p *Path) Narrow(a pixel.Area) { p.narrowed, p.area = true, a }

// Widen takes Narrow back: the image that comes next is whole.
func (p *Path) Widen() { p.narrowed, p.area = false, pixel.Area{} }

// windowOf is the part of what it gets that step i uses, what follows the last step being a step too. An affine
// step computes no more than what is used of it.
func (p *Path) windowOf(i int) pixel.Rect {
	r := p.WindowAfter(i - 1)
	if i > 0 && p.Steps[i-1].Kind == Affine {
		r.X, r.Y = 0, 0
	}
	return r
}

// Input is the part of what it gets that step i uses, or the area of the image that is resampled, where that is
// not the part.
func (p *Path) Input(i int) (pixel.Rect, pixel.Area) {
	if i > 0 || !p.narrowed {
		return p.windowOf(i), pixel.Area{}
	}
	r, a := p.Source(), p.area
	r.X, r.Y = int(a.X0), int(a.Y0)
	if a.X1-a.X0 == float64(r.W) && a.Y1-a.Y0 == float64(r.H) {
		return r, pixel.Area{}
	}
	return r, a
}

package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Runner carries out plans. It keeps scratch memory and the resampler's coefficients
// between images; the zero value is ready. It belongs to one goroutine.
type Runner struct {
	mover    geometry.Mover
	enhancer pixelops.Enhancer

	target   resample.Target
	rest     *pixel.Image // what Store stores, nil where that is done
	erasures []erasure    // what Store does then

	shown pixel.Image // to a Func, and what it draws from
	rand  random.Rand
}

// Apply carries out s on src, which has the shape that s was Reset to, or the one that Narrow
// tells of, but for the last pass into the entry t and what is erased there, which Store does;
// t's Part and flips are the plan's. Where s ends in a resample, that is one pass with the
// store. If own, src's pixels may be written to; otherwise they are only read. They and s must
// stay until Store.
func (r *Runner) Apply(s *Steps, src *pixel.Image, own bool, t resample.Target) error {
	t.Region, _ = s.path.Input(len(s.path.Steps))
	at := s.flipsLeft()
	t.Flip, t.FlipV = at.H, at.V
	r.target, r.rest, r.erasures = t, nil, s.erasuresLeft()
	cur := src
	for i := range s.path.Steps {
		st, p := &s.path.Steps[i], &s.passes[i]
		window, area := s.path.Input(i)
		in := geometry.View{Image: cur, Window: window, Flips: st.Flips}
		var err error
		switch {
		case st.Kind == geometry.Resize && i == len(s.path.Steps)-1:
			return r.resampleTo(st, in, area)
		case p.kind == custom:
			cur, err = r.do(&p.call, in, own)
		case p.kind != moving:
			cur, err = r.recolor(s, p, in, own)
		default:
			cur, err = r.mover.Step(&s.path, i, in)
		}
		if err != nil {
			return err
		}
		own = true
	}
	r.rest = cur
	return nil
}

// Store is the last pass of what was applied, if it was not made yet, and erases.
func (r *Runner) Store() error {
	t, rest := r.target, r.rest
	r.target, r.rest = resample.Target{}, nil
	if rest != nil {
		if err := r.mover.Resampler.StoreTo(t, rest); err != nil {
			return err
		}
	}
	for i := range r.erasures {
		if err := r.erasures[i].erase(&t); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) resampleTo(st *geometry.Step, in geometry.View, a pixel.Area) error {
	in = r.mover.Upright(in)
	if a != (pixel.Area{}) {
		return st.Named(r.mover.Resampler.ResizeAreaTo(r.target, in.Image, a, st.W, st.H, st.Filter))
	}
	return st.Named(r.mover.Resampler.ResizeTo(r.target, in.Image, in.Window, st.W, st.H, st.Filter))
}

// Turned says that masks, extra images and boxes are stored with an EXIF orientation, 1 to 8, which the image that s was
// Reset to has no more: they are turned before they follow. 1 and 0 are upright.
func (s *Steps) Turned(orientation int) { s.path.Orientation = orientation }

// Mask makes dst what s makes of a mask: pixels move as the image's do, but each is taken as it is (nearest),
// what comes from outside is 0, and nothing changes colour or is erased. A mask of another size than the
// image that s was Reset to is scaled to that first. Narrow does not matter. dst becomes as large as s ends in, with
// mask's channels and type, uint8 or uint16; it must be another image.
func (r *Runner) Mask(s *Steps, mask, dst *pixel.Image) error {
	if s == nil || mask == nil || dst == nil {
		return errors.New("augment: Runner.Mask: the steps, the mask or dst is nil")
	}
	if err := r.mover.MoveTo(dst, &s.path, mask, geometry.How{Nearest: true}); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	return nil
}

// Fit returns what Apply gets of an extra image that follows s: m itself, or m turned and scaled, bilinear unless s
// resizes by another filter, to the size that s was Reset to, in r's memory until the next Fit, Mask or Apply.
func (r *Runner) Fit(s *Steps, m *pixel.Image) (*pixel.Image, error) {
	if s == nil || m == nil {
		return nil, errors.New("augment: Runner.Fit: the steps or the image is nil")
	}
	return r.mover.Fit(&s.path, m, geometry.How{})
}

// Boxes appends to dst what s makes of boxes (N,4), each x0 y0 x1 y1 in pixels of the image
// that s was Reset to, and gives the result. Crops shift them and cut them at the edges; what
// lies outside becomes empty but stays: the number of boxes is the same. A rotated box becomes
// the smallest upright one that encloses it, as in torchvision.transforms.v2. dst may be
// boxes[:0].
func (s *Steps) Boxes(dst, boxes []float32) []float32 { return s.path.Boxes(dst, boxes) }

// fewPixels is a size of images that needs no counting: all that a plan makes of them is small.
const fewPixels = 1 << 18

// Room is about how many bytes it takes to carry out s on an image of s's channels, besides the
// image and the entry.
func (s *Steps) Room(d formats.DType) int64 {
	if s.isSmall() {
		return 0
	}
	sum, largest, n := int64(0), int64(0), int64(0)
	for i := range s.path.Steps {
		made, scratch := s.stepRoom(i, d)
		n += scratch
		sum, largest = sum+min(made, huge), max(largest, min(made, huge))
		sum = min(sum, huge)
	}
	return n + min(sum, geometry.Scratch*largest)
}

// stepRoom is how many bytes of images step i makes, and how many it takes besides.
func (s *Steps) stepRoom(i int, d formats.DType) (made, scratch int64) {
	st, p := &s.path.Steps[i], &s.passes[i]
	in, out := st.Window, pixel.Rect{W: st.W, H: st.H}
	switch {
	case p.kind == blur:
		scratch = bytesOf(1, in.W+p.color.w, s.c, formats.Float32)
	case st.Kind == geometry.Affine:
		in, _ = s.path.Mapping(i)
		out = s.path.WindowAfter(i)
		scratch = bytesOf(in.H, in.W, s.c, d) // premultiplied, if it has an alpha channel
	case st.Kind == geometry.Resize && i == len(s.path.Steps)-1:
		scratch = resample.ResizeMemory(in.H, in.W, st.H, st.W, s.c, s.path.Window, st.Filter, d)
		out = pixel.Rect{}
	case st.Kind == geometry.Resize:
		scratch = resample.ResizeMemory(in.H, in.W, st.H, st.W, s.c, out, st.Filter, d)
	}
	if st.Flips != (flips{}) || p.kind != moving {
		made = bytesOf(in.H, in.W, s.c, d)
	}
	return made + bytesOf(out.H, out.W, s.c, d), scratch
}

// huge stands for all larger numbers of bytes.
const huge = 1 << 55

func (s *Steps) isSmall() bool {
	if s.path.FromH*s.path.FromW > fewPixels {
		return false
	}
	for i := range s.path.Steps {
		st := &s.path.Steps[i]
		if st.H > fewPixels || st.W > fewPixels || st.H*st.W > fewPixels {
			return false
		}
	}
	return true
}

func bytesOf(h, w, c int, d formats.DType) int64 {
	return int64(min(float64(h)*float64(w)*float64(c*d.Size()), huge))
}

// Shrink drops large buffers.
func (r *Runner) Shrink() {
	r.mover.Shrink()
	r.enhancer.Shrink()
	r.rest, r.target = nil, resample.Target{}
}

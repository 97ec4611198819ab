package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Turned says that masks, extra images and boxes are stored with an EXIF orientation, 1 to 8, which the image that s was
// Reset to has no more: they are turned before they follow. 1 and 0 are upright.
func (s *Steps) Turned(orientation int) { s.path.Orientation = orientation }

// Mask makes dst what s makes of a mask: pixels move as the image's do, but each is taken as it is (nearest),
// what comes from outside is 0, and nothing changes colour or is erased. A mask of another size than the
// image that s was Reset to is scaled to that first. Narrow does not matter. dst becomes as large as s ends in, with
// mask's channels and type, uint8 or uint16; it must be another image.
func (r *Runner) Mask(s *Steps, mask, dst *pixel.Image) error {
	if err := r.mover.MoveTo(dst, &s.path, mask, geometry.How{Nearest: true}); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	return nil
}

// Fit returns what Apply gets of an extra image that follows s: m itself, or m turned and scaled, bilinear unless s
// resizes by another filter, to the size that s was Reset to, in r's memory until the next Fit, Mask or Apply.
func (r *Runner) Fit(s *Steps, m *pixel.Image) (*pixel.Image, error) {
	return r.mover.Fit(&s.path, m, geometry.How{})
}

// Boxes appends to dst what s makes of boxes (N,4), each x0 y0 x1 y1 in pixels of the image
// that s was Reset to, and gives the result. Crops shift them and cut them at the edges; what
// lies outside becomes empty but stays: the number of boxes is the same. A rotated box becomes
// the smallest upright one that encloses it, as in torchvision.transforms.v2. dst may be
// boxes[:0].
func (s *Steps) Boxes(dst, boxes []float32) []float32 { return s.path.Boxes(dst, boxes) }

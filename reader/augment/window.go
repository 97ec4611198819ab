package augment

import "github.com/dsconv/dsconv/preprocess/pixel"

// Source is the part of the image that the steps use.
func (s *Steps) Source() pixel.Rect { return s.path.Source() }

// Least is the height and width that Source may be scaled down to before the plan is applied,
// because it is resampled to that size; 0 if it must not be.
func (s *Steps) Least() (h, w int) { return s.path.Least() }

// Narrow says that the image that Apply gets next is not whole: Source is its area a, as large as it is, or
// scaled down but not below Least. Nothing else of s changes: masks and boxes are those of the whole image.
func (s *Steps) Narrow(a pixel.Area) { s.path.Narrow(a) }

// Widen takes Narrow back: the image that Apply gets next is whole.
func (s *Steps) Widen() { s.path.Widen() }

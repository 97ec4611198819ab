package augment

import (
	"errors"
	"fmt"
	"slices"
)

// Op is one transform of a pipeline. It is a value without state and safe for concurrent
// use.
type Op interface {
	// String is the op as Parse reads it.
	String() string
	// Check reports parameters that make no sense, and images of the given number of
	// channels that the op is not made for.
	Check(channels int) error
	// Plan adds to p what the op does to an image of the size that p has by now, drawing
	// what is random from r.
	Plan(p *Plan, r *Rand)
}

// sizer is an Op after which the size does not depend on the image's.
type sizer interface {
	fixesSize() bool
}

// ErrSize is returned where the images of a batch would differ in size.
var ErrSize = errors.New("images differ in size: add a transform that ends in one size (rrc:SIZE, resize:WIDTHxHEIGHT, or resize:SIZE and centercrop:SIZE)")

// FixesSize says whether ops end in one size whatever the images' sizes are.
func FixesSize(ops []Op) bool {
	return slices.ContainsFunc(ops, func(o Op) bool {
		s, ok := o.(sizer)
		return ok && s.fixesSize()
	})
}

// checkSize reports a size that is not positive.
func checkSize(name string, h, w int) error {
	if h <= 0 || w <= 0 {
		return fmt.Errorf("%s: size %dx%d: width and height must be positive", name, w, h)
	}
	return nil
}

// formatSize is a size as Parse reads it: N for a square, else WIDTHxHEIGHT.
func formatSize(h, w int) string {
	if h == w {
		return fmt.Sprint(h)
	}
	return fmt.Sprintf("%dx%d", w, h)
}

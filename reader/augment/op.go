package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// Op is one transform of a pipeline. It is a value without state and safe for concurrent
// use.
type Op interface {
	// String is the op as Parse reads it.
	String() string
	// Check reports parameters that make no sense, and images of the given number of
	// channels that the op is not made for.
	Check(channels int) error
	// AddTo adds to s what the op does to an image of the size that s has by now, drawing
	// what is random from r.
	AddTo(s *Steps, r *random.Rand)
}

// sizing is what an Op does to the sizes of images.
type sizing uint8

const (
	keepsSize   sizing = iota // images of one size become images of one size
	fixesSize                 // all images become images of one size
	variesSize                // images of one size may become images of several
	followsSize               // as keepsSize, but to another size
)

// sizer is an Op that changes the size.
type sizer interface {
	sizing() sizing
}

func sizingOf(o Op) sizing {
	if s, ok := o.(sizer); ok {
		return s.sizing()
	}
	return keepsSize
}

// ErrSize is returned where the images of a batch would differ in size.
var ErrSize = errors.New("images differ in size: add a transform that ends in one size (rrc:SIZE, resize:WIDTHxHEIGHT, or resize:SIZE and centercrop:SIZE)")

// FixesSize reports whether ops end in one size whatever the images' sizes are.
func FixesSize(ops []Op) bool { return sizingOfAll(ops) == fixesSize }

// sizingOfAll is what ops do to sizes one after another, followsSize being the same as keepsSize.
func sizingOfAll(ops []Op) sizing {
	all := keepsSize
	for _, o := range ops {
		if s := sizingOf(o); s == fixesSize || s == variesSize {
			all = s
		}
	}
	return all
}

// checkSize reports a size that is not positive.
func checkSize(name string, h, w int) error {
	if h <= 0 || w <= 0 {
		return fmt.Errorf("%s: size %dx%d: width and height must be positive", name, w, h)
	}
	return nil
}

func checkChance(name string, p float64) error {
	if !(0 <= p && p <= 1) {
		return fmt.Errorf("%s: probability %v is not between 0 and 1", name, p)
	}
	return nil
}

// text is the text of o, also of one that is nil or whose String panics.
func text(o Op) (s string) {
	if o == nil {
		return "nil"
	}
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("%T", o)
		}
	}()
	return o.String()
}

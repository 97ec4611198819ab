package augment

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/dsconv/dsconv/reader/random"
)

// Op is one transform. It is a value without state and safe for concurrent use: many workers ask it at
// once, each for other images.
//
// A type of one's own is an op if it has these methods. So that an epoch comes out the same however it is
// loaded, and resumed, AddTo must depend on the op's fields, on the image's size and channels and on r alone:
// not on the time, on variables or on how often it was called. It may draw as often as it likes, and more for
// one image than for another; ops after it then draw other numbers.
//
// If an op makes all images one size, as a crop to 224x224 does, it should also have the method
//
//	FixesSize() bool
//
// that returns true. Without one, images that differ in size need another op after it that does so.
type Op interface {
	// String is the op's text in reports and checkpoints: for an op of this package, as [Parse] reads it.
	// One's own should have all parameters in it, and no comma or plus sign.
	String() string
	// Check reports parameters that make no sense, and images of the given number of
	// channels that the op is not made for.
	Check(channels int) error
	// AddTo adds to s what the op does to an image of the size that s has by now, drawing
	// what is random from r. An image for which that is not possible fails by s.Fail, or by a panic. When the ops
	// are compiled, it is also called for an image of the largest size.
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

// sizer is an Op of this package that changes the size.
type sizer interface {
	sizing() sizing
}

func sizingOf(o Op) sizing {
	if s, ok := o.(sizer); ok {
		return s.sizing()
	}
	if f, ok := o.(interface{ FixesSize() bool }); ok && f.FixesSize() {
		return fixesSize
	}
	return keepsSize
}

// ErrSize is returned where the images of a batch would differ in size.
var ErrSize = errors.New("images differ in size: add a transform that ends in one size (rrc:SIZE, resize:WIDTHxHEIGHT, or resize:SIZE and centercrop:SIZE)")

// FixesSize reports whether ops end in one size whatever the images' sizes are.
func FixesSize(ops []Op) bool {
	ops, err := plainOps(ops)
	return err == nil && sizingOfAll(ops) == fixesSize
}

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

// checkSize reports a size that is not positive, or too large.
func checkSize(name string, h, w int) error {
	if h <= 0 || w <= 0 || h > maxSide || w > maxSide {
		return fmt.Errorf("%s: size %dx%d: width and height must be positive, and at most %d", name, w, h, maxSide)
	}
	return nil
}

func checkChance(name string, p float64) error {
	if !(0 <= p && p <= 1) {
		return fmt.Errorf("%s: probability %v is not between 0 and 1", name, p)
	}
	return nil
}

// plainOps returns ops with the value in place of each pointer to one, for an op is recognized by its
// type. An op that is nil is an error.
func plainOps(ops []Op) ([]Op, error) {
	plain := make([]Op, len(ops))
	for i, o := range ops {
		v := reflect.ValueOf(o)
		if o == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("transform %d of %d is nil (%T): leave it out, or give its value", i+1, len(ops), o)
		}
		if v.Kind() == reflect.Pointer {
			if value, ok := v.Elem().Interface().(Op); ok {
				o = value
			}
		}
		if a, ok := o.(RandomApply); ok {
			inner, err := plainOps(a.Ops)
			if err != nil {
				return nil, fmt.Errorf("apply: %w", err)
			}
			a.Ops = inner
			o = a
		}
		plain[i] = o
	}
	return plain, nil
}

// checkOp is o's Check, a panic of which is an error.
func checkOp(o Op, channels int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic in Check: %v", text(o), p)
		}
	}()
	return o.Check(channels)
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

// RandomApply does all of Ops, one after another, with probability P, else nothing:
// torchvision.transforms.RandomApply.
type RandomApply struct {
	P   float64
	Ops []Op
}

func (o RandomApply) String() string {
	return "apply:" + formatFloat(o.P) + ":" + join(o.Ops, "+")
}

// Check implements Op.
func (o RandomApply) Check(channels int) error {
	for i, op := range o.Ops {
		if op == nil {
			return fmt.Errorf("apply: transform %d of %d is nil", i+1, len(o.Ops))
		}
		if !onPixels(op) {
			return fmt.Errorf("apply: %s acts on what is in the batch and cannot be left out", op)
		}
		if err := op.Check(channels); err != nil {
			return fmt.Errorf("apply: %w", err)
		}
	}
	return checkChance("apply", o.P)
}

// onPixels reports whether o acts on an image and not on what is in the batch.
func onPixels(o Op) bool {
	_, inBatch := o.(stored)
	_, mixes := o.(Mixer)
	return !inBatch && !mixes
}

// AddTo implements Op.
func (o RandomApply) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() >= o.P {
		return
	}
	for _, op := range o.Ops {
		if s.err == nil {
			op.AddTo(s, r)
		}
	}
}

func (o RandomApply) sizing() sizing {
	for _, op := range o.Ops {
		if sizingOf(op) != keepsSize {
			return variesSize
		}
	}
	return keepsSize
}

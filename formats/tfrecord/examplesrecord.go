package tfrecord

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// record is the features of one example that the layout has, by their numbers; it points into the example.
type record struct {
	l        *layout
	features []tfexample.Feature
}

func (l *layout) newRecord() *record {
	return &record{l, make([]tfexample.Feature, len(l.names))}
}

// parse reads the features of an example.
func (r *record) parse(example []byte) error {
	clear(r.features)
	return tfexample.Each(example, func(name []byte, f tfexample.Feature) error {
		if i, ok := r.l.numbers[string(name)]; ok {
			r.features[i] = f
		}
		return nil
	})
}

// text returns the only value of a bytes feature, "" if there is none or no such feature.
func (r *record) text(feature int) (string, error) {
	if feature < 0 {
		return "", nil
	}
	b, _, err := r.features[feature].Bytes(0)
	return string(b), err
}

// label returns the number of the label as it is stored; ok is false if the example has none.
func (r *record) label() (x int64, ok bool, err error) {
	f := r.features[r.l.label]
	switch f.Kind {
	case tfexample.None:
		return 0, false, nil
	case tfexample.Ints:
		if x, ok, err = f.Int(); err == nil && !ok {
			if n, _ := f.Len(); n > 1 {
				err = fmt.Errorf("%w: the feature %s has %d labels, want one", formats.ErrSchema, r.l.names[r.l.label], n)
			}
		}
		return x, ok, err
	}
	if f.IsEmpty() {
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("%w: the feature %s is a %s list, not int64 as in the first examples", formats.ErrSchema, r.l.names[r.l.label], f.Kind)
}

// only returns the only value of a bytes feature, which the example must have.
func (r *record) only(feature int) ([]byte, error) {
	f := r.features[feature]
	b, ok, err := f.Bytes(0)
	if err == nil && !ok {
		err = fmt.Errorf("%w: the example has no bytes in the feature %s", formats.ErrDamaged, r.l.names[feature])
	}
	if n, _ := f.Len(); err == nil && n > 1 {
		err = fmt.Errorf("%w: the feature %s has %d values, want one", formats.ErrSchema, r.l.names[feature], n)
	}
	return b, err
}

// imageShape returns the shape of raw pixels, which is zero if the image is an image file.
func (r *record) imageShape(pixels []byte) (shape [3]int, err error) {
	if r.l.shape[0] < 0 {
		return shape, nil
	}
	for axis, feature := range r.l.shape {
		if feature < 0 {
			continue
		}
		x, ok, err := r.features[feature].Int()
		if err != nil {
			return shape, err
		}
		if !ok || x < 0 || x > 1<<20 {
			return shape, fmt.Errorf("%w: the feature %s does not say the shape of the pixels", formats.ErrSchema, r.l.names[feature])
		}
		shape[axis] = int(x)
	}
	plane := shape[0] * shape[1]
	if r.l.shape[2] < 0 && plane > 0 {
		shape[2] = len(pixels) / plane
	}
	if plane*shape[2] != len(pixels) {
		return shape, fmt.Errorf("%w: the pixels have %d bytes, but their shape is %v; only uint8 is read", formats.ErrSchema, len(pixels), shape)
	}
	return shape, nil
}

package tfrecord

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// survey is what some examples have, from which the fields follow.
type survey struct {
	examples int
	features map[string]*seen
}

// seen is what was seen of one feature.
type seen struct {
	kind        tfexample.Kind
	present     int  // examples that have values
	lossy       bool // one is a JPEG
	images      int  // of them, those whose first value is an image file
	least, most int  // values in a list that has some
	empty       bool // a first value has no bytes
}

// maxFeatures is more features than any example has that is not hostile.
const maxFeatures = 1000

// add adds an example, which counts unless it is an error.
func (s *survey) add(example []byte) error {
	err := tfexample.Each(example, s.addFeature)
	if err == nil {
		s.examples++
	}
	return err
}

func (s *survey) addFeature(name []byte, f tfexample.Feature) error {
	n, err := f.Len()
	if err != nil || f.Kind == tfexample.None {
		return err
	}
	e := s.features[string(name)]
	if e == nil {
		if len(s.features) == maxFeatures {
			return fmt.Errorf("%w: its examples have more than %d features", formats.ErrSchema, maxFeatures)
		}
		e = &seen{kind: f.Kind}
		s.features[string(name)] = e
	}
	if n == 0 { // a missing value, whatever its kind
		return nil
	}
	if e.present == 0 {
		e.kind, e.least = f.Kind, n
	}
	e.present++
	if e.kind != f.Kind {
		return fmt.Errorf("%w: the feature %q is a %s list in one example and a %s list in another", formats.ErrSchema, name, e.kind, f.Kind)
	}
	e.least, e.most = min(e.least, n), max(e.most, n)
	first, ok, err := f.Bytes(0)
	e.empty = e.empty || ok && len(first) == 0
	encoding := formats.Sniff(first)
	if ok && encoding != "" {
		e.images++
	}
	e.lossy = e.lossy || encoding == formats.JPEG
	return err
}

// names returns the names of the features, sorted.
func (s *survey) names() []string { return slices.Sorted(maps.Keys(s.features)) }

// has reports whether examples have a feature of that kind with at most one value.
func (s *survey) has(name string, kind tfexample.Kind) bool {
	e := s.features[name]
	return e != nil && e.kind == kind && e.most == 1
}

// hasImage reports whether examples have an image file in the feature.
func (s *survey) hasImage(name string) bool {
	return s.has(name, tfexample.Bytes) && s.features[name].images > 0
}

// always reports whether every example has a text in the feature.
func (s *survey) always(name string) bool {
	return s.has(name, tfexample.Bytes) && s.features[name].present == s.examples && !s.features[name].empty
}

// list describes the features for error messages.
func (s *survey) list() string {
	var list []string
	for _, name := range s.names() {
		list = append(list, fmt.Sprintf("%s (%s)", name, s.features[name].kind))
	}
	const most = 30
	if len(list) > most {
		list = append(list[:most], "...")
	}
	return strings.Join(list, ", ")
}

// mustHave returns an error unless the examples have a feature that a map names.
func (s *survey) mustHave(field, feature string) error {
	if s.features[feature] == nil {
		return fmt.Errorf("%w: the map has %s=%s, but the first examples have no such feature, but %s", formats.ErrSchema, field, feature, s.list())
	}
	return nil
}

// field returns the field of that name for a feature.
func (s *survey) field(name, feature string) formats.Field {
	f := formats.Field{Name: name}
	switch e := s.features[feature]; {
	case e.kind == tfexample.Ints:
		f.Kind, f.DType = formats.Array, formats.Int64
	case e.kind == tfexample.Floats && e.least == 1 && e.most == 1:
		f.Kind = formats.Number
	case e.kind == tfexample.Floats:
		f.Kind, f.DType = formats.Array, formats.Float32
	case e.most > 1:
		f.Kind = formats.JSON
	case e.images > 0 && foreign.IsMask(name) && !e.lossy:
		f.Kind = formats.Mask
	case e.images > 0:
		f.Kind = formats.Image
	default:
		f.Kind = formats.Bytes
	}
	return f
}

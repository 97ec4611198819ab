package tfrecord

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
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
	hot         bool // all values are 0 and 1
}

// maxFeatures is more features than any example has that is not hostile.
const maxFeatures = 1000

// add adds an example, which counts unless it is an error.
func (s *survey) add(example []byte) error {
	err := s.addFeatures(example)
	if err == nil {
		s.examples++
	}
	return err
}

func (s *survey) addFeatures(example []byte) error {
	return tfexample.Each(example, func(name []byte, f tfexample.Feature) error {
		if f.Kind == tfexample.None {
			return nil
		}
		n, err := f.Len()
		if err != nil {
			return err
		}
		e := s.features[string(name)]
		if e == nil {
			if len(s.features) == maxFeatures {
				return fmt.Errorf("%w: its examples have more than %d features", formats.ErrSchema, maxFeatures)
			}
			e = &seen{kind: f.Kind, hot: true}
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
		if _, err := hotOf(f, n); err != nil {
			e.hot = false
		}
		first, ok, err := f.Bytes(0)
		e.empty = e.empty || ok && len(first) == 0
		encoding := formats.Sniff(first)
		if ok && encoding != "" {
			e.images++
		}
		e.lossy = e.lossy || encoding == formats.JPEG
		return err
	})
}

// names returns the names of the features, sorted.
func (s *survey) names() []string { return slices.Sorted(maps.Keys(s.features)) }

// has reports whether examples have a feature of that kind with at most one value.
func (s *survey) has(name string, kind tfexample.Kind) bool {
	e := s.features[name]
	return e != nil && e.kind == kind && e.most == 1
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

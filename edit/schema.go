package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// uniteSchemas returns the schema of the samples of several datasets. They must have the same fields,
// in any order; classes that the first one lacks are appended. name(i) names others[i] in errors.
func uniteSchemas(first formats.Schema, others []formats.Schema, name func(i int) string) (formats.Schema, error) {
	s := slices.Clone(first)
	for i := range s {
		s[i].Classes = slices.Clone(s[i].Classes)
	}
	for k, other := range others {
		if err := sameFields(s, other); err != nil {
			return nil, fmt.Errorf("%s: %w", name(k), err)
		}
		for i := range s {
			f := &other[other.Index(s[i].Name)]
			if f.Kind != s[i].Kind {
				return nil, fmt.Errorf("%s: %w: the kind of field %s is %s, but %s in the dataset", name(k), formats.ErrSchema, f.Name, f.Kind, s[i].Kind)
			}
			s[i].Classes = appendClasses(s[i].Classes, f.Classes)
			if s[i].Kind == formats.MultiHot && s[i].Shape != nil {
				s[i].Shape = []int{len(s[i].Classes)}
			}
		}
	}
	return s, nil
}

// sameFields returns an error if b does not have the fields of a, the dataset.
func sameFields(a, b formats.Schema) error {
	missing := slices.DeleteFunc(a.Names(), func(name string) bool { return b.Index(name) >= 0 })
	extra := slices.DeleteFunc(b.Names(), func(name string) bool { return a.Index(name) >= 0 })
	switch {
	case len(missing) > 0:
		return fmt.Errorf("%w: it has no field %s", formats.ErrSchema, strings.Join(missing, ", "))
	case len(extra) > 0:
		return fmt.Errorf("%w: unknown field %s; the dataset has %s", formats.ErrSchema, strings.Join(extra, ", "), listNames(a.Names()))
	}
	return nil
}

// relaxShapes clears types and shapes in s that are not equal in other.
func relaxShapes(s, other formats.Schema) {
	for i := range s {
		f := &other[other.Index(s[i].Name)]
		if s[i].Kind == formats.MultiHot {
			continue
		}
		if s[i].DType != f.DType {
			s[i].DType = ""
		}
		if !slices.Equal(s[i].Shape, f.Shape) {
			s[i].Shape = nil
		}
	}
}

// listNames lists names for a message.
func listNames(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

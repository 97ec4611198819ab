package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// unite is the schema of samples of several datasets. They must have the same fields, in
// any order; classes that the first has not are appended. name says which dataset is wrong.
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
				return nil, fmt.Errorf("%s: %w: field %s is %s, not %s", name(k), formats.ErrSchema, f.Name, f.Kind, s[i].Kind)
			}
			s[i].Classes = appendClasses(s[i].Classes, f.Classes)
			if s[i].Kind == formats.MultiHot && s[i].Shape != nil {
				s[i].Shape = []int{len(s[i].Classes)}
			}
		}
	}
	return s, nil
}

func sameFields(a, b formats.Schema) error {
	var missing, extra []string
	for _, f := range a {
		if b.Index(f.Name) < 0 {
			missing = append(missing, f.Name)
		}
	}
	for _, f := range b {
		if a.Index(f.Name) < 0 {
			extra = append(extra, f.Name)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("%w: it has no field %s", formats.ErrSchema, strings.Join(missing, ", "))
	case len(extra) > 0:
		return fmt.Errorf("%w: it has the field %s, which the dataset has not", formats.ErrSchema, strings.Join(extra, ", "))
	}
	return nil
}

func appendClasses(names, more []string) []string {
	have := classIndices(names)
	for _, name := range more {
		if _, ok := have[name]; !ok {
			have[name] = int64(len(names))
			names = append(names, name)
		}
	}
	return names
}

// indexOf is the place of each name.
func classIndices(names []string) map[string]int64 {
	index := make(map[string]int64, len(names))
	for i, name := range names {
		index[name] = int64(i)
	}
	return index
}

// loosen takes of a schema what is fixed for all images where the other does not fix the
// same.
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

// columnsOf unites the user's columns of several datasets.
func uniteColumns(first []string, others ...[]string) []string {
	all := slices.Clone(first)
	for _, o := range others {
		all = appendClasses(all, o)
	}
	return all
}

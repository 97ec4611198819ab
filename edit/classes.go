package edit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// withClasses returns m with other names of the designated label's classes.
func withClasses(m *formats.Meta, classes []string) *formats.Meta {
	own := *m
	own.Schema = slices.Clone(m.Schema)
	own.Schema[m.Schema.LabelIndex()].Classes = classes
	return &own
}

// withRenamedClasses returns the description m of a source with the names that its classes have in a dataset
// in which they were renamed. If two of its classes would become one that nobody merged, it is an error.
func withRenamedClasses(m *formats.Meta, renamed map[string]string) (*formats.Meta, error) {
	if len(renamed) == 0 || len(m.Classes()) == 0 {
		return m, nil
	}
	classes := slices.Clone(m.Classes())
	sourceOf := map[string]string{} // by name in the dataset
	wasRenamed := map[string]bool{} // by name in m
	for i, name := range m.Classes() {
		to, known, err := renamedClass(m, name, renamed)
		if err != nil {
			return nil, err
		}
		if other, taken := sourceOf[to]; taken {
			if !known || !wasRenamed[other] {
				return nil, fmt.Errorf("%w: it has the classes %q and %q, but in the dataset %q is the new name of a renamed class: "+
					"rename that class again first (dsconv relabel --rename)", formats.ErrSchema, other, name, to)
			}
		}
		sourceOf[to], classes[i], wasRenamed[name] = name, to, known
	}
	return withClasses(m, classes), nil
}

// renamedClass returns the name that a class of the source that m describes has in a dataset in which classes were
// renamed, and whether it was. If the source's own classes were renamed, their former names count: a
// copy of the dataset has its classes.
func renamedClass(m *formats.Meta, name string, renamed map[string]string) (to string, known bool, err error) {
	var former []string
	for _, from := range slices.Sorted(maps.Keys(m.Renamed)) {
		if m.Renamed[from] == name {
			former = append(former, from)
		}
	}
	if former == nil {
		former = []string{name}
	}
	for _, from := range former {
		next, ok := renamed[from]
		if ok && known && next != to {
			return "", false, fmt.Errorf("%w: its class %q was made of classes that are now %q and %q in the dataset: rename them alike first (dsconv relabel --rename)",
				formats.ErrSchema, name, to, next)
		}
		if ok {
			to, known = next, true
		}
	}
	if !known {
		to = name
	}
	return to, known, nil
}

// renamedClasses returns the record of renamed classes after those of to, by their present names, got new ones.
func renamedClasses(was, to map[string]string) map[string]string {
	now := maps.Clone(was)
	if now == nil {
		now = map[string]string{}
	}
	hasSource := map[string]bool{}
	for from, name := range was {
		hasSource[name] = true
		if next, ok := to[name]; ok {
			now[from] = next
		}
	}
	for name, next := range to {
		if _, ok := was[name]; !ok && !hasSource[name] {
			now[name] = next
		}
	}
	count := map[string]int{}
	for _, name := range now {
		count[name]++
	}
	maps.DeleteFunc(now, func(from, name string) bool { return from == name && count[name] == 1 })
	if len(now) == 0 {
		return nil
	}
	return now
}

// mergedRenames returns the record of renamed classes of several datasets as one. What is renamed in one and not,
// or otherwise, in another is an error: a later Add could not tell them apart.
func mergedRenames(sources []formats.Dataset, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, ds := range sources {
		maps.Copy(all, ds.Meta().Renamed)
	}
	for _, from := range slices.Sorted(maps.Keys(all)) {
		first := -1
		for k, ds := range sources {
			name, ok := nameOf(ds.Meta(), from)
			if !ok {
				continue
			}
			if first < 0 {
				all[from], first = name, k
			}
			if all[from] != name {
				return nil, fmt.Errorf("%w: the class %q of the source is now %q in %s, but %q in %s: rename it in one of them first (dsconv relabel --rename)",
					formats.ErrSchema, from, all[from], names[first], name, names[k])
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// nameOf returns the name that a class of the source has in the dataset that m describes.
func nameOf(m *formats.Meta, from string) (name string, ok bool) {
	if name, ok = m.Renamed[from]; ok {
		return name, true
	}
	return from, slices.Contains(m.Classes(), from)
}

// appendClasses appends the names in more that are not in names. The old names keep their indices.
func appendClasses(names, more []string) []string {
	have := labels.IndexOf(names)
	for _, name := range more {
		if _, ok := have[name]; !ok {
			have[name] = int64(len(names))
			names = append(names, name)
		}
	}
	return names
}

// mapClasses returns the index in to of each class of from, NoLabel for a class that is not there. It
// returns nil if all indices are equal.
func mapClasses(from, to []string) []int64 {
	index := labels.IndexOf(to)
	moved := make([]int64, len(from))
	same := true
	for i, name := range from {
		at, ok := index[name]
		if !ok {
			at = formats.NoLabel
		}
		moved[i] = at
		same = same && moved[i] == int64(i)
	}
	if same {
		return nil
	}
	return moved
}

// mapLabel converts the label v of a source's sample to the union's classes in field k.
func (u *union) mapLabel(p *unionSource, k int, v *formats.Value) error {
	switch f := &u.meta.Schema[k]; {
	case f.Kind == formats.Label && p.classes[k] != nil:
		x, ok := v.Int64()
		if !ok || x >= int64(len(p.classes[k])) {
			return fmt.Errorf("%w: the label is not the index of a class", formats.ErrDamaged)
		}
		if x >= 0 {
			v.SetInt64(p.classes[k][x])
		}
	case f.Kind == formats.MultiHot && (p.classes[k] != nil || len(v.Data) != len(f.Classes)):
		hot := make([]byte, len(f.Classes))
		for i, x := range v.Data {
			to := int64(i)
			if p.classes[k] != nil && i < len(p.classes[k]) {
				to = p.classes[k][i]
			}
			if x == 0 {
				continue
			}
			if to < 0 || to >= int64(len(hot)) {
				return fmt.Errorf("%w: the value has %d classes, the field has %d", formats.ErrDamaged, len(v.Data), len(hot))
			}
			hot[to] = x
		}
		v.Set(formats.Value{Data: hot, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(hot)}})
	}
	return nil
}

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

package edit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
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

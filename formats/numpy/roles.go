package numpy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// imageField and labelField are the fields that are found without a map.
const (
	imageField = "image"
	labelField = "label"
)

// words are what arrays of a field are called.
var words = map[string][]string{
	imageField: {"x", "image", "images", "img", "imgs", "data"},
	labelField: {"y", "label", "labels", "target", "targets"},
}

// roles says which array of a container is which field of which split.
type roles struct {
	fields []string                     // image first, then labels
	splits map[string]map[string]string // by split: by field: the array's name
}

// wanted returns the words for each field: those of the map, or the usual ones.
func wanted(m map[string]string) map[string][]string {
	if len(m) == 0 {
		return words
	}
	w := map[string][]string{imageField: words[imageField]}
	for field, name := range m {
		if field != imageField && strings.HasSuffix(name, ".npy") {
			continue // a file, not an array of the container
		}
		_, rest := formats.CutSplit(name)
		w[field] = []string{rest}
	}
	return w
}

// assign finds the roles of the arrays of a container. path is for errors.
func assign(path string, names []string, m map[string]string) (*roles, error) {
	w := wanted(m)
	r := &roles{splits: map[string]map[string]string{}}
	for _, name := range names {
		split, rest := formats.CutSplit(name)
		for field, usual := range w {
			if !slices.Contains(usual, rest) {
				continue
			}
			if r.splits[split] == nil {
				r.splits[split] = map[string]string{}
			}
			if other := r.splits[split][field]; other != "" {
				return nil, fmt.Errorf("%s: %w: both %s and %s may be the field %s: choose one, such as --map %s=%s", path, formats.ErrSchema, other, name, field, field, name)
			}
			r.splits[split][field] = name
		}
	}
	maps.DeleteFunc(r.splits, func(_ string, fields map[string]string) bool { return fields[imageField] == "" })
	if len(r.splits) == 0 {
		return nil, fmt.Errorf("%s: %w: no array is named as images are (x_train, train_images, images, data); it has %s: choose one, such as --map image=NAME,label=NAME",
			path, formats.ErrSchema, list(names))
	}
	return r, r.complete(path, w)
}

// list names some of the arrays.
func list(names []string) string {
	if len(names) == 0 {
		return "no arrays"
	}
	if len(names) > 10 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), len(names)-10)
	}
	return strings.Join(names, ", ")
}

// complete lists the fields, and checks that each split has each of them.
func (r *roles) complete(path string, w map[string][]string) error {
	r.fields = []string{imageField}
	for _, field := range slices.SortedFunc(maps.Keys(w), compareFields) {
		have := 0
		for _, fields := range r.splits {
			if fields[field] != "" {
				have++
			}
		}
		if field == imageField || have == 0 && field == labelField && len(words[field]) == len(w[field]) {
			continue
		}
		for split, fields := range r.splits {
			if fields[field] == "" {
				return fmt.Errorf("%s: %w: there is no array %s for the field %s of the images %s (split %q)", path, formats.ErrSchema, w[field][0], field, fields[imageField], split)
			}
		}
		r.fields = append(r.fields, field)
	}
	return nil
}

// compareFields sorts the label first, then by name.
func compareFields(a, b string) int {
	if (a == labelField) != (b == labelField) {
		if a == labelField {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}

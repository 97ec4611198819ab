package folder

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// Preview predicts how a folder that does not exist yet will be read with the zero Config.
type Preview struct {
	layout layout
	taken  map[string]int
	index  map[string]int64
}

// NewPreview returns the preview of a folder with images at the paths and with these folders.
func NewPreview(paths, folders []string) *Preview {
	below := map[string][]string{}
	for _, dir := range folders {
		above, name, in := strings.Cut(dir, "/")
		if !in {
			above, name = "", dir
		}
		below[above] = append(below[above], name)
	}
	taken := keysTaken(paths)
	for _, p := range paths {
		first, rest, in := strings.Cut(p, "/")
		if !in {
			continue
		}
		below[""] = append(below[""], first)
		if second, _, in := strings.Cut(rest, "/"); in {
			below[first] = append(below[first], second)
		}
	}
	for dir, names := range below {
		slices.Sort(names)
		below[dir] = slices.Compact(names)
	}
	p := &Preview{taken: taken}
	p.layout, _ = newLayout(nil, func(dir string) ([]string, error) { return below[dir], nil }, "") // the function never fails
	p.index = labels.IndexOf(p.layout.names)
	return p
}

// Classes returns the classes of the folders, nil if there are none.
func (p *Preview) Classes() []string { return p.layout.names }

// Splits reports whether the folders of the first level are splits.
func (p *Preview) Splits() bool { return p.layout.split }

// Sample returns key, split and label of the image at the path; ok is false if it is skipped.
func (p *Preview) Sample(path string) (key, split string, label int64, ok bool) {
	split, class, ok := p.layout.splitAndClass(path)
	label = formats.NoLabel
	if p.layout.class && ok {
		label = p.index[class]
	}
	return keyOf(path, p.taken), split, label, ok
}

// keysTaken counts the files for each possible key.
func keysTaken(paths []string) map[string]int {
	taken := map[string]int{}
	for _, p := range paths {
		taken[stem(p)]++
		taken[p]++
	}
	return taken
}

// keyOf is the key that foundFiles gives the file at p.
func keyOf(p string, taken map[string]int) string {
	if key := stem(p); taken[key] <= 1 {
		return key
	}
	return p
}

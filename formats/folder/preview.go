package folder

import (
	"path"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// Preview predicts how a folder that does not exist yet will be read with the zero Config.
type Preview struct {
	layout layout
	taken  map[string]int
	index  map[string]int64
}

// NewPreview returns the preview of a folder with images at the paths.
func NewPreview(paths []string) *Preview {
	folders := classFolders{}
	for _, p := range paths {
		if dir := path.Dir(p); dir != "." && !inSystemFolder(p) {
			folders.mark(dir)
		}
	}
	p := &Preview{taken: keysTaken(paths)}
	p.layout, _ = newLayout(nil, folders, "") // reading an order's file fails, and there is none
	p.index = labels.IndexOf(p.layout.names)
	return p
}

// Classes returns the classes of the folders, nil if there are none.
func (p *Preview) Classes() []string { return p.layout.names }

// Sample returns key, split and label of the image at the path; ok is false if it is skipped.
func (p *Preview) Sample(path string) (key, split string, label int64, ok bool) {
	split, class, ok := p.layout.splitAndClass(path)
	ok = ok && !inSystemFolder(path)
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

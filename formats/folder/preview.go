package folder

import (
	"path"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
)

// Preview predicts how a folder that does not exist yet will be read with the zero Config.
type Preview struct {
	layout layout.Layout
	taken  map[string]int // files for each possible key
	index  map[string]int64
}

// NewPreview returns the preview of a folder with images at the paths.
func NewPreview(paths []string) *Preview {
	folders := layout.Folders{}
	for _, p := range paths {
		if dir := path.Dir(p); dir != "." && !vfs.InSystemFolder(p) {
			folders.Mark(dir)
		}
	}
	p := &Preview{taken: map[string]int{}}
	for _, path := range paths {
		p.taken[vfs.Stem(path)]++
		p.taken[path]++
	}
	p.layout, _ = layout.New(nil, folders, "") // reading an order's file fails, and there is none
	p.index = labels.IndexOf(p.layout.Names)
	return p
}

// Classes returns the classes of the folders, nil if there are none.
func (p *Preview) Classes() []string { return p.layout.Names }

// Sample returns key, split and label of the image at the path; ok is false if it is skipped.
func (p *Preview) Sample(path string) (key, split string, label int64, ok bool) {
	split, class, ok := p.layout.SplitAndClass(path)
	ok = ok && !vfs.InSystemFolder(path)
	label = formats.NoLabel
	if p.layout.Class && ok && class != "" {
		label = p.index[class]
	}
	if key = vfs.Stem(path); p.taken[key] > 1 {
		key = path
	}
	return key, split, label, ok
}

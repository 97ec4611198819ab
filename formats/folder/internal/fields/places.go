package fields

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// places finds out which files are the images of samples that have fields, and their keys.
type places struct {
	// image is the pattern of the images, nil if each image that belongs to no field is a sample's.
	image    *pattern
	implicit bool            // image was found out
	dirs     map[string]bool // folders that have samples' images, in the paths that keys are made of
	layout   *layout.Layout
	count    int // of samples
}

// Place returns the path that the key and the classes of an image are made of. ok is false if the image is no
// sample's.
func (p *places) Place(rel string) (virtual string, ok bool) {
	if p.image == nil {
		return rel, true
	}
	v, ok := p.image.find(rel)
	if !ok {
		return "", false
	}
	return p.image.virtual(&v, path.Ext(rel)), true
}

// virtual returns a path of what the placeholders stand for: the split, the class, then the others.
func (p *pattern) virtual(v *partValues, ext string) string {
	var parts []string
	seen := [placeholders]bool{}
	add := func(name placeholder) {
		if !seen[name] && v[name] != "" {
			parts = append(parts, v[name])
		}
		seen[name] = true
	}
	for _, first := range []placeholder{splitPart, classPart} {
		if p.has(first) {
			add(first)
		}
	}
	for _, name := range p.names {
		add(name)
	}
	return strings.Join(parts, "/") + ext
}

// Mark records a folder with a sample's image. It is for one goroutine at a time.
func (p *places) Mark(dir string) { p.dirs[dir] = true }

// Folders returns the folders of splits and classes, when all files are known. It finds out whether all images lie in a
// folder like images/, which is no class then.
func (p *places) Folders() layout.Folders {
	if p.image == nil {
		p.findImages()
	}
	folders := layout.Folders{}
	for dir := range p.dirs {
		if dir != "." {
			folders.Mark(dir)
		}
	}
	return folders
}

// findImages sets the pattern if all images are in one folder like images/, or in one of each split.
func (p *places) findImages() {
	first, second := map[string]bool{}, map[string]bool{}
	for dir := range p.dirs {
		folders := strings.Split(dir, "/")
		first[folders[0]] = true
		second[append(folders, "")[1]] = true
	}
	names := slices.Collect(maps.Keys(first))
	below := slices.Collect(maps.Keys(second))
	text := ""
	switch {
	case len(names) == 1 && layout.IsImageFolder(names[0]):
		text = names[0] + "/{key}.*"
	case len(below) == 1 && layout.IsImageFolder(below[0]) && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(layout.Splits, n) }):
		text = "{split}/" + below[0] + "/{key}.*"
	default:
		return
	}
	pattern, err := parsePattern(text)
	if err != nil {
		return // the folder's name has characters that a pattern cannot have
	}
	p.image, p.implicit = pattern, true
	dirs := map[string]bool{}
	for dir := range p.dirs {
		virtual, _ := p.Place(dir + "/x.x")
		dirs[path.Dir(virtual)] = true
	}
	p.dirs = dirs
}

// force sets splits and classes that the pattern names.
func (p *places) force(l *layout.Layout) {
	l.Split = p.image.has(splitPart)
	at, names := 0, map[string]bool{}
	if l.Split {
		at = 1
	}
	for dir := range p.dirs {
		if folders := strings.Split(dir, "/"); len(folders) > at && dir != "." {
			names[folders[at]] = true
		}
	}
	l.SetClasses(slices.Sorted(maps.Keys(names)))
}

// values returns what the placeholders stand for in the paths of a sample's files.
func (p *places) values(f *vfs.File) partValues {
	var v partValues
	given := [placeholders]bool{}
	if p.image != nil {
		v, _ = p.image.find(f.Path)
		for _, name := range p.image.names {
			given[name] = true
		}
	}
	set := func(name placeholder, value string) {
		if !given[name] {
			v[name] = value
		}
	}
	virtual := f.Place()
	set(keyPart, vfs.ImageStem(virtual))
	set(stemPart, path.Base(vfs.ImageStem(f.Path)))
	if dir := path.Dir(f.Path); dir != "." {
		set(dirPart, dir)
	}
	if p.layout != nil {
		split, class, _ := p.layout.SplitAndClass(virtual)
		set(splitPart, split)
		set(classPart, class)
	}
	return v
}

// ImagePattern is the pattern of the samples' images.
func (p *places) ImagePattern() string { return p.image.text }

// hint says how to name the folder of the images, if there are others.
func (p *places) hint() string {
	for dir := range p.dirs {
		if first, _, _ := strings.Cut(dir, "/"); layout.IsImageFolder(first) {
			return fmt.Sprintf(". If the samples' images are only those in %s/, add --field 'image=%s/{key}.*'", first, first)
		}
	}
	return ""
}

package folder

import (
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

var splitNames = formats.SplitFolders()

// layout is the meaning of the first-level folders.
type layout struct {
	split bool     // the first level is splits
	class bool     // the next level is classes
	names []string // of the classes, in the order of their indices
}

// classFolders are the folders in the place of splits and classes: those of the first level, and those in
// folders of the first level that are named like splits. The value says whether a folder has images.
type classFolders map[string]bool

// place reports whether the folder at a relative path is in the place of a split or a class.
func (c classFolders) place(rel string) bool {
	first, rest, deeper := strings.Cut(rel, "/")
	return rel != "" && (!deeper || slices.Contains(splitNames, first) && !strings.Contains(rest, "/"))
}

// found adds a folder.
func (c classFolders) found(rel string) {
	if _, known := c[rel]; !known && c.place(rel) {
		c[rel] = false
	}
}

// mark records that the folder at a relative path, or one below it, has images.
func (c classFolders) mark(rel string) {
	for at := range len(rel) + 1 {
		if at == len(rel) || rel[at] == '/' {
			if !c.place(rel[:at]) {
				return
			}
			c[rel[:at]] = true
		}
	}
}

// below returns the names of the folders in rel that have images; "" is the root.
func (c classFolders) below(rel string) []string {
	var names []string
	for name, images := range c {
		if dir, base := path.Split(name); images && strings.TrimSuffix(dir, "/") == rel {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names
}

// empty returns the folders that would be splits or classes of l if they had images.
func (c classFolders) empty(l *layout) []string {
	var list []string
	for name, images := range c {
		dir, base := path.Split(name)
		if !images && (dir == "" || l.split && !slices.Contains(l.names, base)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// newLayout finds the splits and classes. in has the file of the order, if that is one.
func newLayout(in filesystem, c classFolders, order string) (layout, error) {
	var l layout
	first := c.below("")
	l.split = len(first) > 0 && !slices.ContainsFunc(first, func(n string) bool { return !slices.Contains(splitNames, n) })
	found := first
	if l.split {
		found = nil
		for _, split := range first {
			found = append(found, c.below(split)...)
		}
	}
	l.class = len(found) > 0
	var err error
	l.names, err = orderClasses(in, found, order)
	return l, err
}

// splitAndClass returns the split and class of the file at a relative path; ok is false if the
// path has no class folder.
func (l *layout) splitAndClass(rel string) (split, class string, ok bool) {
	if l.split {
		var in bool
		if split, rel, in = strings.Cut(rel, "/"); !in {
			return "", "", false
		}
	}
	if !l.class {
		return split, "", true
	}
	class, _, ok = strings.Cut(rel, "/")
	return split, class, ok
}

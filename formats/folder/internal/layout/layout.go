// Package layout decides which folders are splits and which are classes, and the order of the classes.
package layout

import (
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Splits are the names of folders that are splits.
var Splits = formats.SplitFolders()

// Layout is the meaning of the first-level folders.
type Layout struct {
	Split bool     // the first level is splits
	Class bool     // the next level is classes
	Names []string // of the classes, in the order of their indices

	of   map[string][]string // the classes by split, "" if the first level is classes
	flat map[string]string   // by split, a folder of images that is no class
}

// imageFolders are the names of folders that hold the images of samples beside folders with their masks, in lower case.
var imageFolders = []string{"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "rgb", "input", "inputs", "leftimg8bit"}

// IsImageFolder reports whether a folder of that name holds images of samples, and is no class if all lie in it.
func IsImageFolder(name string) bool { return slices.Contains(imageFolders, strings.ToLower(name)) }

// New finds the splits and classes. in has the file of the order, if that is one.
func New(in vfs.FS, c Folders, order string) (Layout, error) {
	var l Layout
	first := c.names("")
	l.Split = len(first) > 0 && !slices.ContainsFunc(first, func(n string) bool { return !slices.Contains(Splits, n) })
	found := first
	l.of = map[string][]string{"": first}
	if l.Split {
		clear(l.of)
		for _, split := range first {
			l.of[split] = c.names(split)
		}
		l.findFlat()
		found = nil
		for _, split := range first {
			found = append(found, l.of[split]...)
		}
	}
	l.Class = len(found) > 0
	var err error
	l.Names, err = Order(in, found, order)
	return l, err
}

// SetClasses sets the classes that the pattern of the images names, whatever folders there are.
func (l *Layout) SetClasses(names []string) {
	l.Names, l.Class, l.of, l.flat = names, len(names) > 0, nil, nil
}

// findFlat finds the splits whose images are all in a folder such as images/, while others have classes. That folder
// is no class: it would move the indices of the others.
func (l *Layout) findFlat() {
	l.flat = map[string]string{}
	for split, names := range l.of {
		if len(names) == 1 && IsImageFolder(names[0]) {
			l.flat[split] = names[0]
		}
	}
	others := 0
	for split, names := range l.of {
		if _, flat := l.flat[split]; flat {
			continue
		}
		others += len(names)
		maps.DeleteFunc(l.flat, func(_, name string) bool { return slices.Contains(names, name) })
	}
	if others == 0 {
		clear(l.flat)
	}
	for split := range l.flat {
		l.of[split] = nil
	}
}

// SplitAndClass returns the split and class of the file at a relative path; ok is false if the
// path has no class folder. The class is "" in a folder that is none: see Notices.
func (l *Layout) SplitAndClass(rel string) (split, class string, ok bool) {
	if l.Split {
		var in bool
		if split, rel, in = strings.Cut(rel, "/"); !in {
			return "", "", false
		}
	}
	if !l.Class {
		return split, "", true
	}
	class, _, ok = strings.Cut(rel, "/")
	if flat, none := l.flat[split]; none && flat == class {
		class = ""
	}
	return split, class, ok
}

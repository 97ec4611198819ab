// Package layout decides which folders are splits and which are classes, and the order of the classes.
package layout

import (
	"path"
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
}

// Folders are the folders in the place of splits and classes: those of the first level, and those in
// folders of the first level that are named like splits. The value says whether a folder has images.
type Folders map[string]bool

// place reports whether the folder at a relative path is in the place of a split or a class.
func (c Folders) place(rel string) bool {
	first, rest, deeper := strings.Cut(rel, "/")
	return rel != "" && (!deeper || slices.Contains(Splits, first) && !strings.Contains(rest, "/"))
}

// Found adds a folder.
func (c Folders) Found(rel string) {
	if _, known := c[rel]; !known && c.place(rel) {
		c[rel] = false
	}
}

// Mark records that the folder at a relative path, or one below it, has images.
func (c Folders) Mark(rel string) {
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
func (c Folders) below(rel string) []string {
	var names []string
	for name, images := range c {
		if dir, base := path.Split(name); images && strings.TrimSuffix(dir, "/") == rel {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names
}

// Empty returns the folders that would be splits or classes of l if they had images.
func (c Folders) Empty(l *Layout) []string {
	var list []string
	for name, images := range c {
		dir, base := path.Split(name)
		if !images && (dir == "" || l.Split && !slices.Contains(l.Names, base)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// New finds the splits and classes. in has the file of the order, if that is one.
func New(in vfs.FS, c Folders, order string) (Layout, error) {
	var l Layout
	first := c.below("")
	l.Split = len(first) > 0 && !slices.ContainsFunc(first, func(n string) bool { return !slices.Contains(Splits, n) })
	found := first
	if l.Split {
		found = nil
		for _, split := range first {
			found = append(found, c.below(split)...)
		}
	}
	l.Class = len(found) > 0
	var err error
	l.Names, err = Order(in, found, order)
	return l, err
}

// SplitAndClass returns the split and class of the file at a relative path; ok is false if the
// path has no class folder.
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
	return split, class, ok
}

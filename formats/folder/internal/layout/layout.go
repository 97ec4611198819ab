// Package layout decides which folders are splits and which are classes, and the order of the classes.
package layout

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
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

// Folders are the folders in the place of splits and classes: those of the first level, and those in
// folders of the first level that are named like splits.
type Folders map[string]*Contents

// Contents is what a folder has, with those below it.
type Contents struct {
	images bool // it counts as one with images
	marked bool // an image was found
	// deepest is the deepest folder below that has all images, "" for the folder itself; direct says that some are
	// in that folder itself.
	deepest string
	direct  bool
	below   []string // folders directly in it that have images, the first maxBelow by name
}

// maxBelow bounds the folders below a class that are remembered, for a million of them take memory.
const maxBelow = 100

// place reports whether the folder at a relative path is in the place of a split or a class.
func (c Folders) place(rel string) bool {
	first, rest, deeper := strings.Cut(rel, "/")
	return rel != "" && (!deeper || slices.Contains(Splits, first) && !strings.Contains(rest, "/"))
}

// Found adds a folder.
func (c Folders) Found(rel string) {
	if c[rel] == nil && c.place(rel) {
		c[rel] = &Contents{}
	}
}

// Mark records that the folder at a relative path has images itself.
func (c Folders) Mark(rel string) {
	for at, f := range c.above(rel) {
		f.add(strings.TrimPrefix(rel[at:], "/"))
	}
}

// Keep records that the folder at a relative path may have images, so that it stays a class.
func (c Folders) Keep(rel string) {
	c.above(rel)(func(int, *Contents) bool { return true })
}

// above yields the folders in the place of splits and classes at a path, and where they end in it. They count as ones
// with images.
func (c Folders) above(rel string) func(yield func(at int, f *Contents) bool) {
	return func(yield func(at int, f *Contents) bool) {
		for at := range len(rel) + 1 {
			if at < len(rel) && rel[at] != '/' {
				continue
			}
			name := rel[:at]
			if !c.place(name) {
				return
			}
			if c[name] == nil {
				c[name] = &Contents{}
			}
			c[name].images = true
			if !yield(at, c[name]) {
				return
			}
		}
	}
}

// add records a folder below that has images itself; "" is the folder itself.
func (f *Contents) add(rel string) {
	if name, _, _ := strings.Cut(rel, "/"); name != "" {
		if at, known := slices.BinarySearch(f.below, name); !known && at < maxBelow {
			f.below = slices.Insert(f.below, at, name)
			f.below = f.below[:min(len(f.below), maxBelow)]
		}
	}
	if !f.marked {
		f.marked, f.direct, f.deepest = true, true, rel
		return
	}
	common := f.deepest
	for common != "" && rel != common && !strings.HasPrefix(rel, common+"/") {
		common = common[:max(0, strings.LastIndexByte(common, '/'))]
	}
	f.direct = rel == common || common == f.deepest && f.direct
	f.deepest = common
}

// hasFolders reports whether the images lie in two folders or more, with none in the folder around these.
func (f *Contents) hasFolders() bool { return f.marked && !f.direct }

// names returns the names of the folders in rel that have images; "" is the root.
func (c Folders) names(rel string) []string {
	var names []string
	for name, f := range c {
		if dir, base := path.Split(name); f.images && strings.TrimSuffix(dir, "/") == rel {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names
}

// Empty returns the folders that would be splits or classes of l if they had images.
func (c Folders) Empty(l *Layout) []string {
	var list []string
	for name, f := range c {
		dir, base := path.Split(name)
		if !f.images && (dir == "" || l.Split && !slices.Contains(l.Names, base)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Order returns the different names in the order of their class indices.
func Order(in vfs.FS, names []string, order string) ([]string, error) {
	names = slices.Clone(names)
	switch order {
	case "":
		slices.Sort(names)
	case "natural":
		slices.SortFunc(names, compareNatural)
	default:
		return classesFrom(in, order, names)
	}
	return slices.Compact(names), nil
}

// classesFrom reads the classes' order from a file, which must name all classes found and may
// name more. In LOC_synset_mapping.txt a class is the first word of its line.
func classesFrom(in vfs.FS, file string, found []string) ([]string, error) {
	b, err := vfs.ReadText(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the class order: %w", err)
	}
	var names []string
	first := map[string]int{}
	n := 0
	synsets, mapping := tables.SynsetNames(b)
	mapping = mapping && len(found) > 0 && slices.Contains(synsets, found[0])
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		if mapping {
			line = strings.Fields(line)[0]
		}
		if before, twice := first[line]; twice {
			return nil, fmt.Errorf("%s: line %d: the class %q is a duplicate of line %d", file, n, line, before)
		}
		first[line] = n
		names = append(names, line)
	}
	for _, name := range found {
		if _, ok := first[name]; !ok {
			return nil, fmt.Errorf("%s: the class %q is missing; add it on a line of its own", file, name)
		}
	}
	return names, nil
}

var digits = regexp.MustCompile(`[0-9]+`)

// compareNatural compares runs of digits by value: "2" comes before "10".
func compareNatural(a, b string) int {
	withLengths := func(name string) string {
		return digits.ReplaceAllStringFunc(name, func(run string) string {
			run = strings.TrimLeft(run, "0")
			return fmt.Sprintf("0%08x%s", len(run), run)
		})
	}
	return cmp.Or(strings.Compare(withLengths(a), withLengths(b)), strings.Compare(a, b)) // "1" and "01"
}

package folder

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

var splitNames = []string{"train", "val", "valid", "validation", "test"}

// layout is the meaning of the first-level folders.
type layout struct {
	split bool     // the first level is splits
	class bool     // the next level is classes
	names []string // of the classes, in the order of their indices
}

// subfolders returns the names of the folders (or links to folders) in rel that the filter
// includes.
func subfolders(in filesystem, rel string, filter *formats.FileFilter) ([]string, error) {
	f, err := in.openFolder(rel)
	if err != nil {
		return nil, err
	}
	defer f.close()
	var names []string
	for {
		entries, err := f.next()
		if err != nil || len(entries) == 0 {
			slices.Sort(names)
			return names, err
		}
		for _, e := range entries {
			name := path.Join(rel, e.Name())
			if isFolder(in, name, e) && filter.IncludesFolder(name) {
				names = append(names, e.Name())
			}
		}
	}
}

// isFolder reports whether an entry is a folder or a link to one.
func isFolder(in filesystem, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	st, err := in.stat(name)
	return err == nil && st.IsDir()
}

// layoutOf finds splits and classes. As in ImageFolder, an empty folder is a class too.
func layoutOf(in filesystem, order string, filter *formats.FileFilter) (layout, error) {
	return newLayout(in, func(dir string) ([]string, error) { return subfolders(in, dir, filter) }, order)
}

// newLayout finds the layout of the folders that below returns; "" is the root. in has the file of
// the order, if that is one.
func newLayout(in filesystem, below func(dir string) ([]string, error), order string) (layout, error) {
	var l layout
	first, err := below("")
	if err != nil {
		return l, err
	}
	l.split = len(first) > 0 && !slices.ContainsFunc(first, func(n string) bool { return !slices.Contains(splitNames, n) })
	found := first
	if l.split {
		found = nil
		for _, split := range first {
			names, err := below(split)
			if err != nil {
				return l, err
			}
			found = append(found, names...)
		}
	}
	l.class = len(found) > 0
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

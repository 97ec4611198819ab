package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// besideArchives are the extensions of files that may lie beside the archives of classes.
var besideArchives = []string{"", ".txt", ".md", ".csv", ".tsv", ".json", ".md5", ".sha1", ".sha256"}

// ListClassArchives returns the paths of the archives in the folder at path if it has one for each class, else nil: then it has
// images, other folders than splits, a single archive, or archives that are numbered in a row, as shards are.
func ListClassArchives(path string) []string {
	found, other := listArchives(path, true)
	if other != "" || len(found) < 2 || areNumbered(found) || !slices.ContainsFunc(found, beginsAsArchive) {
		return nil
	}
	return found
}

// listArchives lists the archives in a folder, and in its folders that are splits. other is the first path that is neither,
// nor a file that may lie beside them; "" if there is none.
func listArchives(dir string, top bool) (found []string, other string) {
	f, err := unblocked.Open(dir)
	if err != nil {
		return nil, dir
	}
	defer f.Close()
	for { // in parts, since a folder of a million images ends at the first
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), ".") || e.Name() == "__MACOSX":
			case e.IsDir():
				if !top || !slices.Contains(splitNames, strings.ToLower(e.Name())) {
					return nil, name
				}
				below, other := listArchives(name, false)
				if len(below) == 0 {
					return nil, cmp.Or(other, name)
				}
				found = append(found, below...)
			case kindOf(e.Name()) != none:
				found = append(found, name)
			case !slices.Contains(besideArchives, strings.ToLower(filepath.Ext(e.Name()))):
				return nil, name
			}
		}
		if errors.Is(err, io.EOF) {
			return found, ""
		}
		if err != nil {
			return nil, dir
		}
	}
}

// areNumbered reports whether the names end in numbers of one width without a gap, as those of shards do.
func areNumbered(paths []string) bool {
	var numbers []int
	width := 0
	for _, p := range paths {
		stem := className(p)
		digits := stem[len(strings.TrimRight(stem, "0123456789")):]
		n, err := strconv.Atoi(digits)
		if err != nil || width > 0 && len(digits) != width {
			return false
		}
		numbers, width = append(numbers, n), len(digits)
	}
	slices.Sort(numbers)
	return width > 1 && numbers[len(numbers)-1]-numbers[0] == len(numbers)-1
}

// className returns the name of an archive without what its kind adds.
func className(path string) string {
	name := filepath.Base(path)
	if stem, _ := suffixOf(name); stem != "" {
		return stem
	}
	return name
}

// OpenClassArchives opens the archives that ListClassArchives finds, also those that are numbered in a row, as one FS: n01440764.tar,
// as the tar of ImageNet's training images has it, is the folder n01440764. The archives may also lie in folders that are splits. An archive
// that has folders is an error: which of them are classes is for the caller to say. ctx ends the listing.
func OpenClassArchives(ctx context.Context, root string) (_ *FS, err error) {
	paths, other := listArchives(root, true)
	if len(paths) == 0 {
		err := fmt.Errorf("%s: it is no archive, and no folder with an archive for each class", root)
		if other != "" {
			err = fmt.Errorf("%w: it has %s", err, other)
		}
		return nil, err
	}
	f := &FS{path: filepath.Clean(root), index: newIndex()}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	slices.SortFunc(paths, func(a, b string) int { // train.tar before train/cat.tar
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	known := map[string]string{}
	for _, p := range paths {
		if err := cmp.Or(ctx.Err(), f.addClass(ctx, p, known)); err != nil {
			return nil, err
		}
	}
	f.index.sort()
	return f, nil
}

// addClass adds the members of an archive as those of a folder; known has the archives by their folders.
func (f *FS) addClass(ctx context.Context, name string, known map[string]string) error {
	rel, err := filepath.Rel(f.path, filepath.Dir(name))
	if err != nil {
		return err
	}
	folder := path.Join(filepath.ToSlash(rel), className(name))
	if err := formats.CheckKey(folder); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if other := cmp.Or(known[folder], known[path.Dir(folder)]); other != "" {
		return fmt.Errorf("%s and %s are both the folder %s: move one of them elsewhere", other, name, folder)
	}
	known[folder] = name
	x, err := f.add(ctx, name)
	if err != nil {
		return err
	}
	n := int32(len(f.parts) - 1)
	p := f.parts[n]
	p.folder, p.root = folder, x.only(path.Base(folder))
	if _, deeper := x.content(p.root); len(deeper) > 0 {
		return fmt.Errorf("%s has folders, so it is not the images of one class: give the archives as sources, as in \"%s=%s\"", name, className(name), name)
	}
	if err := f.index.mkdir(folder); err != nil {
		return err
	}
	members, _ := x.in(p.root)
	for _, e := range members {
		_, name := splitPath(e.path)
		e.part = n
		if err := f.index.add(join(folder, name), *e, e.refusal); err != nil {
			return err
		}
	}
	for _, r := range x.refusedBelow(p.root, "/") {
		r.Path = folder + "/" + r.Path
		if r.Path == folder+"//" { // of the whole: train/cat.tar/
			r.Path = path.Join(path.Dir(folder), path.Base(name)) + "/"
		}
		if err := f.index.refuse(r.Path, r.Cause); err != nil {
			return err
		}
	}
	return nil
}

// only returns the folder in the archive that is named as the class, if there is nothing else, else "".
func (x *index) only(class string) string {
	hasFiles, folders := x.content("")
	if hasFiles || len(folders) != 1 || folders[0] != class {
		return ""
	}
	if _, below := x.in(class); len(below) > 0 {
		return ""
	}
	return class
}

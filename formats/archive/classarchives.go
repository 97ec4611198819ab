package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// ClassArchives is a folder with an archive for each class, as the tar of ImageNet's training images leaves it when it
// is unpacked: n01440764.tar is the folder n01440764. The archives may also lie in folders that are splits. It is
// safe for concurrent use, and must be closed.
type ClassArchives struct {
	root  string
	parts map[string]*FS // by the folder that the archive is: "n01440764", "train/n01440764"
	top   *FS            // the folders that hold the archives, and those of the archives, without files
}

var (
	_ fs.ReadDirFS = (*ClassArchives)(nil)
	_ fs.StatFS    = (*ClassArchives)(nil)
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

// OpenClassArchives opens the archives that ListClassArchives finds, also those that are numbered in a row. An archive that has folders is an error: which of them are
// classes is for the caller to say. ctx ends the listing.
func OpenClassArchives(ctx context.Context, root string) (_ *ClassArchives, err error) {
	if ctx == nil {
		return nil, errors.New("archive.OpenClassArchives: ctx is nil: give context.Background()")
	}
	paths, other := listArchives(root, true)
	if len(paths) == 0 {
		err := fmt.Errorf("%s: it is no archive, and no folder with an archive for each class", root)
		if other != "" {
			err = fmt.Errorf("%w: it has %s", err, other)
		}
		return nil, err
	}
	c := &ClassArchives{root: filepath.Clean(root), parts: map[string]*FS{}, top: &FS{path: root, index: newIndex()}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	slices.SortFunc(paths, func(a, b string) int { // train.tar before train/cat.tar
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	for _, p := range paths {
		if err := cmp.Or(ctx.Err(), c.add(ctx, p)); err != nil {
			return nil, err
		}
	}
	c.top.index.listFolders()
	return c, nil
}

func (c *ClassArchives) add(ctx context.Context, name string) error {
	rel, err := filepath.Rel(c.root, filepath.Dir(name))
	if err != nil {
		return err
	}
	folder := path.Join(filepath.ToSlash(rel), className(name))
	if err := formats.CheckKey(folder); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if other := cmp.Or(c.parts[folder], c.parts[path.Dir(folder)]); other != nil {
		return fmt.Errorf("%s and %s are both the folder %s: move one of them elsewhere", other.path, name, folder)
	}
	f, err := Open(ctx, name+"/") // the archive's own root
	if err != nil {
		return err
	}
	c.parts[folder] = f
	if _, err := c.top.index.mkdir(folder); err != nil {
		return err
	}
	f.root = f.index.only(path.Base(folder))
	if f.index.hasFolders(f.root) {
		return fmt.Errorf("%s has folders, so it is not the images of one class: give the archives as sources, as in \"%s=%s\"", name, className(name), name)
	}
	return nil
}

// only returns the folder in the archive that is named as the class, if there is nothing else, else "".
func (x *index) only(class string) string {
	if id, ok := x.byPath[class]; ok && len(x.dirs[id].folders) == 0 && !x.hasFiles(&x.dirs[0]) && !x.hasFolders(class) && len(x.foldersIn(&x.dirs[0])) == 1 {
		return class
	}
	return ""
}

func (x *index) hasFolders(path string) bool { return len(x.foldersIn(&x.dirs[x.byPath[path]])) > 0 }

// part returns the archive that has name, and its name there; nil if name is a folder above the archives, or nothing.
func (c *ClassArchives) part(name string) (*FS, string) {
	for end := 0; fs.ValidPath(name) && end < len(name); end++ {
		n := strings.IndexByte(name[end:], '/')
		if n < 0 {
			n = len(name) - end
		}
		end += n
		if f := c.parts[name[:end]]; f != nil {
			return f, cmp.Or(strings.TrimPrefix(name[end:], "/"), ".")
		}
	}
	return nil, ""
}

// Open implements fs.FS.
func (c *ClassArchives) Open(name string) (fs.File, error) {
	f, below := c.part(name)
	if f != nil && below != "." {
		return f.Open(below)
	}
	d, err := c.top.Open(name)
	if err == nil && f != nil {
		d.(*openDir).left, err = f.ReadDir(".")
	}
	return d, err
}

// Stat implements fs.StatFS.
func (c *ClassArchives) Stat(name string) (fs.FileInfo, error) {
	if f, below := c.part(name); f != nil && below != "." {
		return f.Stat(below)
	}
	return c.top.Stat(name)
}

// ReadDir implements fs.ReadDirFS.
func (c *ClassArchives) ReadDir(name string) ([]fs.DirEntry, error) {
	if f, below := c.part(name); f != nil {
		return f.ReadDir(below)
	}
	return c.top.ReadDir(name)
}

// ReadInto reads a member into the memory of buf, or into new memory if that is too small.
func (c *ClassArchives) ReadInto(name string, buf []byte) ([]byte, error) {
	if f, below := c.part(name); f != nil {
		return f.ReadInto(below, buf)
	}
	return c.top.ReadInto(name, buf)
}

// Identify writes what tells the archives from others. It reads no member.
func (c *ClassArchives) Identify(w io.Writer) error {
	for _, folder := range slices.Sorted(maps.Keys(c.parts)) {
		if err := c.parts[folder].Identify(w); err != nil {
			return err
		}
	}
	return nil
}

// Refused lists the members that Stat and Open cannot name, with the cause.
func (c *ClassArchives) Refused() (all []formats.Skip) {
	for _, folder := range slices.Sorted(maps.Keys(c.parts)) {
		for _, r := range c.parts[folder].Refused() {
			if r.Path == c.parts[folder].whole() { // train/cat.tar/
				r.Path = path.Join(path.Dir(folder), r.Path) + "/"
			} else {
				r.Path = folder + "/" + r.Path
			}
			all = append(all, r)
		}
	}
	return all
}

// Notices says how names were read where the archives do not tell.
func (c *ClassArchives) Notices() (all []string) {
	for _, folder := range slices.Sorted(maps.Keys(c.parts)) {
		all = append(all, c.parts[folder].Notices()...)
	}
	return all
}

// String returns the path of the folder.
func (c *ClassArchives) String() string { return c.root }

// Close closes the archives. A second Close does nothing.
func (c *ClassArchives) Close() error {
	var errs []error
	for _, f := range c.parts {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

package fields

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// cocoImages finds the images of COCO files among the samples.
type cocoImages struct {
	flag         string   // that names the files
	names        []string // of the files, as the flag has them
	files        []cocoSource
	entries      []cocoEntry // the images of all files, by number
	damaged      map[int32]error
	byBase       map[string][]int32
	stray        int // annotations' images that are not listed
	strayExample string

	claimed        []string // the samples that fit an entry, until Claimed
	found, missing int
	used           []bool
	why            error // why a sample that fits an entry has none
}

// cocoEntry is an image that a file lists.
type cocoEntry struct {
	name string // file_name, "" if only annotations name the image
	file int32  // the position of its file
	size size
}

// cocoSource is a file of COCO.
type cocoSource struct {
	name   string
	folder string // it is for the images below this folder; "" for all
	by     string // how that was found out; "" if the user said it
	own    string // the folder that the file is in, if that is in the source
}

// String is how --boxes names the file.
func (s *cocoSource) String() string {
	if s.folder != "" {
		return s.folder + "=" + s.name
	}
	return s.name
}

// open opens the next of the files, FILE or FOLDER=FILE.
func (c *cocoImages) open(in vfs.FS, name string) (io.ReadCloser, error) {
	folder, name := recipepath.ForFolder(name)
	c.files = append(c.files, cocoSource{name: name, folder: folder, own: ownFolder(in, name)})
	file, err := in.OpenText(name)
	if err != nil {
		return nil, errors.New(vfs.Cause(err))
	}
	return file, nil
}

// below reports whether a path is in a folder or deeper.
func below(rel, folder string) bool { return strings.HasPrefix(rel, folder+"/") }

// damage records that an image's annotations cannot be used.
func (c *cocoImages) damage(image int32, err error) {
	if c.damaged == nil {
		c.damaged = map[int32]error{}
	}
	c.damaged[image] = cmp.Or(c.damaged[image], err)
}

// match prepares find, when all images are known.
func (c *cocoImages) match() {
	c.byBase = map[string][]int32{}
	c.used = make([]bool, len(c.entries))
	for i := range c.entries {
		if name := c.entries[i].name; name != "" {
			base := vfs.Composed(path.Base(name))
			c.byBase[base] = append(c.byBase[base], int32(i))
		}
	}
}

// fits returns the numbers of the entries that may be those of the image at a path: the path or the file_name may have
// more folders than the other. Entries with exactly this path go first, and those that are composed otherwise last.
func (c *cocoImages) fits(rel string) []int32 {
	composed := vfs.Composed(rel)
	var fits [4][]int32 // the best first
	for _, i := range c.byBase[path.Base(composed)] {
		e := &c.entries[i]
		name, folder := vfs.Composed(e.name), c.files[e.file].folder
		switch {
		case folder != "" && !below(rel, folder): // its file is for other images
		case e.name == rel:
			fits[0] = append(fits[0], i)
		case strings.HasSuffix(rel, "/"+e.name), strings.HasSuffix(e.name, "/"+rel):
			fits[1] = append(fits[1], i)
		case name == composed:
			fits[2] = append(fits[2], i)
		case strings.HasSuffix(composed, "/"+name), strings.HasSuffix(name, "/"+composed):
			fits[3] = append(fits[3], i)
		}
	}
	for _, list := range fits {
		if list != nil {
			return list
		}
	}
	return nil
}

// find returns the number of the image at a path.
func (c *cocoImages) find(rel string) (int32, error) {
	fits := c.fits(rel)
	switch {
	case len(fits) == 0:
		return -1, fmt.Errorf("the image is not listed in %s", c.from())
	case len(fits) > 1:
		return -1, c.several(fits)
	}
	return fits[0], c.damaged[fits[0]]
}

// several is the error about an image that fits several entries.
func (c *cocoImages) several(fits []int32) error {
	a, b := &c.entries[fits[0]], &c.entries[fits[1]]
	if a.file == b.file {
		return fmt.Errorf("two images of %s may be it: %s and %s", &c.files[a.file], a.name, b.name)
	}
	return fmt.Errorf("it may be %s of %s and %s of %s: say which images a file is for, as FOLDER=%s", a.name, &c.files[a.file],
		b.name, &c.files[b.file], c.files[a.file].name)
}

// Claim counts a sample.
func (c *cocoImages) Claim(f *vfs.File) {
	if len(c.fits(f.Path)) == 0 {
		c.missing++
		return
	}
	c.claimed = append(c.claimed, f.Path)
}

// list returns the files as --boxes names them.
func (c *cocoImages) list() []string {
	list := make([]string, len(c.files))
	for i := range c.files {
		list[i] = c.files[i].String()
	}
	return list
}

// from names the files.
func (c *cocoImages) from() string { return strings.Join(c.list(), ", ") }

func (c *cocoImages) summary(name string, kind formats.Kind, note string) Summary {
	s := Summary{Name: name, Kind: kind, From: c.from(), Found: c.found, Missing: c.missing, Note: note, Files: c.list()}
	for i, used := range c.used {
		if !used && c.entries[i].name != "" {
			s.Unused++
			s.Example = cmp.Or(s.Example, c.entries[i].name)
		}
	}
	if c.stray > 0 {
		s.Note += fmt.Sprintf("; %d annotated images are not listed in the file, such as %s", c.stray, c.strayExample)
	}
	for i := range c.files {
		if f := &c.files[i]; f.by != "" {
			s.Note += fmt.Sprintf("; %s is for the images in %s/, by %s", f.name, f.folder, f.by)
		}
	}
	if c.why != nil {
		s.Why = c.why.Error()
	}
	return s
}

// Claimed is called when all samples are claimed. If several of them fit one entry, or one fits entries of several files,
// it finds out which folder each file is for; an entry must not be given to several images.
func (c *cocoImages) Claimed() error {
	doubtful := c.doubtful()
	for k := range c.files {
		if err := c.narrow(int32(k), doubtful); err != nil {
			return fmt.Errorf("%s %s: %w", c.flag, &c.files[k], err)
		}
	}
	for _, rel := range c.claimed {
		i, err := c.find(rel)
		if err != nil {
			c.missing++
			if c.why == nil && len(c.fits(rel)) > 0 {
				c.why = fmt.Errorf("%s: %w", rel, err)
			}
			continue
		}
		c.found++
		c.used[i] = true
	}
	c.claimed = nil
	return nil
}

// doubtful returns the samples of each entry that fits several, or whose sample fits entries of several files.
func (c *cocoImages) doubtful() map[int32][]string {
	first := make([]int32, len(c.entries)) // the first sample of an entry, counted from 1
	doubt := map[int32][]string{}
	for k, rel := range c.claimed {
		fits := c.fits(rel)
		several := slices.ContainsFunc(fits, func(i int32) bool { return c.entries[i].file != c.entries[fits[0]].file })
		for _, i := range fits {
			if first[i] == 0 {
				first[i] = int32(k + 1)
			} else if doubt[i] == nil {
				doubt[i] = []string{c.claimed[first[i]-1]}
			}
			if doubt[i] != nil || several {
				doubt[i] = append(doubt[i], rel)
			}
		}
	}
	return doubt
}

// narrow sets the folder of a file if entries of it fit several samples. The error is about a file whose folder does not
// follow from its own place or name.
func (c *cocoImages) narrow(file int32, doubtful map[int32][]string) error {
	var mine [][]string
	var shared int32 = -1
	for _, i := range slices.Sorted(maps.Keys(doubtful)) {
		if c.entries[i].file != file {
			continue
		}
		if mine = append(mine, doubtful[i]); len(doubtful[i]) > 1 && shared < 0 {
			shared = i
		}
	}
	f := &c.files[file]
	if len(mine) > 0 && f.folder == "" {
		f.folder, f.by = f.guess(mine)
	}
	if f.folder != "" && f.by != "" || shared < 0 {
		return nil
	}
	a, b := doubtful[shared][0], doubtful[shared][1]
	err := fmt.Errorf("the entry %s fits %s and %s", c.entries[shared].name, a, b)
	if in := difference(a, b); in != "" {
		return fmt.Errorf("%w: say which images the file is for, such as %s=%s for those in %s/", err, in, f.name, in)
	}
	return fmt.Errorf("%w: leave one of them out with --exclude", err)
}

// guess returns the folder that tells the samples of each entry apart: the file's own, or the only one that its name has.
func (s *cocoSource) guess(samples [][]string) (folder, by string) {
	if s.own != "" && separates(s.own, samples) {
		return s.own, "its place"
	}
	for _, list := range samples {
		for _, rel := range list {
			for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
				if dir == folder || !hasWord(path.Base(s.name), path.Base(dir)) || !separates(dir, samples) {
					continue
				}
				if folder != "" {
					return "", ""
				}
				folder, by = dir, "its name"
			}
		}
	}
	return folder, by
}

// separates reports whether at most one sample of each entry is below a folder, and one at all.
func separates(folder string, samples [][]string) bool {
	any := false
	for _, list := range samples {
		n := 0
		for _, rel := range list {
			if below(rel, folder) {
				n++
			}
		}
		if n > 1 {
			return false
		}
		any = any || n == 1
	}
	return any
}

// hasWord reports whether a file's name has a word that no other letters adjoin: instances_train2017.json has train.
func hasWord(name, word string) bool {
	is, err := regexp.MatchString(`(^|\PL)`+regexp.QuoteMeta(word)+`(\PL|$)`, name)
	return err == nil && is
}

// difference returns the folder of one of two paths that the other is not in, "" if there is none.
func difference(a, b string) string {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		for at, r := range pair[0] {
			if dir := pair[0][:at]; r == '/' && !below(pair[1], dir) {
				return dir
			}
		}
	}
	return ""
}

// ownFolder returns the folder of the source that a file is in, "" for the root and for files elsewhere.
func ownFolder(in vfs.FS, name string) string {
	rel, err := in.Relative(in.Recorded(name))
	if err != nil || !filepath.IsLocal(filepath.FromSlash(rel)) || path.Dir(rel) == "." {
		return ""
	}
	return path.Dir(rel)
}

package annotations

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

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
	for at := 0; ; {
		k := strings.Index(name[at:], word)
		if k < 0 || word == "" {
			return false
		}
		at += k
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		after, _ := utf8.DecodeRuneInString(name[at+len(word):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		at += len(word)
	}
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

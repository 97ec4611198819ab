package vfs

import (
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Composed is the form of a name in which letters with accents are one character: macOS stores them as two, and tables
// and annotations that were written elsewhere do not.
func Composed(name string) string { return norm.NFC.String(name) }

// Spelling finds files whose names are composed otherwise than on the disk. It is for one goroutine.
type Spelling struct {
	in      FS
	folders map[string]map[string]string // of each folder: its names by the composed ones, "" for several
}

// NewSpelling returns a Spelling of the names in in.
func NewSpelling(in FS) *Spelling { return &Spelling{in, map[string]map[string]string{}} }

// Find returns the path that the disk has for p, which is not ASCII. It is "" if there is none, or several.
func (s *Spelling) Find(p string) string {
	if isASCII(p) || !filepath.IsLocal(filepath.FromSlash(p)) {
		return ""
	}
	found := ""
	for part := range strings.SplitSeq(p, "/") {
		if at := path.Join(found, part); isASCII(part) {
			found = at
			continue
		}
		name := s.names(found)[Composed(part)]
		if name == "" {
			return ""
		}
		found = path.Join(found, name)
	}
	if st, err := s.in.Lstat(found); err != nil || st.IsDir() {
		return ""
	}
	return found
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }

// names returns the names in a folder that are not ASCII.
func (s *Spelling) names(dir string) map[string]string {
	names, known := s.folders[dir]
	if known {
		return names
	}
	names = map[string]string{}
	s.folders[dir] = names
	f, err := s.in.OpenFolder(dir)
	if err != nil {
		return names // that it cannot be listed is the scan's to say
	}
	defer f.Close()
	for {
		entries, err := f.Next()
		if err != nil || len(entries) == 0 {
			return names
		}
		for _, e := range entries {
			composed := Composed(e.Name())
			_, twice := names[composed]
			switch {
			case isASCII(composed):
			case twice:
				names[composed] = ""
			default:
				names[composed] = e.Name()
			}
		}
	}
}

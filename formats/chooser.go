package formats

import (
	"fmt"
	"path"
	"strings"
	"sync/atomic"

	"github.com/bmatcuk/doublestar/v4"
)

// Chooser applies Patterns and remembers which of them fitted anything. It is safe for
// concurrent use.
type FileFilter struct {
	include, exclude []*pattern
}

// pattern is one pattern that is ready to be compared.
type pattern struct {
	text    string // as it was given
	file    func(rel string) bool
	folder  func(rel string) bool
	matched atomic.Bool
}

// Chooser compiles the patterns. The error names the first one that is malformed.
func (p Patterns) Compile() (*FileFilter, error) {
	c := new(FileFilter)
	for _, part := range []struct {
		texts []string
		to    *[]*pattern
	}{{p.Include, &c.include}, {p.Exclude, &c.exclude}} {
		for _, text := range part.texts {
			compiled, err := compile(text, p.Legacy)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q: %w", text, err)
			}
			*part.to = append(*part.to, compiled)
		}
	}
	return c, nil
}

// File reports whether the file at the relative path is chosen.
func (c *FileFilter) IncludesFile(rel string) bool {
	included, excluded := len(c.include) == 0, false
	for _, p := range c.include {
		included = p.matches(p.file, rel) || included
	}
	for _, p := range c.exclude {
		excluded = p.matches(p.file, rel) || excluded
	}
	return included && !excluded
}

// Folder reports whether the folder at the relative path is part of the source: no pattern of
// Exclude fits it. It need not be listed, otherwise.
func (c *FileFilter) IncludesFolder(rel string) bool {
	excluded := false
	for _, p := range c.exclude {
		excluded = p.matches(p.folder, rel) || excluded
	}
	return !excluded
}

// Unmatched are the patterns that fitted no file and no folder so far.
func (c *FileFilter) Unmatched() Patterns {
	return Patterns{Include: unmatched(c.include), Exclude: unmatched(c.exclude)}
}

func unmatched(patterns []*pattern) []string {
	var texts []string
	for _, p := range patterns {
		if !p.matched.Load() {
			texts = append(texts, p.text)
		}
	}
	return texts
}

func (p *pattern) matches(what func(string) bool, rel string) bool {
	ok := what(rel)
	if ok && !p.matched.Load() {
		p.matched.Store(true)
	}
	return ok
}

func never(string) bool { return false }

// compile finds out what a pattern is compared with; see Patterns.
func compile(text string, old bool) (*pattern, error) {
	p := &pattern{text: text, folder: never}
	if old || sameInLegacy(text) {
		_, err := path.Match(text, "")
		p.file = func(rel string) bool { return matchesLegacy(text, rel) }
		return p, err
	}
	glob, foldersOnly := strings.CutSuffix(literalBraces(text), "/")
	for strings.Contains(glob, "//") {
		glob = strings.ReplaceAll(glob, "//", "/")
	}
	for strings.HasPrefix(glob, "./") {
		glob = "/" + strings.TrimLeft(glob[2:], "/")
	}
	names := !strings.Contains(glob, "/")
	switch glob = strings.Trim(glob, "/"); {
	case glob == "" || glob == ".": // the source's folder
		glob, names, foldersOnly = "**/*", false, false
	case strings.HasSuffix(glob, "/**"):
		glob += "/*" // what is in the folder, not the folder itself
	}
	if !doublestar.ValidatePattern(glob) {
		return nil, path.ErrBadPattern
	}
	if names && !foldersOnly && !isPlainName(text) {
		p.file = func(rel string) bool { return doublestar.MatchUnvalidated(glob, path.Base(rel)) }
		return p, nil
	}
	if names {
		glob = "**/" + glob
	}
	p.folder = func(rel string) bool { return matchesFolder(glob, rel) }
	p.file = func(rel string) bool {
		return !foldersOnly && doublestar.MatchUnvalidated(glob, rel) || matchesFolder(glob, path.Dir(rel))
	}
	return p, nil
}

// fitsFolder reports whether the folder or one above it fits.
func matchesFolder(glob, rel string) bool {
	for ; rel != "." && rel != "/"; rel = path.Dir(rel) {
		if doublestar.MatchUnvalidated(glob, rel) {
			return true
		}
	}
	return false
}

func matchesLegacy(text, rel string) bool {
	if ok, _ := path.Match(text, rel); ok {
		return true
	}
	ok, _ := path.Match(text, path.Base(rel))
	return ok
}

// sameByOldRule reports whether a pattern means the same where Patterns.Legacy is set: one for
// names of files without what is new. So datasets that need no more are read by older versions.
func sameInLegacy(text string) bool {
	return text == "" || !strings.Contains(text, "/") && !strings.Contains(text, "[!") && !strings.Contains(text, ",") && !isPlainName(text)
}

// isWord reports whether text is a name that a folder might have: no wildcard, no extension.
func isPlainName(text string) bool {
	return !strings.ContainsAny(text, `*?[]{}\,/`) && strings.LastIndexByte(text, '.') <= 0
}

// literalBraces makes braces with no comma in them characters, as shells do.
func literalBraces(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
			continue
		case c == '{':
			if end := strings.IndexByte(text[i:], '}'); end > 0 && !strings.ContainsAny(text[i+1:i+end], "{,") {
				b.WriteString(`\{` + text[i+1:i+end] + `\}`)
				i += end
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

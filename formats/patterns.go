package formats

import (
	"fmt"
	"path"
	"strings"
	"sync/atomic"

	"github.com/bmatcuk/doublestar/v4"
)

// Patterns select files by their path relative to the source, '/'-separated. A file is selected
// if it matches one of Include (if there are any) and none of Exclude. The rules:
//
//   - "*" and "?" match characters other than "/", "[a-z]" one of several, "{a,b}" a or b,
//     "**" any number of folders; "\" escapes the next character. Matching is case-sensitive.
//   - A pattern with a "/" at its beginning or inside is compared with the path relative to the
//     source: "train/*/a.jpg", "/test".
//   - A pattern that ends in "/", such as "test/", matches only folders.
//   - A pattern without "/" is compared with file names, such as "*.png"; a plain name without
//     wildcards and extension, such as "test", with names of files and of folders.
//   - A pattern that matches a folder matches all that is in it: "test/*" matches all below test/.
type Patterns struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// PatternsFromRecipe reads what Patterns.Recipe wrote.
func PatternsFromRecipe(recipe map[string]string) (p Patterns) {
	if list := recipe["include"]; list != "" {
		p.Include = ParsePatterns(list)
	}
	if list := recipe["exclude"]; list != "" {
		p.Exclude = ParsePatterns(list)
	}
	return p
}

// Recipe returns the entries of Meta.Recipe for the patterns.
func (p Patterns) Recipe() map[string]string {
	m := map[string]string{}
	if len(p.Include) > 0 {
		m["include"] = joinPatterns(p.Include)
	}
	if len(p.Exclude) > 0 {
		m["exclude"] = joinPatterns(p.Exclude)
	}
	return m
}

// Validate returns an error that names the first malformed pattern.
func (p Patterns) Validate() error {
	_, err := p.Compile()
	return err
}

// ParsePatterns splits a list at its commas, except those in {a,b}, in [,] and in "\,".
func ParsePatterns(list string) []string {
	var patterns []string
	from := 0
	for _, at := range separatorCommas(list) {
		patterns = append(patterns, list[from:at])
		from = at + 1
	}
	return append(patterns, list[from:])
}

func joinPatterns(patterns []string) string {
	quoted := make([]string, len(patterns))
	for i, p := range patterns {
		commas := separatorCommas(p)
		for k := len(commas) - 1; k >= 0; k-- {
			p = p[:commas[k]] + `\` + p[commas[k]:]
		}
		quoted[i] = p
	}
	return strings.Join(quoted, ",")
}

// separatorCommas returns the offsets of the commas that separate patterns.
func separatorCommas(list string) []int {
	var at []int
	braces, class := 0, false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			braces++
		case c == '}' && braces > 0:
			braces--
		case c == ',' && braces == 0:
			at = append(at, i)
		}
	}
	return at
}

// String formats the patterns as flags of a command.
func (p Patterns) String() string {
	var flags []string
	for _, text := range p.Include {
		flags = append(flags, fmt.Sprintf("--include %q", text))
	}
	for _, text := range p.Exclude {
		flags = append(flags, fmt.Sprintf("--exclude %q", text))
	}
	return strings.Join(flags, ", ")
}

// FileFilter applies Patterns and remembers which of them matched anything. It is safe for
// concurrent use.
type FileFilter struct {
	include, exclude []*pattern
}

// pattern is one compiled pattern.
type pattern struct {
	text    string // as the user wrote it
	file    func(rel string) bool
	folder  func(rel string) bool
	matched atomic.Bool
}

// Compile returns the filter of the patterns. The error names the first malformed one.
func (p Patterns) Compile() (*FileFilter, error) {
	c := new(FileFilter)
	for _, list := range []struct {
		texts    []string
		compiled *[]*pattern
	}{{p.Include, &c.include}, {p.Exclude, &c.exclude}} {
		for _, text := range list.texts {
			compiled, err := compile(text)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", text, err)
			}
			*list.compiled = append(*list.compiled, compiled)
		}
	}
	return c, nil
}

// IncludesFile reports whether the file at the relative path is selected.
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

// IncludesFolder reports whether the folder at the relative path must be listed: no Exclude
// pattern matches it.
func (c *FileFilter) IncludesFolder(rel string) bool {
	excluded := false
	for _, p := range c.exclude {
		excluded = p.matches(p.folder, rel) || excluded
	}
	return !excluded
}

// Unmatched returns the patterns that have matched no file and no folder so far.
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

func (p *pattern) matches(match func(string) bool, rel string) bool {
	ok := match(rel)
	if ok && !p.matched.Load() {
		p.matched.Store(true)
	}
	return ok
}

func never(string) bool { return false }

// compile decides what a pattern is compared with; see Patterns.
func compile(text string) (*pattern, error) {
	p := &pattern{text: text, folder: never}
	if text == "" || !strings.ContainsAny(text, "/,") && !strings.Contains(text, "[!") && !isPlainName(text) { // of names alone
		_, err := path.Match(text, "")
		p.file = func(rel string) bool { ok, _ := path.Match(text, path.Base(rel)); return ok }
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

// matchesFolder reports whether the folder or one above it matches.
func matchesFolder(glob, rel string) bool {
	for ; rel != "." && rel != "/"; rel = path.Dir(rel) {
		if doublestar.MatchUnvalidated(glob, rel) {
			return true
		}
	}
	return false
}

// isPlainName reports whether text may name a folder: it has no wildcard and no extension.
func isPlainName(text string) bool {
	return !strings.ContainsAny(text, `*?[]{}\,/`) && strings.LastIndexByte(text, '.') <= 0
}

// literalBraces escapes braces without a comma, which are ordinary characters, as in shells.
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

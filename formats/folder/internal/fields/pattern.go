package fields

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// placeholder is a part of a path that a pattern names.
type placeholder int

const (
	keyPart placeholder = iota
	stemPart
	dirPart
	splitPart
	classPart
	placeholders // how many there are
)

var placeholderNames = [placeholders]string{"key", "stem", "dir", "split", "class"}

// partValues are what the placeholders stand for in the paths of one sample.
type partValues [placeholders]string

// maxStars bounds the wildcards of a pattern: matching tries all ways to divide a name among them.
const maxStars = 4

// pattern is a path relative to the root with {key}, {stem}, {dir}, {split}, {class} and *, which matches any
// characters but / and a dot.
type pattern struct {
	text  string
	parts []patternPart
	names []placeholder // by group of the expression
	re    *regexp.Regexp
}

// patternPart is a literal, a placeholder or a wildcard.
type patternPart struct {
	literal string
	is      placeholder // -1 for a literal, -2 for *
}

const (
	literalPart placeholder = -1
	starPart    placeholder = -2
)

var patternToken = regexp.MustCompile(`\{[^{}]*\}|\*`)

// parsePattern reads a pattern. The error says what it must be.
func parsePattern(text string) (*pattern, error) {
	if text == "" || !filepath.IsLocal(filepath.FromSlash(text)) || path.Clean(text) != text {
		return nil, fmt.Errorf("the pattern %q is not a path in the source's folder, such as masks/{key}.png", text)
	}
	p := &pattern{text: text}
	at, stars := 0, 0
	literal := func(s string) {
		if s != "" {
			p.parts = append(p.parts, patternPart{s, literalPart})
		}
	}
	for _, span := range patternToken.FindAllStringIndex(text, -1) {
		token := text[span[0]:span[1]]
		literal(text[at:span[0]])
		at = span[1]
		if token == "*" {
			stars++
			p.parts = append(p.parts, patternPart{is: starPart})
			continue
		}
		is := placeholder(slices.Index(placeholderNames[:], token[1:len(token)-1]))
		if is < 0 {
			return nil, fmt.Errorf("the pattern %q has %s: use {key}, {stem}, {dir}, {split} or {class}", text, token)
		}
		p.parts = append(p.parts, patternPart{is: is})
	}
	literal(text[at:])
	switch {
	case stars > maxStars:
		return nil, fmt.Errorf("the pattern %q has more than %d *", text, maxStars)
	case !slices.ContainsFunc(p.parts, func(q patternPart) bool { return q.is >= 0 }):
		return nil, fmt.Errorf("the pattern %q names the same file for each sample: use {key} (a sample's key) or {stem} (the image's name without extension)", text)
	}
	return p, p.compile()
}

// compile makes the expression that finds the pattern's files. The case of extensions does not matter.
func (p *pattern) compile() (err error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i, q := range p.parts {
		switch q.is {
		case literalPart:
			text := q.literal
			if i > 0 && p.parts[i-1].is == dirPart {
				text = strings.TrimPrefix(text, "/") // part of the folder, which may be the root
			}
			if i == len(p.parts)-1 {
				ext := path.Ext(text)
				b.WriteString(regexp.QuoteMeta(text[:len(text)-len(ext)]) + `(?i:` + regexp.QuoteMeta(ext) + `)`)
				continue
			}
			b.WriteString(regexp.QuoteMeta(text))
		case starPart:
			b.WriteString(`[^/.]*`)
		case keyPart:
			b.WriteString(`(.+)`)
		case dirPart:
			if i+1 < len(p.parts) && strings.HasPrefix(p.parts[i+1].literal, "/") {
				b.WriteString(`(?:(.+)/)?`)
			} else {
				b.WriteString(`(.+)`)
			}
		default:
			b.WriteString(`([^/]+)`)
		}
		if q.is >= 0 {
			p.names = append(p.names, q.is)
		}
	}
	p.re, err = regexp.Compile(b.String() + `$`)
	return err
}

// has reports whether the pattern uses the placeholder.
func (p *pattern) has(is placeholder) bool { return slices.Contains(p.names, is) }

// matches reports whether the file at a relative path has the form of the pattern.
func (p *pattern) matches(rel string) bool {
	if len(p.names) == 1 {
		return p.re.MatchString(rel)
	}
	_, ok := p.find(rel)
	return ok
}

// find returns what the placeholders stand for in a path. One that occurs twice stands for the same.
func (p *pattern) find(rel string) (v partValues, ok bool) {
	groups := p.re.FindStringSubmatch(rel)
	if groups == nil {
		return v, false
	}
	var seen [placeholders]bool
	for i, name := range p.names {
		if seen[name] && v[name] != groups[i+1] {
			return v, false
		}
		v[name], seen[name] = groups[i+1], true
	}
	return v, true
}

// expand returns the path of a sample's file, in the texts between the wildcards.
func (p *pattern) expand(v *partValues) []string {
	segments := []string{""}
	last := &segments[0]
	for i, q := range p.parts {
		switch {
		case q.is == starPart:
			segments = append(segments, "")
			last = &segments[len(segments)-1]
		case q.is != literalPart:
			*last += v[q.is]
		case i > 0 && p.parts[i-1].is == dirPart && v[dirPart] == "":
			*last += strings.TrimPrefix(q.literal, "/")
		default:
			*last += q.literal
		}
	}
	return segments
}

// foldExtension is the form of paths in which the case of extensions does not matter.
func foldExtension(rel string) string {
	ext := path.Ext(rel)
	return rel[:len(rel)-len(ext)] + strings.ToLower(ext)
}

// matchSegments reports whether s is the segments with a wildcard between each two.
func matchSegments(s string, segments []string) bool {
	rest, ok := strings.CutPrefix(s, segments[0])
	if !ok || len(segments) == 1 {
		return ok && rest == ""
	}
	for n := 0; ; n++ {
		if matchSegments(rest[n:], segments[1:]) {
			return true
		}
		if n == len(rest) || rest[n] == '/' || rest[n] == '.' {
			return false
		}
	}
}

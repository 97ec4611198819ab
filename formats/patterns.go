package formats

import (
	"fmt"
	"strings"
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

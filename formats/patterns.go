package formats

import (
	"fmt"
	"strings"
)

// Patterns choose files by their path relative to the source, '/'-separated: a file that fits
// one of Include, if there are any, and none of Exclude. The rule:
//
//   - "*" and "?" stand for characters other than "/", "[a-z]" for one of several, "{a,b}" for
//     a or b, "**" for any number of folders; "\" takes the next character as it is. Case counts.
//   - A pattern with a "/" at its beginning or within it is compared with the path from the
//     source's folder on: "train/*/a.jpg", "/test".
//   - One that ends in "/", "test/", is compared with folders only.
//   - One without any "/" is compared with names of files, "*.png"; a plain word without wildcards
//     and without an extension, "test", with names of files and of folders.
//   - A pattern that fits a folder takes all that is in it: so "test/*" takes all below test/.
type Patterns struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// Old makes them mean what they meant to versions that knew no folders: path.Match with
	// the path or with its last element. Recipes of such versions are read so.
	Legacy bool `json:"-"`
}

// PatternRuleKey is the entry of a recipe whose patterns need the rule of folders.
const PatternRuleKey = "pattern-rule"

// PatternsOf reads what Patterns.Recipe wrote, by this version or an older one.
func PatternsFromRecipe(recipe map[string]string) Patterns {
	split := SplitPatterns
	p := Patterns{Legacy: recipe[PatternRuleKey] == ""}
	if p.Legacy {
		split = func(list string) []string { return strings.Split(list, ",") }
	}
	if list := recipe["include"]; list != "" {
		p.Include = split(list)
	}
	if list := recipe["exclude"]; list != "" {
		p.Exclude = split(list)
	}
	return p
}

// Recipe is what of the patterns goes into Meta.Recipe.
func (p Patterns) Recipe() map[string]string {
	m := map[string]string{}
	if len(p.Include) > 0 {
		m["include"] = joinPatterns(p.Include)
	}
	if len(p.Exclude) > 0 {
		m["exclude"] = joinPatterns(p.Exclude)
	}
	if p.DiffersFromLegacy() && !p.Legacy {
		m[PatternRuleKey] = "2"
	}
	return m
}

// NeedFolders reports whether a pattern means something else where Old is set.
func (p Patterns) DiffersFromLegacy() bool {
	for _, list := range [][]string{p.Include, p.Exclude} {
		for _, pattern := range list {
			if !sameInLegacy(pattern) {
				return true
			}
		}
	}
	return false
}

// Validate names the first pattern that is malformed.
func (p Patterns) Validate() error {
	_, err := p.Compile()
	return err
}

// SplitPatterns takes a list apart at its commas, but for those in {a,b}, in [,] and in "\,".
func SplitPatterns(list string) []string {
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

// freeCommas are the places of the commas that separate patterns.
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

// String lists the patterns as flags of a command.
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

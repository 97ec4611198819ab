package formats

import (
	"fmt"
	"path"
	"strings"
)

// Patterns choose files: one that fits one of Include, if there are any, and none of
// Exclude. A pattern is one of path.Match and is compared with the whole relative path and
// with its last element.
type Patterns struct {
	Include, Exclude []string
}

// Validate names the first pattern that is malformed.
func (p Patterns) Validate() error {
	for _, list := range [][]string{p.Include, p.Exclude} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("the pattern %q: %w", pattern, err)
			}
		}
	}
	return nil
}

// Match says whether the file at the relative path rel is chosen.
func (p Patterns) Match(rel string) bool {
	return (len(p.Include) == 0 || matchAny(p.Include, rel)) && !matchAny(p.Exclude, rel)
}

// Recipe is what of the patterns goes into Meta.Recipe.
func (p Patterns) Recipe() map[string]string {
	m := map[string]string{}
	if len(p.Include) > 0 {
		m["include"] = strings.Join(p.Include, ",")
	}
	if len(p.Exclude) > 0 {
		m["exclude"] = strings.Join(p.Exclude, ",")
	}
	return m
}

func matchAny(patterns []string, rel string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, rel); ok {
			return true
		}
		if ok, _ := path.Match(p, path.Base(rel)); ok {
			return true
		}
	}
	return false
}

package formats_test

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// FuzzPatterns: patterns that are valid match without an error, and what is excluded is
// never chosen.
func FuzzPatterns(f *testing.F) {
	f.Add("*.jpg", "bad*", "a/bad.jpg")
	f.Add("[", "\\", "x")
	f.Add("**/{a,b}/", "test", "x/test/a.jpg")
	f.Add("[a-z]?/*", "[^\xff]", "b1/日本")
	f.Add(strings.Repeat("*a", 30), "", strings.Repeat("a", 60)+"b")
	f.Fuzz(func(t *testing.T, include, exclude, rel string) {
		p := formats.Patterns{Include: []string{include}, Exclude: []string{exclude}}
		chosen, err := p.Compile()
		if err != nil {
			return
		}
		out, err := formats.Patterns{Include: []string{exclude}}.Compile()
		if err != nil {
			t.Fatalf("%q can exclude and not include: %v", exclude, err)
		}
		if chosen.IncludesFile(rel) && out.IncludesFile(rel) {
			t.Fatalf("%q is excluded by %q and chosen", rel, exclude)
		}
		if back := formats.PatternsFromRecipe(p.Recipe()); !slices.Equal(back.Include, p.Include) && freeOfCommas(include) {
			t.Fatalf("the recipe gives %q for %q", back.Include, p.Include)
		}
	})
}

// freeOfCommas reports whether a list of that pattern has one element, whose text stays.
func freeOfCommas(pattern string) bool { return pattern != "" && !strings.Contains(pattern, ",") }

// FuzzKey: a key that is taken is a path that stays in its folder, with and without an
// extension.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"a/b.c", "../a", "/a", "a//b", "a\x00", "\xff", ".", "a/.", "...", "-x", "a\\..\\b", "\u202e"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if formats.CheckKey(key) != nil {
			return
		}
		if !filepath.IsLocal(key) || path.Clean(key) != key || !strings.HasPrefix(filepath.Join("root", key+".jpg"), "root/") || len(key) > formats.MaxKey {
			t.Fatalf("%q is taken", key)
		}
	})
}

// FuzzSniff: the first bytes decide, and never more than there are.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff"))
	f.Add([]byte("II*"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if enc := formats.Sniff(data); enc != "" && enc.Extension() == "" {
			t.Fatalf("%q is no encoding of images", enc)
		}
	})
}

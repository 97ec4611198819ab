package formats_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// FuzzPatterns: patterns that are valid match without an error, and what is excluded is
// never chosen.
func FuzzPatterns(f *testing.F) {
	f.Add("*.jpg", "bad*", "a/bad.jpg")
	f.Add("[", "\\", "x")
	f.Add("[a-z]?/*", "[^\xff]", "b1/日本")
	f.Add(strings.Repeat("*a", 30), "", strings.Repeat("a", 60)+"b")
	f.Fuzz(func(t *testing.T, include, exclude, rel string) {
		p := formats.Patterns{Include: []string{include}, Exclude: []string{exclude}}
		if p.Validate() != nil {
			return
		}
		if _, err := path.Match(include, rel); err != nil {
			t.Fatalf("%q is valid and fails on %q: %v", include, rel, err)
		}
		if out := (formats.Patterns{Include: []string{exclude}}); p.Match(rel) && out.Match(rel) {
			t.Fatalf("%q is excluded by %q and chosen", rel, exclude)
		}
	})
}

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

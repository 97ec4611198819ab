package formatcheck

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"
)

// ReadTree reads all files under dir by their names relative to it, '/'-separated.
func ReadTree(dir string) (map[string]string, error) {
	files := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		files[name] = string(b)
		return err
	})
	return files, err
}

// Tree is ReadTree for a test.
func Tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files, err := ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// SameTrees wants the same files with the same bytes in both.
func SameTrees(t testing.TB, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch content, ok := got[name]; {
		case !ok:
			t.Errorf("%s is missing", name)
		case content != want[name]:
			t.Errorf("%s has %d bytes, and not the same as the %d of the other run", name, len(content), len(want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is in one run only", name)
		}
	}
}

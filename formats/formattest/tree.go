package formattest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree reads all files under dir by their names relative to it.
func tree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[rel], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameTree wants the same files with the same bytes in both folders.
func sameTree(t *testing.T, got, want string) {
	t.Helper()
	a, b := tree(t, got), tree(t, want)
	for _, name := range slices.Sorted(maps.Keys(b)) {
		switch x, ok := a[name]; {
		case !ok:
			t.Errorf("%s is missing", name)
		case string(x) != string(b[name]):
			t.Errorf("%s has %d bytes, and not the same as the %d of the other run", name, len(x), len(b[name]))
		}
		delete(a, name)
	}
	for name := range a {
		t.Errorf("%s is in one run only", name)
	}
}

// entries are the names in a folder.
func entries(t testing.TB, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

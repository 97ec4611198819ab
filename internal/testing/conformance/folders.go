package conformance

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// sameFolders wants the same files with the same bytes in both folders.
func sameFolders(t testing.TB, got, want string) {
	t.Helper()
	formatcheck.SameTrees(t, formatcheck.Tree(t, got), formatcheck.Tree(t, want))
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

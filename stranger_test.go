package dsconv_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestNobodyIsSentToTheOtherDsconv: package indexes have another project of the name.
func TestNobodyIsSentToTheOtherDsconv(t *testing.T) {
	advice := regexp.MustCompile(`pip3? install ["'` + "`" + `]?dsconv\b`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (path == ".git" || path == "build" || path == "bin") {
			return filepath.SkipDir
		}
		if slices.Contains([]string{".go", ".py", ".md", ".txt"}, filepath.Ext(path)) && advice.MatchString(read(t, path)) {
			t.Errorf("%s: %s", path, advice.FindString(read(t, path)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

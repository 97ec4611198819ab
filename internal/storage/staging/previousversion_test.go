package staging

import (
	"os"
	"path/filepath"
	"testing"
)

// A stop between two of the links to the files that both versions have is made good: at whatever
// step, the links are made again.
func TestKeepingGoesOnFromEveryLink(t *testing.T) {
	dir := t.TempDir()
	s := newStage(t, filepath.Join(dir, "x-%d"), true)
	must(t, os.Mkdir(s.file(replacedName), 0o755))
	s.KeepPrevious()
	s.reused = []string{filepath.Join(dir, "x-0"), filepath.Join(dir, "x-1")}
	for _, file := range s.reused {
		if err := s.preparePrevious(); err == nil {
			t.Fatalf("%s is kept before it is there", file)
		}
		must(t, os.WriteFile(file, []byte("old"), 0o644))
		must(t, os.WriteFile(s.file(filepath.Join(replacedName, ".kept.json.d44673e1.dsconv-new")), nil, 0o644))
		must(t, s.dropPreparedPrevious())
	}
	must(t, s.preparePrevious())
	must(t, s.dropPreparedPrevious())
	entries, err := os.ReadDir(s.file(replacedName))
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("%v is left", entries)
	}
	for _, file := range s.reused {
		if b, err := os.ReadFile(file); string(b) != "old" {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	must(t, s.Close())
}

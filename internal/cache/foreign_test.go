//go:build linux

package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that has a cache's name and is none stays, whether a cache is opened under its name or
// under another.
func TestForeignFilesStay(t *testing.T) {
	dir := memoryDir(t)
	for _, name := range []string{"a", "b"} {
		mine := filepath.Join(dir, prefix()+name)
		if err := os.WriteFile(mine, []byte("notes of mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Open(Config{Dir: dir, Name: "a", Limit: 1 << 20, Samples: 10}); err == nil {
			if name == "a" {
				t.Error("it was opened")
			}
			_ = c.Close()
		}
		if b, err := os.ReadFile(mine); err != nil || string(b) != "notes of mine" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if err := os.Remove(mine); err != nil {
			t.Error(err)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The slow disk has the files of the folder, and each read of one takes its time, also when it was read before.
func TestSlowDisk(t *testing.T) {
	source, slow := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(source, "class"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "class", "a.jpg"), []byte("an image"), 0o644); err != nil {
		t.Fatal(err)
	}
	unmount, err := mountSlow(source, slow)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	defer unmount()
	for range 2 {
		begin := time.Now()
		data, err := os.ReadFile(filepath.Join(slow, "class", "a.jpg"))
		if err != nil || string(data) != "an image" {
			t.Fatalf("%q, %v", data, err)
		}
		if took := time.Since(begin); took < slowRead {
			t.Errorf("reading took %v, want at least %v", took, slowRead)
		}
	}
	if err := os.WriteFile(filepath.Join(slow, "class", "b.jpg"), nil, 0o644); err == nil {
		t.Error("the slow disk could be written to")
	}
}

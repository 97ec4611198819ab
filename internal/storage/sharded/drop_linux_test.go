package sharded

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// dropFile takes a file out of the page cache.
func dropFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Skipf("the file cannot be dropped: %v", err)
	}
}

package indexfile

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// On a full disk the index is made elsewhere, and nothing stays.
func TestCacheOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil { // busy if a file were left open
			t.Error(err)
		}
	}()
	t.Setenv("XDG_CACHE_HOME", disk)
	var keys []string
	for i := range 10_000 {
		keys = append(keys, fmt.Sprintf("%08d", i))
	}
	s := sourceOf("x", keys...)
	for range 2 {
		if key := open(t, s); key != keys[0] {
			t.Errorf("the key %s", key)
		}
	}
	if names := namesIn(t, disk+"/dsconv/indexes"); len(names) > 0 {
		t.Errorf("left: %q", names)
	}
	// Nor where nothing can be written.
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if key := open(t, s); key != keys[0] {
		t.Errorf("the key %s", key)
	}
	if _, err := os.Stat(cachePath(s.ID)); err == nil {
		t.Error("an index was written to a disk that cannot be written")
	}
}

package extsort

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil { // busy if a file were left open
			t.Error(err)
		}
	}()
	s := New(disk, 20_000)
	var err error
	for i := 0; err == nil && i < 100_000; i++ {
		err = s.Add([]byte("key"), []byte("value"))
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), disk+": no space left on device; free space there") {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

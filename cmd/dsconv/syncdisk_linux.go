package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk waits until everything written to the file system of f is on the disk.
func syncDisk(f *os.File) error {
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", f.Name(), err)
	}
	return nil
}

//go:build !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk asks for all that was written to be put on the disk.
func syncDisk(*os.File) error { return unix.Sync() }

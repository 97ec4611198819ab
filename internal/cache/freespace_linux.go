package cache

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// FreeSpace is the free space of dir's file system for this user; dir may be a file.
func FreeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return spaceOf(&st), nil
}

func spaceOf(st *unix.Statfs_t) int64 {
	if st.Blocks == 0 { // a tmpfs without a limit
		return math.MaxInt64
	}
	block := uint64(st.Bsize)
	return int64(min(st.Bavail, math.MaxInt64/block) * block)
}

// checkSpace replaces allocate on file systems that cannot reserve space: it only checks that twice n
// bytes are free now.
func checkSpace(f *os.File, n int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if spaceOf(&st)/2 < n {
		return unix.ENOSPC
	}
	return nil
}

// sizeOf is the file's size. It is called for each sample: os.File.Stat would allocate, and make the
// workers share a counter.
func sizeOf(fd int) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	return st.Size, nil
}

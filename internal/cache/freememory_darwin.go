package cache

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate cannot set blocks aside where a file has a hole.
func allocate(f *os.File, _, n int64) error { return checkSpace(f, n) }

// freeMemory is half of the machine's: what is in use is mostly files, and the system does
// not say what it could take back.
func freeMemory() (int64, error) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, fmt.Errorf("free memory: %w", err)
	}
	return int64(total / 2), nil
}

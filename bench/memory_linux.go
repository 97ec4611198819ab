package bench

import (
	"os"

	"github.com/dsconv/dsconv/internal/procmemory"
)

// residentNow reads the counters; zeros if they cannot be read.
func residentNow() resident {
	f := fields("/proc/self/status")
	return resident{now: f["VmRSS"], peak: f["VmHWM"], mapped: f["RssFile"] + f["RssShmem"]}
}

// resetPeak sets the high-water mark to what is resident now and reports whether it could.
func resetPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

func totalMemory() int64 { return fields("/proc/meminfo")["MemTotal"] }

// fields reads the lines "Name:  123 kB" of a file, in bytes; none if it cannot be read.
func fields(path string) map[string]int64 {
	m, err := procmemory.Sizes(path)
	if err != nil {
		return nil
	}
	return m
}

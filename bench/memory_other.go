//go:build !linux

package bench

// resident is what the process has in memory, in bytes.
type resident struct {
	now, peak, mapped int64
}

// residentNow knows the process's peak alone.
func residentNow() resident { return resident{peak: peakMemory()} }

// resetPeak says that the high-water mark cannot be reset.
func resetPeak() bool { return false }

func totalMemory() int64 { return 0 }

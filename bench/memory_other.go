//go:build !linux

package bench

// residentNow knows nothing.
func residentNow() resident { return resident{} }

// resetPeak reports that the high-water mark cannot be reset.
func resetPeak() bool { return false }

func totalMemory() int64 { return 0 }

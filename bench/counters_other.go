//go:build !linux

package bench

import "errors"

// readCounters fails: only Linux has the counters.
func readCounters() (Counters, error) {
	return Counters{}, errors.New("only Linux tells what a process waits for")
}

// residentNow knows nothing.
func residentNow() resident { return resident{} }

// resetPeak reports that the high-water mark cannot be reset.
func resetPeak() bool { return false }

func totalMemory() int64 { return 0 }

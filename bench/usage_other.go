//go:build !unix

package bench

import "time"

// cpuTime is not known.
func cpuTime() time.Duration { return 0 }

// peakMemory is not known.
func peakMemory() int64 { return 0 }

//go:build !unix

package bench

import "time"

// cpuTime is not known.
func cpuTime() time.Duration { return 0 }

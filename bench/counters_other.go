//go:build !linux

package bench

import "errors"

// readCounters fails: only Linux has the counters.
func readCounters() (Counters, error) {
	return Counters{}, errors.New("only Linux tells what a process waits for")
}

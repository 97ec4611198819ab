package main

import "golang.org/x/sys/unix"

// monotonic is the time of the clock that Python's time.perf_counter reads, in seconds.
func monotonic() float64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

//go:build !linux

package main

// monotonic is 0: the clock of Python's time.perf_counter is not known here.
func monotonic() float64 { return 0 }

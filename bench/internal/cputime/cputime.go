// Package cputime reads the CPU time of this process.
package cputime

import (
	"syscall"
	"time"
)

// Own is the CPU time of this process so far, user and system; 0 if the system does not say.
func Own() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package monitor

import (
	"cmp"
	"fmt"
	"os"
	"time"
)

// Options say what a Monitor watches. The zero value watches this process.
type Options struct {
	// PID is the process that is watched with its descendants, such as a training script; 0 is this process.
	PID int
	// Interval is the time between two samples; 0 is 200 ms. It grows in long runs, see Record.
	Interval time.Duration
}

// shortest is the shortest interval: a sample must cost little of it.
const shortest = 10 * time.Millisecond

func (o Options) withDefaults() (Options, error) {
	o.PID = cmp.Or(o.PID, os.Getpid())
	o.Interval = cmp.Or(o.Interval, 200*time.Millisecond)
	if o.PID < 0 {
		return o, fmt.Errorf("monitor: process %d: give the number of a process, or 0 for this one", o.PID)
	}
	if o.Interval < shortest {
		return o, fmt.Errorf("monitor: an interval of %v is too short: give at least %v, or 0 for 200ms", o.Interval, shortest)
	}
	return o, nil
}

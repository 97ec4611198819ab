//go:build linux

package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// Before each batch of a cold pass, coldBytes of other memory are read, more than the caches hold: a
// training decodes and copies images in between.
const (
	coldBytes  = 64 << 20
	fewDivisor = 20 // a pass of few reads has a 20th of them
)

var otherMemory = sync.OnceValue(func() []byte {
	b := make([]byte, coldBytes)
	for i := range b {
		b[i] = byte(i | 1)
	}
	return b
})

// spent is the time that one goroutine took.
type spent struct{ wall, cpu time.Duration }

// run does a pass over the dataset on so many goroutines and records the time per read.
func (s *settings) run(p pass, sub *subject, workers int) error {
	if p.prepare != nil {
		if err := p.prepare(sub); err != nil {
			return err
		}
	}
	n, step := len(sub.indices), len(sub.indices)
	if p.few {
		n, step = max(1, n/fewDivisor), batch
	}
	now := threadTime
	if workers == 1 {
		now = processTime // which includes the dataset's own goroutines
	}
	all := make([]spent, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var smp formats.Sample
			to := (w + 1) * n / workers
			for from := w * n / workers; from < to && errs[w] == nil; from += step {
				if p.cold {
					touch(otherMemory())
				}
				errs[w] = all[w].add(now, func() error { return p.some(sub, from, min(from+step, to), &smp) })
			}
		})
	}
	wg.Wait()
	var sum spent
	for _, t := range all {
		sum.wall, sum.cpu = sum.wall+t.wall, sum.cpu+t.cpu
	}
	name := fmt.Sprintf("%s, %d", p.name, workers)
	sub.m.Nanoseconds[name] = append(sub.m.Nanoseconds[name], float64(sum.wall)/float64(n))
	sub.m.CPU[name] = append(sub.m.CPU[name], float64(sum.cpu)/float64(n))
	return errors.Join(errs...)
}

func (p pass) some(sub *subject, from, to int, smp *formats.Sample) error {
	for k := from; k < to; k++ {
		if err := p.read(sub, k, smp); err != nil {
			return err
		}
	}
	return nil
}

// add adds the time that do takes.
func (t *spent) add(cpuTime func() time.Duration, do func() error) error {
	start, cpu := time.Now(), cpuTime()
	err := do()
	t.wall, t.cpu = t.wall+time.Since(start), t.cpu+cpuTime()-cpu
	return err
}

func threadTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

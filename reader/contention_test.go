package reader_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
)

// contention counts the waits for locks that were released in the making of samples, by stack.
func contention(t *testing.T) map[string]int64 {
	t.Helper()
	records := make([]runtime.BlockProfileRecord, 4096)
	n, ok := runtime.MutexProfile(records)
	if !ok {
		t.Fatalf("%d stacks", n)
	}
	counts := map[string]int64{}
	for _, r := range records[:n] {
		var stack []string
		for frames := runtime.CallersFrames(r.Stack()); ; {
			f, more := frames.Next()
			stack = append(stack, f.Function)
			if !more {
				break
			}
		}
		// The runtime's own locks, of memory above all, are no lock of the loader's. Those of a
		// sync.Pool are taken once a thread after each garbage collection, not for each sample.
		whole := strings.Join(stack, "\n")
		ours := !strings.HasPrefix(whole, "runtime.") && !strings.Contains(whole, "sync.(*Pool).pinSlow")
		if ours && strings.Contains(whole, "reader.(*worker).fill") {
			counts[whole] += r.Count
		}
	}
	return counts
}

// TestNoLockInTheSamplePath: workers do not wait for each other where a sample is made.
func TestNoLockInTheSamplePath(t *testing.T) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	c := newCorpus(t, 60, packings())
	for d, ds := range c.datasets(t) {
		if waits := waitsOf(t, ds); len(waits) > 0 {
			t.Errorf("%s: %s", c.stored[d].name, strings.Join(waits, "\n\n"))
		}
	}
	if waits := waitsOf(t, &locked{Dataset: c.open(t, c.stored[0])}); len(waits) == 0 {
		t.Error("a dataset with one lock for all does not show in the profile: this test sees nothing")
	}
}

// waitsOf gives the stacks of some epochs' waits.
func waitsOf(t *testing.T, ds formats.Dataset) (waits []string) {
	t.Helper()
	config := training()
	config.Shuffle, config.Workers, config.Fields = true, 8, extraFields
	l := newLoader(t, ds, config)
	before := contention(t)
	for epoch := range 4 {
		for _, err := range l.Epoch(t.Context(), epoch) {
			must(t, err)
		}
	}
	for stack, n := range contention(t) {
		if n -= before[stack]; n > 0 {
			waits = append(waits, fmt.Sprintf("%d waits for what is released in\n%s", n, stack))
		}
	}
	return waits
}

// locked is a dataset that is read by one goroutine at a time. The one that reads gives another
// the time to come to the lock.
type locked struct {
	formats.Dataset
	mu      sync.Mutex
	waiting atomic.Int64
}

func (d *locked) Read(i int, s *formats.Sample) error {
	d.waiting.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting.Add(-1)
	for pause := 0; pause < 10 && d.waiting.Load() == 0; pause++ {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Microsecond) // from having said that it comes to waiting
	return d.Dataset.Read(i, s)
}

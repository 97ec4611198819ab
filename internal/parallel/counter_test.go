package parallel

import (
	"sync"
	"testing"
)

// TestCounter: the last call has all that was added, and no two calls overlap.
func TestCounter(t *testing.T) {
	var calls sync.Mutex
	last := 0
	c := Counter{Show: func(done int) {
		if !calls.TryLock() {
			t.Error("two calls at a time")
			return
		}
		defer calls.Unlock()
		if done < last {
			t.Errorf("%d after %d", done, last)
		}
		last = done
	}}
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			for range 10000 {
				c.Add(1)
			}
		})
	}
	g.Wait()
	c.End()
	if last != 80000 {
		t.Error(last)
	}
	(&Counter{}).Add(1) // shows nothing
}

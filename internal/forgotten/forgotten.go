// Package forgotten closes what a caller forgot to close, and names it.
//
// The type that callers hold is a small handle. What goroutines and callbacks use lies behind it and
// must not refer to the handle: otherwise it stays reachable as long as they run.
//
//	h := &Handle{inner}
//	h.open = forgotten.Track(h, "dataset x.lmdb", inner.free)
//	...
//	func (h *Handle) Close() error { h.open.Done(); return h.inner.close() }
package forgotten

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// module is the import path of the library, whose own frames are not where something was opened.
const module = "github.com/dsconv/dsconv"

// maxClosed limits what Closed returns: a server that always forgets must not grow by it.
const maxClosed = 100

var (
	mu     sync.Mutex
	last   uint64 // number of the last Open
	open   = map[uint64]*Open{}
	closed []string
)

// Open is something that has to be closed.
type Open struct {
	number  uint64
	what    string
	callers [24]uintptr
	count   int
	cleanup runtime.Cleanup
}

// Track calls free, on a goroutine of its own, once handle is unreachable, unless Done was called
// before. what describes it in a sentence: "dataset x.lmdb". free must not refer to handle.
func Track[T any](handle *T, what string, free func()) *Open {
	o := &Open{what: what}
	o.count = runtime.Callers(2, o.callers[:])
	mu.Lock()
	last++
	o.number = last
	open[o.number] = o
	mu.Unlock()
	number := o.number
	o.cleanup = runtime.AddCleanup(handle, func(free func()) {
		// Cleanups run one after another, and free may wait for goroutines.
		go func() {
			free()
			remove(number, true)
		}()
	}, free)
	return o
}

// Done says that it is closed in time. It may be called again, and from any goroutine.
func (o *Open) Done() {
	if o == nil {
		return
	}
	o.cleanup.Stop()
	remove(o.number, false)
}

func remove(number uint64, byCleanup bool) {
	mu.Lock()
	defer mu.Unlock()
	o := open[number]
	if o == nil {
		return
	}
	delete(open, number)
	if byCleanup && len(closed) < maxClosed {
		closed = append(closed, o.String())
	}
}

// String is what it is and where it was opened: the first line outside the library.
func (o *Open) String() string {
	if o.count == 0 {
		return o.what
	}
	frames := runtime.CallersFrames(o.callers[:o.count])
	for {
		f, more := frames.Next()
		if !more || !strings.HasPrefix(f.Function, module) || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s, opened at %s:%d", o.what, f.File, f.Line)
		}
	}
}

// StillOpen describes what is open now, in the order of opening.
func StillOpen() []string {
	mu.Lock()
	defer mu.Unlock()
	var list []string
	for _, number := range slices.Sorted(maps.Keys(open)) {
		list = append(list, open[number].String())
	}
	return list
}

// Closed describes what was closed only because it had become unreachable: the first hundred.
func Closed() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(closed)
}

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
)

// inUse lists the files below a folder that this process has open or mapped.
func inUse(t *testing.T, dir string) (names []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	must(t, err)
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, f := range open {
		name, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err == nil && strings.HasPrefix(name, dir) {
			names = append(names, "open: "+name)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	for line := range strings.Lines(string(maps)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), dir); ok {
			names = append(names, "mapped: "+dir+name)
		}
	}
	return names
}

// workers counts the goroutines of epochs.
func workers() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "reader.(*Run).work(")
}

// leaving is a way to end an epoch.
type leaving struct {
	name  string
	color pixel.Color
	leave func(t *testing.T, l *reader.Loader)
}

func leavings() []leaving {
	return []leaving{
		{"break", pixel.ColorRGB, func(t *testing.T, l *reader.Loader) {
			for b, err := range l.Epoch(t.Context(), 0) {
				must(t, err)
				if b.End >= 6 {
					break
				}
			}
		}},
		{"keep", pixel.ColorRGB, func(t *testing.T, l *reader.Loader) {
			for b, err := range l.Epoch(t.Context(), 0) {
				must(t, err)
				b.Keep()
				break
			}
		}},
		{"cancel", pixel.ColorRGB, func(t *testing.T, l *reader.Loader) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			enough := errors.New("enough")
			var failed error
			for _, err := range l.Epoch(ctx, 0) {
				cancel(enough)
				failed = err
			}
			if !errors.Is(failed, enough) {
				t.Errorf("error %v", failed)
			}
		}},
		// A gray picture among coloured ones, of the last class.
		{"bad sample", pixel.ColorKeep, func(t *testing.T, l *reader.Loader) {
			n := 0
			var failed error
			for _, err := range l.Epoch(t.Context(), 0) {
				n++
				failed = err
			}
			if n < 5 || failed == nil || !strings.Contains(failed.Error(), "channels") {
				t.Errorf("%d batches, error %v", n, failed)
			}
		}},
		{"end", pixel.ColorRGB, func(t *testing.T, l *reader.Loader) { collect(t, l.Epoch(t.Context(), 0)) }},
	}
}

// TestNothingIsLeft: however an epoch ends, its goroutines are gone when the loop is, and files
// and mappings when the Loader is closed.
func TestNothingIsLeft(t *testing.T) {
	c := newCorpus(t, 60, packings())
	cached := filepath.Join(c.root, "cache")
	must(t, os.Mkdir(cached, 0o755))
	kinds := []reader.CacheKind{reader.NoCache, reader.Encoded}
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, s := range c.stored {
		for _, way := range leavings() {
			for _, kind := range kinds {
				t.Run(fmt.Sprint(s.name, " ", way.name, " ", kind), func(t *testing.T) {
					config := training()
					config.BatchSize, config.Workers, config.Color = 2, 5, way.color
					config.Cache = reader.Cache{Kind: kind, Limit: 32 << 20, Dir: cached}
					l, err := reader.Open(dsconv.Formats(), s.path, config)
					must(t, err)
					if (s.name != "folder" || kind != reader.NoCache) && len(inUse(t, c.root)) == 0 {
						t.Error("nothing is in use before the epoch: this test would not see it")
					}
					way.leave(t, l)
					if n := workers(); n > 0 {
						t.Errorf("%d workers are there behind the loop", n)
					}
					must(t, l.Close())
					nothingInUse(t, c.root)
					goleak.VerifyNone(t)
				})
			}
		}
		if l, err := reader.Open(dsconv.Formats(), s.path, reader.Config{BatchSize: 1, Fields: []string{"none"}}); err == nil {
			t.Errorf("%s: %v of a field that is not there", s.name, l)
		}
		nothingInUse(t, c.root)
	}
}

// TestSynchronousStartsNoGoroutine for any format, in the middle of an epoch neither.
func TestSynchronousStartsNoGoroutine(t *testing.T) {
	c := newCorpus(t, 30, packings())
	for _, s := range c.stored {
		config := synchronous(training(bothMixers...))
		config.Shuffle, config.BatchSize = true, 8
		config.Cache = reader.Cache{Kind: reader.Encoded, Limit: 32 << 20, Dir: t.TempDir()}
		before := goleak.IgnoreCurrent()
		l, err := reader.Open(dsconv.Formats(), s.path, config)
		must(t, err)
		for _, err := range l.Epoch(t.Context(), 0) {
			must(t, err)
			if err := goleak.Find(before); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		must(t, l.Close())
	}
}

func nothingInUse(t *testing.T, dir string) {
	t.Helper()
	if names := inUse(t, dir); len(names) > 0 {
		t.Errorf("in use behind Close: %q", names)
	}
}

// TestMemoryDoesNotGrow from the second epoch to the twentieth. What leaks does so in both
// halves of them; the race detector's own memory grows too.
func TestMemoryDoesNotGrow(t *testing.T) {
	epochs := 20
	if testing.Short() {
		epochs = 8
	}
	c := newCorpus(t, 40, packings())
	for _, s := range c.stored {
		config := training(bothMixers...)
		config.Shuffle, config.Workers, config.Fields = true, 3, extraFields
		l := newLoader(t, c.open(t, s), config)
		loop := func(from, to int) {
			for epoch := from; epoch < to; epoch++ {
				for _, err := range l.Epoch(t.Context(), epoch) {
					must(t, err)
				}
			}
		}
		loop(0, 2)
		heap, resident := memoryInUse(t)
		grown := 0
		for half := range 2 {
			loop(2+half*(epochs-2)/2, 2+(half+1)*(epochs-2)/2)
			nowHeap, nowResident := memoryInUse(t)
			t.Logf("%s: heap %+d bytes, resident memory %+d", s.name, nowHeap-heap, nowResident-resident)
			if nowHeap-heap > heapSlack || nowResident-resident > residentSlack && !reader.UnderRace {
				grown++
			}
			heap, resident = nowHeap, nowResident
		}
		if grown == 2 {
			t.Errorf("%s: memory grew in %d epochs, and in as many again", s.name, (epochs-2)/2)
		}
	}
}

// Of 360 samples in half of the epochs none may leave more than 200 bytes on the heap or 2 kB
// elsewhere.
const (
	heapSlack     = 72 << 10
	residentSlack = 720 << 10
)

// memoryInUse is what is reachable on Go's heap, and what the process has of memory that is no
// file's, in bytes.
func memoryInUse(t *testing.T) (heap, resident int64) {
	t.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, rest, ok := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscanf(rest, "%d kB", &resident); err != nil || !ok {
		t.Fatalf("resident memory of %q: %v", status, err)
	}
	return int64(m.HeapAlloc), resident << 10
}

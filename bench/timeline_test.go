package bench

import (
	"encoding/json"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv/reader"
)

// watched is a report of a dataset and a loop that takes a time for each image.
func watched(t *testing.T, change func(o *Options)) *Report {
	t.Helper()
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Rounds, o.Consume = 2, 2000
	change(&o)
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The timeline is of one whole epoch, in order: each batch is asked for when the one before is done, and its loads lie before
// it was ready.
func TestTimeline(t *testing.T) {
	r := watched(t, func(o *Options) { o.Epochs = 2 })
	line := r.Datasets[0].Timeline
	if line == nil || len(line.Batches) != 3 || len(line.Loads) < 3 {
		t.Fatalf("%+v", line)
	}
	before := 0.0
	for k, b := range line.Batches {
		if b.Asked != before && k > 0 || b.Ready < b.Asked || b.Done < b.Ready || b.Done > line.Seconds {
			t.Errorf("batch %d: %+v after %g", k, b, before)
		}
		before = b.Done
	}
	for _, l := range line.Loads {
		if l.Begin < 0 || l.End < l.Begin || l.End > line.Seconds || l.Worker < 0 || l.Worker >= 2 {
			t.Errorf("%+v of %g s", l, line.Seconds)
		}
	}
	if first := line.Loads[0]; first.Begin > line.Batches[0].Ready {
		t.Errorf("the first load %+v is after the first batch %+v", first, line.Batches[0])
	}
}

// A long epoch's timeline has its beginning.
func TestTimelineIsLimited(t *testing.T) {
	tr := trace{}
	for k := range 2 * maxTimelineLoads {
		at := tr.started.Add(time.Duration(k) * time.Millisecond)
		tr.took(at, at, at)
		tr.load(reader.Stretch{Batch: k / 10, Begin: at, End: at})
	}
	tr.ended = time.Now()
	line := tr.timeline()
	if len(line.Batches) != maxTimelineBatches || len(line.Loads) != maxTimelineLoads || line.Batches[199].Asked != 0.199 {
		t.Errorf("%d batches, %d loads", len(line.Batches), len(line.Loads))
	}
	text, err := json.Marshal(line)
	if err != nil || len(text) > 125_000 {
		t.Errorf("%d bytes of JSON, %v", len(text), err)
	}
}

// Each round has what the process waited for.
func TestRoundsHaveCounters(t *testing.T) {
	for k, round := range watched(t, func(*Options) {}).Datasets[0].Rounds {
		if runtime.GOOS == "linux" && round.Waited == nil {
			t.Errorf("round %d has no counters", k)
		}
	}
}

func TestSumOfHistogram(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		h    metrics.Float64Histogram
		want float64
	}{
		{metrics.Float64Histogram{Counts: []uint64{2, 0, 3}, Buckets: []float64{0, 1, 2, 4}}, 2*0.5 + 3*3},
		{metrics.Float64Histogram{Counts: []uint64{1, 0, 2}, Buckets: []float64{-inf, 1, 2, inf}}, 1 + 2*2},
		{metrics.Float64Histogram{Counts: []uint64{0, 1, 0}, Buckets: []float64{-inf, 1, 2, inf}}, 1.5},
	} {
		if got := sumOf(&c.h); got != c.want {
			t.Errorf("%v: %g, want %g", c.h, got, c.want)
		}
	}
}

// Goroutines that compute on one of GOMAXPROCS wait for each other, which no thread sees.
func TestGoroutinesQueued(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	before, begin := goroutinesQueued(), time.Now()
	const goroutines, turns = 20, 40
	var done sync.WaitGroup
	for range goroutines {
		done.Go(func() {
			for range turns {
				for now := time.Now(); time.Since(now) < 100*time.Microsecond; {
				}
				runtime.Gosched()
			}
		})
	}
	done.Wait()
	waited := time.Since(begin).Seconds() * (goroutines - 1) // as one computes the others wait
	if got := goroutinesQueued() - before; got < 0.4*waited || got > 2*waited {
		t.Errorf("%g s, want about %g", got, waited)
	}
}

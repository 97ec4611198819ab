package reader

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// total is the time of all stages.
func (c Clock) total() time.Duration { return c.Read + c.Decode + c.Augment + c.Collate }

// ticking is a clock that advances by one tick each time it is read, and only then: what a
// Loader's clock tells then does not depend on the machine.
type ticking struct {
	tick time.Duration
	at   atomic.Int64
}

func (c *ticking) now() time.Duration { return time.Duration(c.at.Add(int64(c.tick))) }

// times makes it the clock of l, whose epochs have not begun.
func (c *ticking) times(l *Loader) {
	l.now = c.now
	for _, w := range l.workers {
		w.now = c.now
	}
}

// fillAlone makes so many batch entries on one worker, without the loop around it.
func fillAlone(t testing.TB, l *Loader, images int) Clock {
	t.Helper()
	w := l.acquire()
	defer l.release(w)
	b := new(Batch)
	l.frame.reset(b, 1)
	before := l.Clock()
	for k := range images {
		if err := w.fill(entry{frame: &l.frame, batch: b}, drawOf(k%l.Samples(), k, 0, false, 0)); err != nil {
			t.Fatal(err)
		}
	}
	return l.Clock().Sub(before)
}

// TestStagesAddUp: each stage of an image is timed once, and together they are the time that
// passed, of slow images, each of which is timed, and of fast ones, few of which are.
func TestStagesAddUp(t *testing.T) {
	for name, tt := range map[string]struct {
		ds     *memory
		ops    []augment.Op
		tick   time.Duration
		images int
	}{
		"slow raw":    {rawImages(100, 28, 28, 1), nil, fast, 500},
		"fast raw":    {rawImages(100, 28, 28, 1), nil, fast / 10, 1 + 7*fastPeriod},
		"slow photos": {photos(t, 20), augment.Train(32), fast, 100},
		"fast photos": {photos(t, 20), augment.Train(32), fast / 10, 1 + 2*fastPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			l := makeLoader(t, viewed{summed{tt.ds}}, Config{BatchSize: 1, Transforms: tt.ops, Color: "keep"})
			clock := &ticking{tick: tt.tick}
			clock.times(l)
			want := time.Duration(tt.images) * tt.tick
			if c := fillAlone(t, l, tt.images); c.Read != want || c.Decode != want || c.Augment != want || c.Collate != want {
				t.Errorf("%d images whose stages take %v each: %+v", tt.images, tt.tick, c)
			}
			if readings := clock.at.Load() / int64(tt.tick); tt.tick < fast && readings > int64(tt.images) {
				t.Errorf("the clock was read %d times for %d fast images", readings, tt.images)
			}
		})
	}
}

// slowing is a dataset whose samples take time on the clock to be read: those of every second hundred.
type slowing struct {
	viewed
	clock *ticking
	reads int
	took  time.Duration
}

func (d *slowing) View(i int, s *formats.Sample) error {
	if d.reads++; d.reads/100%2 == 1 {
		d.took += 4 * fast
		d.clock.at.Add(int64(4 * fast))
	}
	return d.viewed.View(i, s)
}

// TestStagesAddUpWhereTheTimesChange: slow images among fast ones count for no more than one
// round of images that are not timed, at each change.
func TestStagesAddUpWhereTheTimesChange(t *testing.T) {
	ds := &slowing{viewed: viewed{summed{rawImages(10, 28, 28, 1)}}, clock: &ticking{tick: 1}}
	l := makeLoader(t, ds, Config{BatchSize: 1, Color: "keep"})
	ds.clock.times(l)
	const changes = 20
	c := fillAlone(t, l, 100*changes)
	if off := c.Read - ds.took; off.Abs() > changes*fastPeriod*4*fast {
		t.Errorf("reading took %v, the clock tells %v", ds.took, c.Read)
	}
	if c.Decode > 2*100*changes {
		t.Errorf("decoding 2000 images took a nanosecond each, the clock tells %v", c.Decode)
	}
}

// TestDepthOfASlowLoop: batches wait for a slow loop.
func TestDepthOfASlowLoop(t *testing.T) {
	l := makeLoader(t, rawImages(40, 8, 8, 3), Config{BatchSize: 2, Workers: 1, Prefetch: 3})
	if d := l.Clock().Depth(); d != 0 {
		t.Errorf("depth %v before the first batch", d)
	}
	r := startEpoch(t, l)
	ready := 4 // at first no slot is the loop's
	for k := range l.Len() {
		goal := int64(min(ready, l.Len()-k))
		for r.running.ready.Load() < goal {
			time.Sleep(time.Millisecond)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready = 3
	}
	if c := l.Clock(); c.asked != 20 || c.ready < 3*17 || c.ready > 4*20 {
		t.Errorf("asked %d times for 20 batches, %d were ready", c.asked, c.ready)
	}
}

// awaited is a dataset that is read only once the loop has asked for the batch of one image.
type awaited struct {
	*memory
	loader *Loader
	first  int64 // reads before the epoch
}

func (d *awaited) Read(i int, s *formats.Sample) error {
	for d.loader != nil && d.loader.asked.Load() <= d.reads.Load()-d.first {
		time.Sleep(time.Millisecond)
	}
	return d.memory.Read(i, s)
}

// TestDepthOfAFastLoop: a fast loop waits for batches.
func TestDepthOfAFastLoop(t *testing.T) {
	ds := &awaited{memory: rawImages(40, 8, 8, 3)}
	l := makeLoader(t, ds, Config{BatchSize: 1, Workers: 1, Prefetch: 3})
	ds.first, ds.loader = ds.reads.Load(), l
	r := startEpoch(t, l)
	for range l.Len() {
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A batch may come between the moment it is asked for and the one the ready are counted.
	if c := l.Clock(); c.asked != 40 || c.ready > c.asked {
		t.Errorf("asked %d times for 40 batches, %d were ready", c.asked, c.ready)
	}
}

func startEpoch(t *testing.T, l *Loader) *Run {
	t.Helper()
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// BenchmarkClock is what the clock adds to an image, with the least work that there is: raw
// images of 28x28 that are copied. Most of them are not timed, see counters. What it tells, as a
// share of the time that passed, is near 1.
func BenchmarkClock(b *testing.B) {
	l := makeLoader(b, viewed{summed{rawImages(100, 28, 28, 1)}}, Config{BatchSize: 1, Color: "keep"})
	b.Run("image", func(b *testing.B) {
		told := fillAlone(b, l, b.N)
		b.ReportMetric(float64(told.total())/float64(b.Elapsed()), "told")
	})
	for name, period := range map[string]int64{"timed": 1, "sampled": fastPeriod} {
		b.Run(name, func(b *testing.B) {
			c := counters{period: period, now: sinceStarted}
			for range b.N {
				now := c.begin()
				now = c.lap(stageRead, now)
				now = c.lap(stageDecode, now)
				now = c.lap(stageAugment, now)
				_ = c.lap(stageCollate, now)
			}
		})
	}
}

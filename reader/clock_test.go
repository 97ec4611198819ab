package reader

import (
	"math"
	"testing"
	"time"

	"github.com/dsconv/dsconv/reader/augment"
)

// total is the time of all stages.
func (c Clock) total() time.Duration { return c.Read + c.Decode + c.Augment + c.Collate }

// busy makes batch entries on one worker without the loop around it and gives the time that
// the clock tells and the one that passed.
func busy(t testing.TB, l *Loader, images int) (told, passed time.Duration) {
	t.Helper()
	w := l.acquire()
	defer l.release(w)
	var b Batch
	l.frame.reset(&b, 1)
	before := l.Clock()
	start := time.Now()
	for k := range images {
		if err := w.fill(&b, 0, l.draw(k%l.Samples(), k, 0, false, 0)); err != nil {
			t.Fatal(err)
		}
	}
	passed = time.Since(start)
	return l.Clock().Sub(before).total(), passed
}

// TestStagesAddUp to the time that passes, of fast images, few of which are timed, and slow ones.
func TestStagesAddUp(t *testing.T) {
	for name, tt := range map[string]struct {
		ds     *memory
		ops    []augment.Op
		images int
	}{
		"28x28 raw":   {rawImages(100, 28, 28, 1), nil, 60000},
		"112x112 raw": {rawImages(20, 112, 112, 3), []augment.Op{augment.RandomHorizontalFlip{P: 0.5}}, 8000},
		"photos":      {photos(t, 20), augment.Train(32), 600},
	} {
		t.Run(name, func(t *testing.T) {
			l := makeLoader(t, viewed{summed{tt.ds}}, Config{BatchSize: 1, Transforms: tt.ops, Color: "keep"})
			best := math.Inf(1)
			for range 5 { // others may take the processor at times
				told, passed := busy(t, l, tt.images)
				if off := math.Abs(float64(told)/float64(passed) - 1); off < best {
					best = off
				}
				if best < 0.1 {
					break
				}
			}
			if best > 0.6 { // a timed image that counts for too few or too many is far off
				t.Errorf("the stages are off by %.0f %%", best*100)
			}
		})
	}
}

// TestDepthTellsWhoWaits: batches wait for a slow loop, and a fast loop for batches.
func TestDepthTellsWhoWaits(t *testing.T) {
	depth := func(pause time.Duration, ds *memory) float64 {
		l := makeLoader(t, ds, Config{BatchSize: 2, Workers: 1, Prefetch: 3, Transforms: augment.Train(64)})
		if d := l.Clock().Depth(); d != 0 {
			t.Errorf("depth %v before the first batch", d)
		}
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(pause)
		}
		c := l.Clock()
		if c.Asked != int64(l.Len()) || c.Ready > 4*c.Asked {
			t.Errorf("asked %d times for %d batches, %d were ready", c.Asked, l.Len(), c.Ready)
		}
		return c.Depth()
	}
	if d := depth(20*time.Millisecond, rawImages(40, 8, 8, 3)); d < 2 {
		t.Errorf("%v batches wait for a slow loop", d)
	}
	if d := depth(0, rawImages(40, 700, 700, 3)); d > 1.5 {
		t.Errorf("%v batches wait for a fast loop", d)
	}
}

// BenchmarkClock is what the clock adds to an image, with the least work that there is: raw
// images of 28x28 that are copied. Most of them are not timed, see counters.
func BenchmarkClock(b *testing.B) {
	l := makeLoader(b, viewed{summed{rawImages(100, 28, 28, 1)}}, Config{BatchSize: 1, Color: "keep"})
	b.Run("image", func(b *testing.B) { busy(b, l, b.N) })
	for name, period := range map[string]int64{"timed": 1, "sampled": fastPeriod} {
		b.Run(name, func(b *testing.B) {
			c := counters{period: period}
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

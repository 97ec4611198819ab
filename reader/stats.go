package reader

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/gpudecode"
)

// Stats is what a Loader did since it was opened.
type Stats struct {
	Clock Clock
	// BadTimes and Bad are what Loader.Bad returns.
	BadTimes int64
	Bad      []BadSample
	Narrowed Narrowed
	// Decoded counts the images by what decoded them, each view for itself with DecodeOnGPU; those that were not
	// encoded too.
	Decoded gpudecode.Counts
}

// Stats sums up what the Loader did. It may be called at any time, after Close too.
func (l *Loader) Stats() Stats {
	s := Stats{Clock: l.Clock(), Narrowed: l.Narrowed()}
	s.BadTimes, s.Bad = l.Bad()
	if l.gpu == nil {
		s.Decoded = gpudecode.Counts{CPU: s.Clock.Images, Reasons: map[string]int64{}}
		return s
	}
	s.Decoded = l.gpu.decoded.Counts()
	return s
}

// Clock is where a Loader's time went since it was opened. Wait is time of the loop; the stages
// are summed over the workers, which share the machine's CPUs with other programs.
type Clock struct {
	Read    time.Duration // from the dataset or the cache
	Decode  time.Duration // to pixels; and what the GPU's batches took, with DecodeOnGPU
	Augment time.Duration // crops, resizes and colours; a resize at the end with what follows
	Collate time.Duration // flip, normalisation, layout and type, into the batch; extra fields
	Wait    time.Duration // of the loop for the next batch
	Images  int64         // that were loaded
	Bytes   int64         // of them as stored, that were not in the cache
	// asked is how often the loop asked for a batch, ready the sum of the batches that were ready then.
	asked, ready int64
}

// Sub is the difference to an earlier Clock.
func (c Clock) Sub(then Clock) Clock {
	return Clock{
		Read: c.Read - then.Read, Decode: c.Decode - then.Decode,
		Augment: c.Augment - then.Augment, Collate: c.Collate - then.Collate,
		Wait: c.Wait - then.Wait, Images: c.Images - then.Images, Bytes: c.Bytes - then.Bytes,
		asked: c.asked - then.asked, ready: c.ready - then.ready,
	}
}

// Depth is the mean number of batches that were ready when the loop asked for one. It is near
// Config.Prefetch+1 if the loop is slower, and near 0 if the Loader is.
func (c Clock) Depth() float64 {
	if c.asked == 0 {
		return 0
	}
	return float64(c.ready) / float64(c.asked)
}

// stages of a worker, in the order in which a sample passes through them.
const (
	stageRead = iota
	stageDecode
	stageAugment
	stageCollate
	stageCount
)

// counters are one worker's; only it writes them, so that adding costs a few nanoseconds.
// The padding keeps two workers' counters out of one cache line.
//
// Reading the clock takes some 30 ns, five times per image. To keep this under 1 % for images
// that take a few microseconds, only one of several is timed then, and counts for all.
type counters struct {
	_      [64]byte
	stages [stageCount]atomic.Int64 // nanoseconds
	images atomic.Int64
	bytes  atomic.Int64
	now    func() time.Duration // the Loader's
	period int64                // one of so many images is timed
	turn   int64
	began  time.Duration
	_      [64]byte
}

const (
	fast       = 25 * time.Microsecond // an image that takes less is one of several to be timed
	fastPeriod = 64
	untimed    = time.Duration(-1)
)

// started is what the clocks count from.
var started = time.Now()

// sinceStarted is the clock of a Loader outside tests.
func sinceStarted() time.Duration { return time.Since(started) }

// begin starts an image and gives the time, which is untimed for most fast ones. It
// and lap are inlined: an image that is not timed costs next to nothing.
func (c *counters) begin() time.Duration {
	if c.turn++; c.turn < c.period {
		return untimed
	}
	return c.start()
}

//go:noinline // into begin, which would then be too large
func (c *counters) start() time.Duration {
	c.turn = 0
	c.began = c.now()
	return c.began
}

// lap adds the time since then to a stage and gives back the time by now.
func (c *counters) lap(stage int, then time.Duration) time.Duration {
	if then == untimed {
		return untimed
	}
	return c.add(stage, then)
}

func (c *counters) add(stage int, then time.Duration) time.Duration {
	now := c.now()
	c.stages[stage].Add(int64(now-then) * max(c.period, 1))
	return now
}

// finish ends an image.
func (c *counters) finish(now time.Duration) {
	c.images.Add(1)
	switch {
	case now == untimed:
	case now-c.began < fast:
		c.period = fastPeriod
	default:
		c.period = 1
	}
}

func (c *counters) addTo(sum *Clock) {
	for stage, d := range []*time.Duration{&sum.Read, &sum.Decode, &sum.Augment, &sum.Collate} {
		*d += time.Duration(c.stages[stage].Load())
	}
	sum.Images += c.images.Load()
	sum.Bytes += c.bytes.Load()
}

// Narrowed are images of more than 8 bits per channel that lost some of them, because the batches' type or
// color is of 8 bits.
type Narrowed struct {
	Times int64  `json:"times"` // an image counts each time that it is decoded
	Key   string `json:"key"`   // of one of them
	How   string `json:"how"`   // how it lost them, as preprocess.Processor.Narrowed says
}

// Narrowed tells of those that were met since the Loader was made.
func (l *Loader) Narrowed() Narrowed {
	l.narrowed.mu.Lock()
	defer l.narrowed.mu.Unlock()
	return l.narrowed.seen
}

// narrowings counts what workers meet.
type narrowings struct {
	mu   sync.Mutex
	seen Narrowed
}

func (n *narrowings) note(key, how string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen.Times++; n.seen.Times == 1 {
		n.seen.Key, n.seen.How = strings.Clone(key), how // the key may lie in the cache's memory
	}
}

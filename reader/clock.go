package reader

import (
	"sync/atomic"
	"time"
)

// Clock says where a Loader's time went since it was opened. Wait is time of the loop;
// the stages are summed over the workers, who share the machine's CPUs with whatever else
// runs.
type Clock struct {
	Read    time.Duration // from the dataset
	Decode  time.Duration // to pixels
	Augment time.Duration // crops, resizes and colours; a resize at the end with what follows
	Collate time.Duration // flip, normalisation, layout and type, into the batch
	Wait    time.Duration // of the loop for the next batch
	Images  int64         // that came through
	Bytes   int64         // of them as stored
}

// Sub is what was added since then.
func (c Clock) Sub(then Clock) Clock {
	return Clock{
		Read: c.Read - then.Read, Decode: c.Decode - then.Decode,
		Augment: c.Augment - then.Augment, Collate: c.Collate - then.Collate,
		Wait: c.Wait - then.Wait, Images: c.Images - then.Images, Bytes: c.Bytes - then.Bytes,
	}
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
type counters struct {
	_      [64]byte
	stages [stageCount]atomic.Int64 // nanoseconds
	images atomic.Int64
	bytes  atomic.Int64
	_      [64]byte
}

func (c *counters) addTo(sum *Clock) {
	for stage, d := range []*time.Duration{&sum.Read, &sum.Decode, &sum.Augment, &sum.Collate} {
		*d += time.Duration(c.stages[stage].Load())
	}
	sum.Images += c.images.Load()
	sum.Bytes += c.bytes.Load()
}

// lap adds the time since then to a stage and gives back the time by now.
func (c *counters) lap(stage int, then time.Time) time.Time {
	now := time.Now()
	c.stages[stage].Add(int64(now.Sub(then)))
	return now
}

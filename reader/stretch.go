package reader

import "time"

// Stretch is the time in which a worker worked on one batch without a pause. Several workers share a batch, and a worker may come
// to it more than once.
type Stretch struct {
	Worker     int // from 0; those from Config.Workers on decode on the GPU
	Batch      int // of the Run, from 0
	Begin, End time.Time
}

// observer makes stretches of the entries that a worker builds. The zero value observes nothing, and costs nothing.
type observer struct {
	observe func(Stretch)
	worker  int
	batch   int
	begin   time.Time // zero between two stretches
}

// work notes that the worker begins an entry of a batch.
func (o *observer) work(batch int) {
	if o.observe == nil || !o.begin.IsZero() && batch == o.batch {
		return
	}
	now := time.Now()
	o.pauseAt(now)
	o.batch, o.begin = batch, now
}

// pause notes that the worker does nothing until the next entry.
func (o *observer) pause() {
	if o.observe != nil {
		o.pauseAt(time.Now())
	}
}

func (o *observer) pauseAt(now time.Time) {
	if !o.begin.IsZero() {
		o.observe(Stretch{Worker: o.worker, Batch: o.batch, Begin: o.begin, End: now})
		o.begin = time.Time{}
	}
}

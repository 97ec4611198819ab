package reader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
)

// Run is a running epoch, for callers that cannot range over it. Its batches come one by one from
// Next; it must be stopped. Next belongs to one goroutine at a time: a call during another one is an
// error. Stop may be called from any goroutine. One that is forgotten is stopped by the garbage
// collector.
type Run struct {
	running *running
	open    *forgotten.Open
}

// RunOptions say where a Run begins and where its batches lie. The zero value is all of epoch 0, in
// memory of the Loader's own.
type RunOptions struct {
	// State is where to resume; Epoch and Position must be 0 then. The zero value means that they
	// say it.
	State State
	// Epoch is the number of the epoch, from 0.
	Epoch int
	// Position is where to begin in the epoch: the number of samples before, over all ranks. With
	// List it is a position in that.
	Position int
	// List is the samples and their order, by indices as Batch.Indices has them, for an external
	// sampler; nil is the Loader's own order. The list is this rank's alone. Transforms are seeded
	// as in Epoch. It must not change until the Run is stopped.
	List []int32
	// Sizes are the sizes of the batches of List, from 1 to Config.BatchSize, in order; nil means that all but
	// the last one have BatchSize. They add up to the length of List, and Position must be where one of these
	// batches begins, or the end.
	Sizes []int32
	// Allocate provides the memory for the images; nil is the Loader's own. It is not asked with DecodeOnGPU.
	Allocate Allocator
	// Observe, if it is not nil, gets each stretch of time in which a worker worked on a batch, on the worker's goroutine and
	// when the stretch has ended: it must be safe for concurrent use, and fast. After Stop it is not called.
	Observe func(Stretch)
}

// Start starts the workers on an epoch, from 0. If ctx ends, the Run stops by itself, and Next returns
// the cause. Stop it in any case.
func (l *Loader) Start(ctx context.Context, epoch int) (*Run, error) {
	return l.StartWith(ctx, RunOptions{Epoch: epoch})
}

// StartWith is Start of what o says. ErrState is in the error's chain if o.State is not of a Loader of
// the same samples, order and seed.
func (l *Loader) StartWith(ctx context.Context, o RunOptions) (*Run, error) {
	r, err := l.start(ctx, o)
	if err != nil {
		return nil, err
	}
	run := &Run{running: r}
	run.open = forgotten.Track(run, fmt.Sprintf("epoch %d of %s", r.epoch, l.name), func() { r.stop(errStopped) })
	return run, nil
}

// errStopped is what Next returns after Stop.
var errStopped = fmt.Errorf("the run was stopped (%w): start another one", formats.ErrClosed)

// Next returns the next batch, which is valid until Next is called again, or io.EOF after the last one.
// A batch that was taken before Stop stays valid. The error of ctx ends only the wait: Next can be
// called again. Any other error is that of a sample, or of what ended the Run: of the context that
// it was started with, or formats.ErrClosed after Stop and after the Loader's Close. Next returns it
// from then on.
func (r *Run) Next(ctx context.Context) (*Batch, error) {
	defer runtime.KeepAlive(r)
	return r.running.nextBatch(ctx)
}

// Stop stops the workers and waits for them; memory of an Allocator is the caller's again. Batches that
// were kept stay valid until Release. Stopping it again does nothing.
func (r *Run) Stop() {
	r.open.Done()
	r.running.stop(errStopped)
}

// start starts the workers on what o says.
func (l *Loader) start(ctx context.Context, o RunOptions) (*running, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer l.leave()
	if l.config.AnySize {
		return nil, errors.New("images of different sizes cannot be batched: read them with Pick")
	}
	if o.State != (State{}) {
		if o.Epoch != 0 || o.Position != 0 || o.List != nil || o.Sizes != nil {
			return nil, errors.New("start a run: RunOptions.State says where to begin: leave out Epoch, Position, List and Sizes")
		}
		if err := l.CheckState(o.State); err != nil {
			return nil, err
		}
		o.Epoch, o.Position = o.State.Epoch, o.State.Position
	}
	if o.Epoch < 0 {
		return nil, fmt.Errorf("start a run: epoch %d: epochs count from 0", o.Epoch)
	}
	r := &running{loader: l, allocate: o.Allocate, epoch: o.Epoch, observe: o.Observe}
	if l.gpu != nil {
		r.allocate = nil
	}
	if err := r.follow(&o); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", o.Epoch, err)
	}
	return r, r.begin(ctx)
}

// follow sets the order of the run's samples.
func (r *running) follow(o *RunOptions) error {
	l := r.loader
	if o.List != nil {
		return r.followList(o)
	}
	if o.Sizes != nil {
		return errors.New("start a run: RunOptions.Sizes without a List, whose batches they would be")
	}
	if o.Position < 0 || o.Position > l.plan.Len() {
		return fmt.Errorf("start a run: position %d of %d", o.Position, l.plan.Len())
	}
	r.order, r.rank = l.plan.Epoch(l.config.Seed, o.Epoch), l.rankBatches(o.Position)
	r.repeats = l.plan.Repeats()
	return nil
}

// followList makes the list the run's order.
func (r *running) followList(o *RunOptions) (err error) {
	l, list, position := r.loader, o.List, o.Position
	seen := make([]uint64, (l.samples.Len()+63)/64)
	for _, s := range list {
		if s < 0 || int(s) >= l.samples.Len() {
			return fmt.Errorf("sample %d in a list: the indices are 0 to %d", s, l.samples.Len()-1)
		}
		r.repeats = r.repeats || seen[s/64]>>(s%64)&1 == 1
		seen[s/64] |= 1 << (s % 64)
	}
	if position < 0 || position > len(list) {
		return fmt.Errorf("position %d of a list of %d samples", position, len(list))
	}
	c := &l.config
	r.order, r.rankKey = listed{list}, listRank(c.Rank)
	r.rank = rankBatches{Len: len(list), Start: position, Batch: c.BatchSize, World: 1, Tail: c.Tail}
	if o.Sizes != nil {
		r.rank, err = divideBySizes(o.Sizes, len(list), c.BatchSize, position)
	}
	return err
}

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

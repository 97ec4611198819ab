package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/misuse"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Options are the options of Run. The zero value is usual.
type Options struct {
	// Workers is how many goroutines read samples; 0 is the number of cores.
	Workers int
	// OnStart, if not nil, is called once, before any OnChange, with the fields and columns that only
	// one dataset has.
	OnStart func(onlyA, onlyB OneSided)
	// OnChange, if not nil, is called for each change, in key order.
	OnChange func(Change)
	// Progress, if not nil, is called about every 100 ms and once at the end, with how many of the samples
	// of both datasets were compared, and how many there are.
	Progress func(done, total int)
}

// Run finds, in key order, every sample that only A has, that only B has, or that both have with
// differences. The callbacks are called on the caller's goroutine. Memory is needed for a few samples
// per worker. The datasets may be the same one; they stay open.
//
// A read error ends the run; it names the dataset and the key. One that is about the files of one sample, in a folder, is
// a difference, AspectUnreadable. The run ends too when ctx ends: the error is then the context's.
func Run(ctx context.Context, a, b formats.Dataset, o Options) (*Report, error) {
	if err := cmp.Or(misuse.Context("diff.Run", ctx), misuse.Dataset("diff.Run", "the dataset a", a), misuse.Dataset("diff.Run", "the dataset b", b),
		misuse.Negative("diff.Run", "Options.Workers", o.Workers)); err != nil {
		return nil, err
	}
	c := &comparison{a: a, b: b, match: matchOf(a.Meta(), b.Meta()), progress: o.Progress}
	r := &Report{Aspects: map[Aspect]int{}}
	r.OnlyA, r.OnlyB = c.oneSided(a.Meta(), b.Meta())
	if o.OnStart != nil {
		o.OnStart(r.OnlyA, r.OnlyB)
	}
	if err := c.run(ctx, cmp.Or(o.Workers, parallel.Cores()), func(change *Change) {
		r.add(change)
		if o.OnChange != nil {
			o.OnChange(*change)
		}
	}); err != nil {
		return nil, err
	}
	if r.Common = c.common; o.Progress != nil {
		o.Progress(a.Len()+b.Len(), a.Len()+b.Len())
	}
	return r, nil
}

// run calls found for each change, on the caller's goroutine. If found panics, no goroutine is left.
func (c *comparison) run(ctx context.Context, workers int, found func(*Change)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	q := queue{ctx: ctx, work: make(chan *task), ordered: make(chan *task, 4*workers)}
	g.Go(func() error {
		defer q.close()
		return c.join(q)
	})
	for range workers {
		g.Go(func() error { return c.read(q.work) })
	}
	finished := false
	defer func() {
		if !finished { // found panicked
			cancel()
			_ = g.Wait()
		}
	}()
	for t := range q.ordered {
		select {
		case <-t.done:
		case <-ctx.Done():
			continue
		}
		switch {
		case t.change.Kind == "":
			c.progress(t.compared, c.a.Len()+c.b.Len())
		case t.change.Kind != ChangeModified || len(t.change.What) > 0:
			found(&t.change)
		}
	}
	finished = true
	return g.Wait()
}

// comparison is two datasets and their fields that are compared.
type comparison struct {
	a, b   formats.Dataset
	match  match
	common int // of join's goroutine

	progress func(done, total int)
}

// task is a key to report in key order, by way of a reader if its samples must be read.
type task struct {
	change   Change // without a Kind it is only progress: so many samples were compared
	compared int
	i, j     int
	a, b     formats.Info
	done     chan struct{} // closed once change is complete
}

// queue sends tasks to the readers, as they are free, and to the report, in key order.
type queue struct {
	ctx     context.Context // of one Run, as the channels
	work    chan *task
	ordered chan *task
}

// send sends t to the report and, if its samples must be read, to the readers.
func (q queue) send(t *task, read bool) error {
	t.done = make(chan struct{})
	to := []chan *task{q.ordered, q.work}
	if !read {
		close(t.done)
		to = to[:1]
	}
	for _, queue := range to {
		select {
		case queue <- t:
		case <-q.ctx.Done():
			return q.ctx.Err()
		}
	}
	return nil
}

func (q queue) close() {
	close(q.work)
	close(q.ordered)
}

// join walks both datasets by key and sends the samples that differ, or may, to q.
func (c *comparison) join(q queue) error {
	a, b := cursor{ds: c.a, name: "first", at: -1}, cursor{ds: c.b, name: "second", at: -1}
	if err := a.next(); err != nil {
		return err
	}
	if err := b.next(); err != nil {
		return err
	}
	shown := time.Now()
	for n := 0; !a.end || !b.end; n++ {
		if n%1024 == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		if c.progress != nil && time.Since(shown) >= parallel.ProgressInterval {
			shown = time.Now()
			if err := q.send(&task{compared: a.at + b.at}, false); err != nil {
				return err
			}
		}
		onlyA := !a.end && (b.end || a.info.Key < b.info.Key)
		onlyB := !onlyA && (a.end || b.info.Key < a.info.Key)
		var err error
		switch {
		case onlyA:
			err = q.send(&task{change: Change{Key: a.info.Key, Kind: ChangeRemoved}}, false)
		case onlyB:
			err = q.send(&task{change: Change{Key: b.info.Key, Kind: ChangeAdded}}, false)
		default:
			c.common++
			err = c.both(q, &a, &b)
		}
		if err == nil && !onlyB {
			err = a.next()
		}
		if err == nil && !onlyA {
			err = b.next()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// both handles a key that both datasets have.
func (c *comparison) both(q queue, a, b *cursor) error {
	change := Change{Key: a.info.Key, Kind: ChangeModified, What: c.described(&a.info, &b.info)}
	same := c.sameValues(&a.info, &b.info)
	if same && len(change.What) == 0 {
		return nil
	}
	return q.send(&task{change: change, i: a.at, j: b.at, a: a.info, b: b.info}, !same)
}

// read is one reader: it completes tasks until none is left.
func (c *comparison) read(work <-chan *task) error {
	r := &reader{comparison: c, dec: codec.NewDecoder()}
	defer r.dec.Close()
	for t := range work {
		err := guard.For(fmt.Sprintf("key %q", t.a.Key), func() error {
			values, err := r.values(t.i, t.j, &t.a, &t.b)
			t.change.What = slices.Concat(values, t.change.What)
			return err
		})
		if err != nil {
			return err
		}
		close(t.done)
	}
	return nil
}

// cursor walks a dataset's samples. It starts before the first one, at -1.
type cursor struct {
	ds   formats.Dataset
	name string
	at   int
	info formats.Info
	end  bool
}

// next advances to the next sample. The comparison relies on ascending keys, so it checks them.
func (c *cursor) next() (err error) {
	before := c.info.Key
	c.at++
	if c.end = c.at >= c.ds.Len(); c.end {
		return nil
	}
	if c.info, err = c.ds.Info(c.at); err != nil {
		return fmt.Errorf("the %s dataset: %w", c.name, err)
	}
	if c.at > 0 && c.info.Key <= before {
		return fmt.Errorf("the %s dataset: %w: the key %q comes after %q", c.name, formats.ErrDamaged, c.info.Key, before)
	}
	return nil
}

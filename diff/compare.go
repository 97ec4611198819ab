package diff

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// Compare tells, in the order of keys, every sample that B has and A has not, that A has
// and B has not, or that both have with differences. Samples are read on up to workers
// goroutines (the number of cores if it is below 1); report is called by the caller's own
// goroutine. The memory that is used is that of a few samples a worker. An error of reading
// ends the comparison; it says which dataset and key.
func Compare(ctx context.Context, a, b formats.Dataset, workers int, report func(Change)) (Summary, error) {
	if workers < 1 {
		workers = parallel.Cores()
	}
	c := &comparison{a: a, b: b, match: matchOf(a.Meta(), b.Meta())}
	g, ctx := errgroup.WithContext(ctx)
	q := queue{ctx: ctx, work: make(chan *task), ordered: make(chan *task, 4*workers)}
	g.Go(func() error {
		defer q.close()
		return c.join(q)
	})
	for range workers {
		g.Go(func() error { return c.read(q.work) })
	}
	sum := Summary{Aspects: map[Aspect]int{}}
	for t := range q.ordered {
		select {
		case <-t.done:
		case <-ctx.Done():
			continue
		}
		if t.change.Kind != Changed || len(t.change.What) > 0 {
			sum.add(&t.change)
			report(t.change)
		}
	}
	err := g.Wait()
	sum.Common = c.common
	return sum, err
}

// comparison is two datasets and what of them is compared.
type comparison struct {
	a, b   formats.Dataset
	match  match
	common int // of join's goroutine
}

// task is a key that is reported in its turn; one that must be read goes by a reader.
type task struct {
	change Change
	i, j   int
	a, b   formats.Info
	done   chan struct{} // closed once change is complete
}

// queue leads tasks to the readers, as they are free, and to the report in their order.
type queue struct {
	ctx     context.Context // of one Compare, as the channels
	work    chan *task
	ordered chan *task
}

// finished is done of tasks that need no reading.
var finished = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (q queue) report(c Change) error { return q.send(q.ordered, &task{change: c, done: finished}) }

func (q queue) read(t *task) error {
	t.done = make(chan struct{})
	if err := q.send(q.ordered, t); err != nil {
		return err
	}
	return q.send(q.work, t)
}

func (q queue) send(to chan *task, t *task) error {
	select {
	case to <- t:
		return nil
	case <-q.ctx.Done():
		return q.ctx.Err()
	}
}

func (q queue) close() {
	close(q.work)
	close(q.ordered)
}

// join goes through both datasets by key and sends on what differs or may.
func (c *comparison) join(q queue) error {
	a, b := cursor{ds: c.a, name: "first"}, cursor{ds: c.b, name: "second"}
	if err := a.next(); err != nil {
		return err
	}
	if err := b.next(); err != nil {
		return err
	}
	for n := 0; !a.end || !b.end; n++ {
		if n%1024 == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		onlyA := !a.end && (b.end || a.info.Key < b.info.Key)
		onlyB := !onlyA && (a.end || b.info.Key < a.info.Key)
		var err error
		switch {
		case onlyA:
			err = q.report(Change{Key: a.info.Key, Kind: Removed})
		case onlyB:
			err = q.report(Change{Key: b.info.Key, Kind: Added})
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
	change := Change{Key: a.info.Key, Kind: Changed, What: c.described(&a.info, &b.info)}
	if c.sameValues(&a.info, &b.info) {
		if len(change.What) == 0 {
			return nil
		}
		return q.report(change)
	}
	return q.read(&task{change: change, i: a.at, j: b.at, a: a.info, b: b.info})
}

// read is one reader: it completes tasks until there are no more.
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

// cursor stands on a sample of a dataset, at first before the first one.
type cursor struct {
	ds      formats.Dataset
	name    string
	at      int
	info    formats.Info
	started bool
	end     bool
}

// next goes on by one. The keys must come in order: it is what the comparison stands on.
func (c *cursor) next() (err error) {
	before := c.info.Key
	if c.started {
		c.at++
	}
	if c.end = c.at >= c.ds.Len(); c.end {
		return nil
	}
	if c.info, err = c.ds.Info(c.at); err != nil {
		return fmt.Errorf("the %s dataset: %w", c.name, err)
	}
	if c.started && c.info.Key <= before {
		return fmt.Errorf("the %s dataset: %w: the key %q comes after %q", c.name, formats.ErrDamaged, c.info.Key, before)
	}
	c.started = true
	return nil
}

package diff

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Compare reports, in key order, every sample that only A has, that only B has, or that both have
// with differences. Up to workers goroutines (the number of cores if it is below 1) read samples;
// report is called in the caller's own goroutine. Memory is needed for a few samples per worker. A
// read error ends the comparison; it names the dataset and the key.
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

// comparison is two datasets and their fields that are compared.
type comparison struct {
	a, b   formats.Dataset
	match  match
	common int // of join's goroutine
}

// task is a key to report in key order, by way of a reader if its samples must be read.
type task struct {
	change Change
	i, j   int
	a, b   formats.Info
	done   chan struct{} // closed once change is complete
}

// queue sends tasks to the readers, as they are free, and to the report, in key order.
type queue struct {
	ctx     context.Context // of one Compare, as the channels
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
	for n := 0; !a.end || !b.end; n++ {
		if n%1024 == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		onlyA := !a.end && (b.end || a.info.Key < b.info.Key)
		onlyB := !onlyA && (a.end || b.info.Key < a.info.Key)
		var err error
		switch {
		case onlyA:
			err = q.send(&task{change: Change{Key: a.info.Key, Kind: Removed}}, false)
		case onlyB:
			err = q.send(&task{change: Change{Key: b.info.Key, Kind: Added}}, false)
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

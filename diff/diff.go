// Package diff tells what differs between two datasets, of any formats: which keys only one of them
// has, and of the keys that both have, whether the stored bytes, the pixels, the labels, the split or
// the columns differ.
//
//	a, err := dsconv.Open("monday.lmdb")
//	...
//	b, err := dsconv.Open("images") // a folder, too
//	...
//	report, err := diff.Run(ctx, a, b, diff.Options{OnChange: func(c diff.Change) {
//		fmt.Println(c.Kind, c.Key, c.What)
//	}})
//	...
//	fmt.Println(report.Added, report.Removed, report.Changed, report.Same())
//
// Labels are compared by class name, so that datasets with different indices for the same classes
// are equal. If both datasets record the same checksum for a sample, its values are taken to be
// equal and are not read. Otherwise they are read, and images whose bytes differ are decoded to
// compare their pixels.
package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/parallel"
)

// ChangeKind is how a key changed from A to B.
type ChangeKind string

// The kinds of changes.
const (
	ChangeAdded    ChangeKind = "added"   // only B has the key
	ChangeRemoved  ChangeKind = "removed" // only A has it
	ChangeModified ChangeKind = "changed" // both have it, with differences
)

// Aspect is what of a sample can differ.
type Aspect string

// The aspects of a sample.
const (
	// AspectBytes: the stored bytes of an image, mask, text or other value differ.
	AspectBytes Aspect = "bytes"
	// AspectPixels: the decoded pixels of an image or mask, in its own channels and depth, differ, or
	// only one of the two can be decoded. If neither can, only AspectBytes is reported.
	AspectPixels Aspect = "pixels"
	// AspectLabel: the classes differ by name, or by index if a dataset has no names; or the numbers to predict.
	AspectLabel  Aspect = "label"
	AspectSplit  Aspect = "split"
	AspectColumn Aspect = "column" // a column of the user's table
	// AspectUnreadable: a file of the sample, in a folder, could not be read, so that nothing of its values is known.
	AspectUnreadable Aspect = "unreadable"
)

// Change is the differences of one key.
type Change struct {
	Key  string       `json:"key"`
	Kind ChangeKind   `json:"change"`
	What []Difference `json:"what,omitempty"` // at least one with ChangeModified, else none
}

// Difference is one aspect of a sample that differs.
type Difference struct {
	Aspect Aspect `json:"aspect"`
	// Field is the field or column concerned, as A calls it; "" for the designated image, the
	// designated label and the split.
	Field string `json:"field,omitempty"`
	// From and To are what A and B have: class names or indices, splits, cells, why they could not be read; nil for
	// AspectBytes and AspectPixels, empty for none.
	From []string `json:"from,omitempty"`
	To   []string `json:"to,omitempty"`
}

// Report counts what Run found. The changes themselves go to Options.OnChange.
type Report struct {
	Common  int `json:"common"` // keys that both have
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"` // of the common ones
	// Aspects counts, of the changed samples, those with a difference of that aspect.
	Aspects map[Aspect]int `json:"aspects,omitempty"`
	// OnlyA and OnlyB are the fields and columns that only one dataset has.
	OnlyA OneSided `json:"-"`
	OnlyB OneSided `json:"-"`
}

// Same reports whether nothing differs: no sample, no field and no column.
func (r *Report) Same() bool {
	return r.Added+r.Removed+r.Changed == 0 && r.OnlyA.empty() && r.OnlyB.empty()
}

func (r *Report) add(c *Change) {
	switch c.Kind {
	case ChangeAdded:
		r.Added++
	case ChangeRemoved:
		r.Removed++
	case ChangeModified:
		r.Changed++
	}
	seen := map[Aspect]bool{}
	for _, d := range c.What {
		if !seen[d.Aspect] {
			seen[d.Aspect] = true
			r.Aspects[d.Aspect]++
		}
	}
}

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
	switch {
	case ctx == nil || a == nil || b == nil:
		return nil, errors.New("diff.Run: the context or a dataset is nil")
	case o.Workers < 0:
		return nil, fmt.Errorf("diff.Run: Options.Workers is %d: it must not be negative; 0 is the default", o.Workers)
	}
	c := &comparison{a: a, b: b, match: matchOf(a.Meta(), b.Meta()), progress: o.Progress, workers: cmp.Or(o.Workers, parallel.Cores())}
	r := &Report{Aspects: map[Aspect]int{}}
	r.OnlyA, r.OnlyB = c.oneSided(a.Meta(), b.Meta())
	if o.OnStart != nil {
		o.OnStart(r.OnlyA, r.OnlyB)
	}
	err := c.run(ctx, func(change *Change) {
		if change.Kind == ChangeModified && len(change.What) == 0 {
			return
		}
		r.add(change)
		if o.OnChange != nil {
			o.OnChange(*change)
		}
	})
	if err != nil {
		return nil, err
	}
	if r.Common = c.common; o.Progress != nil {
		o.Progress(a.Len()+b.Len(), a.Len()+b.Len())
	}
	return r, nil
}

// comparison is two datasets and their fields that are compared.
type comparison struct {
	a, b     formats.Dataset
	match    match
	workers  int
	common   int
	progress func(done, total int)
	shown    time.Time // when progress was called
}

// task is a key to report, whose samples must perhaps be read.
type task struct {
	change Change
	read   bool
	i, j   int
	a, b   formats.Info
}

// batch is how many keys wait to be reported: their samples are read at the same time.
const batch = 512

// run walks both datasets by key, and calls found for each change, on the caller's goroutine.
func (c *comparison) run(ctx context.Context, found func(*Change)) error {
	a, b := cursor{ds: c.a, name: "first", at: -1}, cursor{ds: c.b, name: "second", at: -1}
	if err := a.next(); err != nil {
		return err
	}
	if err := b.next(); err != nil {
		return err
	}
	var tasks []*task
	for n := 0; !a.end || !b.end; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := c.join(&a, &b)
		if err != nil {
			return err
		}
		if t != nil {
			tasks = append(tasks, t)
		}
		if len(tasks) == batch || a.end && b.end {
			if err := c.read(ctx, tasks); err != nil {
				return err
			}
			for _, t := range tasks {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found(&t.change)
			}
			tasks = tasks[:0]
		}
		if c.progress != nil && time.Since(c.shown) >= parallel.ProgressInterval {
			c.shown = time.Now()
			c.progress(a.at+b.at, c.a.Len()+c.b.Len())
		}
	}
	return nil
}

// join advances past the lowest key, and returns what is to report of it, nil if there is nothing.
func (c *comparison) join(a, b *cursor) (t *task, err error) {
	onlyA := !a.end && (b.end || a.info.Key < b.info.Key)
	onlyB := !onlyA && (a.end || b.info.Key < a.info.Key)
	switch {
	case onlyA:
		t = &task{change: Change{Key: a.info.Key, Kind: ChangeRemoved}}
	case onlyB:
		t = &task{change: Change{Key: b.info.Key, Kind: ChangeAdded}}
	default:
		c.common++
		change := Change{Key: a.info.Key, Kind: ChangeModified, What: c.described(&a.info, &b.info)}
		if same := c.sameValues(&a.info, &b.info); !same || len(change.What) > 0 {
			t = &task{change: change, read: !same, i: a.at, j: b.at, a: a.info, b: b.info}
		}
	}
	if !onlyB {
		err = a.next()
	}
	if err == nil && !onlyA {
		err = b.next()
	}
	return t, err
}

// read reads and compares the samples of tasks, where it must.
func (c *comparison) read(ctx context.Context, tasks []*task) error {
	return parallel.Each(ctx, len(tasks), c.workers, func() (func(int) error, func(), error) {
		r := &reader{comparison: c, dec: codec.NewDecoder()}
		return func(k int) error {
			t := tasks[k]
			if !t.read {
				return nil
			}
			return guard.For(fmt.Sprintf("key %q", t.a.Key), func() error {
				values, err := r.values(t.i, t.j, &t.a, &t.b)
				t.change.What = slices.Concat(values, t.change.What)
				return err
			})
		}, r.dec.Close, nil
	})
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

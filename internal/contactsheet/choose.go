package contactsheet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/random"
)

// choose returns the samples to show, as the Loader counts them: those with the keys of o, or random
// ones.
func choose(ctx context.Context, l *reader.Loader, ds formats.Dataset, o *Options) ([]int, error) {
	wanted, err := newClassFilter(ds, l.Classes(), o.Classes)
	if err != nil {
		return nil, err
	}
	if len(o.Keys) > 0 {
		return find(l, o)
	}
	draw := newLottery(o.Samples, o.Seed)
	for i := range l.Samples() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := l.InfoOf(i)
		if err != nil {
			return nil, err
		}
		if ok, err := wanted.has(&in); err != nil {
			return nil, err
		} else if ok {
			draw.add(i, in.Label)
		}
	}
	if chosen := draw.winners(); len(chosen) > 0 {
		return chosen, nil
	}
	return nil, fmt.Errorf("%w: no sample is to be shown: there is none of this split and class", ErrOptions)
}

// find returns the samples with the keys of o.
func find(l *reader.Loader, o *Options) (indices []int, err error) {
	if len(o.Classes) > 0 {
		return nil, fmt.Errorf("%w: keys and classes exclude each other", ErrOptions)
	}
	for _, key := range o.Keys {
		var failed error
		i, found := sort.Find(l.Samples(), func(i int) int {
			in, err := l.InfoOf(i)
			failed = cmp.Or(failed, err)
			return cmp.Compare(key, in.Key)
		})
		switch {
		case failed != nil:
			return nil, failed
		case !found:
			return nil, noSample{fmt.Sprintf("no sample with the key %q", key)}
		}
		indices = append(indices, i)
	}
	return indices, nil
}

// noSample is the error for a key without a sample.
type noSample struct{ text string }

func (e noSample) Error() string { return e.text }

func (noSample) Is(target error) bool { return target == fs.ErrNotExist }

// classFilter tells which samples have one of some classes; nil is all samples.
type classFilter struct {
	ds      formats.Dataset
	classes []int64
	field   int // of multi-hot labels, which only the sample itself has; -1 if the labels are others
	sample  formats.Sample
}

func newClassFilter(ds formats.Dataset, all, names []string) (*classFilter, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c := &classFilter{ds: ds, field: ds.Meta().Schema.LabelIndex()}
	if c.field >= 0 && ds.Meta().Schema[c.field].Kind != formats.MultiHot {
		c.field = -1
	}
	for _, name := range names {
		k := slices.Index(all, name)
		if k < 0 {
			return nil, fmt.Errorf("%w: unknown class %s; the dataset has %d: %s",
				ErrOptions, legible.Name(name), len(all), legible.Line(strings.Join(all[:min(10, len(all))], ", ")))
		}
		c.classes = append(c.classes, int64(k))
	}
	return c, nil
}

func (c *classFilter) has(in *formats.Info) (bool, error) {
	if c == nil || c.field < 0 {
		return c == nil || slices.Contains(c.classes, in.Label), nil
	}
	i, err := formats.Find(c.ds, in.Key)
	if err == nil {
		err = c.ds.Read(i, &c.sample)
	}
	if errors.Is(err, formats.ErrDamaged) {
		return false, nil // its labels are unknown
	} else if err != nil {
		return false, err
	}
	row := c.sample.Values[c.field].Data
	return slices.ContainsFunc(c.classes, func(k int64) bool { return k < int64(len(row)) && row[k] != 0 }), nil
}

// lottery chooses n samples, as many of each class as possible, in memory for 2n samples of each class.
type lottery struct {
	n       int
	seed    uint64
	classes map[int64][]ticket
}

type ticket struct {
	sample int
	draw   uint64
}

func newLottery(n int, seed uint64) *lottery {
	return &lottery{n: n, seed: seed, classes: map[int64][]ticket{}}
}

func (l *lottery) add(sample int, class int64) {
	r := random.NewRand(l.seed, 0, sample)
	tickets := append(l.classes[class], ticket{sample, r.Uint64()})
	if len(tickets) >= 2*l.n {
		tickets = l.best(tickets)
	}
	l.classes[class] = tickets
}

// best returns the n lowest tickets, in order.
func (l *lottery) best(tickets []ticket) []ticket {
	slices.SortFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.draw, b.draw) })
	return tickets[:min(l.n, len(tickets))]
}

// winners returns the chosen samples: those of one class beside each other.
func (l *lottery) winners() (samples []int) {
	type entry struct {
		ticket
		class int64
		round int // the how-manieth of its class
	}
	var all []entry
	for class, tickets := range l.classes {
		for round, t := range l.best(tickets) {
			all = append(all, entry{t, class, round})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.draw, b.draw), cmp.Compare(a.sample, b.sample))
	})
	all = all[:min(l.n, len(all))]
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.sample, b.sample))
	})
	for _, e := range all {
		samples = append(samples, e.sample)
	}
	return samples
}

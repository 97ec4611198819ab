package reader

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/order"
)

// catalogued is a dataset with an index, in which a row has 16 bytes.
type catalogued struct {
	lending
	labels []byte
	lists  map[string][]int32
	broken error // of the index
	infos  atomic.Int64
	leases atomic.Int64
}

const rowBytes = 16

// catalogue makes the index of ds.
func catalogue(ds *memory) *catalogued {
	c := &catalogued{lending: lending{ds}, labels: make([]byte, max(rowBytes*len(ds.samples)-8, 0)), lists: map[string][]int32{}}
	for i := range ds.samples {
		label, _ := ds.samples[i].Values[1].Int64()
		binary.LittleEndian.PutUint64(c.labels[rowBytes*i:], uint64(label))
		c.lists[ds.samples[i].Split] = append(c.lists[ds.samples[i].Split], int32(i))
	}
	return c
}

func (d *catalogued) Labels() ([]byte, int, error) { return d.labels, rowBytes, d.broken }

func (d *catalogued) Members(split string) (indices []int32, all, ok bool, err error) {
	list := d.lists[split]
	if len(list) == d.Len() {
		return nil, true, true, d.broken
	}
	return list, false, true, d.broken
}

func (d *catalogued) Info(i int) (formats.Info, error) {
	d.infos.Add(1)
	return described{summed{d.memory}}.Info(i)
}

func (d *catalogued) Lease() (func(), error) {
	d.leases.Add(1)
	var once atomic.Bool
	return func() {
		if !once.Swap(true) {
			d.leases.Add(-1)
		}
	}, nil
}

// twoSplits has raw images in two splits: side by side, or in turn.
func twoSplits(n int, side bool) *memory {
	ds := rawImages(n, 4, 4, 3)
	for i := range ds.samples {
		if val := i%3 == 0; val && !side || side && i >= n/3 && i < n/2 {
			ds.samples[i].Split = "val"
		}
	}
	return ds
}

// TestAnIndexChangesNoOrder: splits and labels come from it, and samples and states are those without it.
func TestAnIndexChangesNoOrder(t *testing.T) {
	for name, c := range map[string]Config{
		"all":               {Shuffle: true},
		"a split":           {Split: "val", Shuffle: true},
		"blocks":            {Split: "val", Order: order.Spec{Kind: order.Block, Block: 2, Window: 2}},
		"balanced":          {Order: order.Spec{Kind: order.Balanced}},
		"a balanced split":  {Split: "val", Order: order.Spec{Kind: order.Balanced}},
		"a split with more": {Split: "train", Select: func(in formats.Info) bool { return in.Label != 3 }},
	} {
		for _, side := range []bool{false, true} {
			ds := twoSplits(60, side)
			c.BatchSize, c.Seed = 7, 5
			plain, with := makeLoader(t, described{summed{ds}}, c), makeLoader(t, catalogue(ds), c)
			if a, b := plain.StateAt(1, 7), with.StateAt(1, 7); a != b {
				t.Errorf("%s: the state is %+v, with an index %+v", name, a, b)
			}
			for epoch := range 2 {
				a, b := collect(t, plain, epoch), collect(t, with, epoch)
				if !slices.Equal(indices(a), indices(b)) || !slices.Equal(a[0].ImageBytes(), b[0].ImageBytes()) {
					t.Errorf("%s: epoch %d has the samples %v, with an index %v", name, epoch, indices(a), indices(b))
				}
			}
		}
	}
}

// TestOpeningReadsNoRow of a dataset whose index and dataset.json tell what is needed.
func TestOpeningReadsNoRow(t *testing.T) {
	ds := catalogue(twoSplits(60, false))
	ds.meta.Stats = formats.Stats{MinHeight: 4, MaxHeight: 4, MinWidth: 4, MaxWidth: 4}
	for _, c := range []Config{{}, {Shuffle: true}, {Split: "val"}, {Split: "val", Order: order.Spec{Kind: order.Balanced}}} {
		c.BatchSize = 4
		l := makeLoader(t, ds, c)
		if n := ds.infos.Load(); n > 0 {
			t.Errorf("%+v: opening reads the Info of %d samples", c, n)
		}
		if m, err := l.Estimate(t.Context()); err != nil || c.Order.Kind == "" && m.Order != 0 {
			t.Errorf("%+v: the order takes %d bytes: %v", c, m.Order, err)
		}
		ds.infos.Store(0)
	}
}

var errRow = errors.New("the row is damaged")

// unreadable is a dataset of which a row cannot be read.
type unreadable struct{ described }

func (d unreadable) Info(i int) (formats.Info, error) {
	if i == 7 {
		return formats.Info{}, errRow
	}
	return d.described.Info(i)
}

// TestRowsThatCannotBeRead end the planning of an order: it would be another one without a word.
func TestRowsThatCannotBeRead(t *testing.T) {
	plain := unreadable{described{summed{twoSplits(20, false)}}}
	damaged := catalogue(twoSplits(20, false))
	damaged.broken = errRow
	weight := func(formats.Info) float64 { return 1 }
	for name, ds := range map[string]formats.Dataset{"without an index": plain, "with an index": damaged} {
		for _, c := range []Config{
			{Split: "val"},
			{Order: order.Spec{Kind: order.Balanced}},
			{Order: order.Spec{Kind: order.Weighted}, Weight: weight},
		} {
			c.BatchSize, c.AnySize, c.Color = 2, true, "rgb"
			l, err := New(ds, c)
			if ds == damaged && c.Weight != nil {
				if err != nil {
					t.Errorf("%s: weights by Info: %v", name, err)
				}
				_ = l.Close()
				continue
			}
			if !errors.Is(err, errRow) {
				t.Errorf("%s, split %q, order %s: error %v", name, c.Split, c.Order, err)
			}
		}
		if n := damaged.leases.Load(); n != 0 {
			t.Errorf("%s: %d leases are left", name, n)
		}
	}
}

// classesOf are what Labels gives.
func classesOf(t *testing.T, l *Loader) (list []int64) {
	t.Helper()
	data, stride, release, err := l.Labels()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for i := range l.Samples() {
		list = append(list, int64(binary.LittleEndian.Uint64(data[i*stride:])))
	}
	return list
}

// TestLabels are those of the samples.
func TestLabels(t *testing.T) {
	for _, side := range []bool{false, true} {
		ds := twoSplits(60, side)
		for _, split := range []string{"", "val", "train"} {
			l := makeLoader(t, catalogue(ds), Config{BatchSize: 4, Split: split})
			plain := makeLoader(t, described{summed{ds}}, Config{BatchSize: 4, Split: split})
			var want []int64
			for i := range l.Samples() {
				in, err := l.InfoOf(i)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, in.Label)
			}
			for _, of := range []*Loader{l, plain} {
				if got := classesOf(t, of); !slices.Equal(got, want) {
					t.Errorf("split %q, side by side %t, index %t: labels %v, want %v", split, side, of == l, got, want)
				}
			}
		}
	}
	none := rawImages(5, 2, 2, 3)
	none.dropLabels()
	if got := classesOf(t, makeLoader(t, none, Config{BatchSize: 1})); !slices.Equal(got, []int64{-1, -1, -1, -1, -1}) {
		t.Errorf("without labels: %v", got)
	}
}

// TestLabelsAreTheCallers: a change of the dataset's memory changes no labels that were given.
func TestLabelsAreTheCallers(t *testing.T) {
	ds := catalogue(twoSplits(10, false))
	l, err := New(ds, Config{BatchSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	data, _, release, err := l.Labels()
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(data)
	if err := l.Close(); err != nil || ds.leases.Load() != 0 {
		t.Errorf("%d leases are left: %v", ds.leases.Load(), err)
	}
	clear(ds.labels) // as after the file was cut
	release()
	if !slices.Equal(data, before) {
		t.Error("the labels changed")
	}
	if _, _, _, err := l.Labels(); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("labels after Close: %v", err)
	}
	ds.broken = errRow
	l = makeLoader(t, ds, Config{BatchSize: 1})
	if _, _, _, err := l.Labels(); !errors.Is(err, errRow) {
		t.Errorf("labels that cannot be read: %v", err)
	}
}

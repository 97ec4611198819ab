package convert

import (
	"container/heap"
	"fmt"
	"math"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// copyList has the samples of a plan and their copies in the order of their keys. It takes 8 bytes of memory for each sample
// and 4 for each copy, which the garbage collector does not count.
type copyList struct {
	sources *offheapArray[int32] // by number: the index of the sample in the source
	ranks   *offheapArray[int32] // by number: its rank among those of its split
	entries *offheapArray[int32] // by position: number * (copies + 1) + copy; copy 0 is the sample
	each    int                  // copies + 1
}

// newCopyList lists the samples in p's order, which is that of the keys, and their copies.
//
// Copies come in the order of their keys although nothing is sorted: between KEY and KEY@1 are only keys that begin with
// KEY, so that the samples whose copies are not listed yet are prefixes of the present key, at most 511.
func newCopyList(p *Plan) (*copyList, error) {
	c := &p.o.Copies
	l := &copyList{each: c.Count + 1}
	size := p.Len() * c.Count
	if !c.Only {
		size += p.Len()
	}
	if p.Len() > math.MaxInt32/l.each {
		return nil, fmt.Errorf("%d copies of %d samples are too many for one dataset: at most %d", c.Count, p.Len(), math.MaxInt32)
	}
	var err error
	for _, a := range []struct {
		to   **offheapArray[int32]
		size int
	}{{&l.sources, p.Len()}, {&l.ranks, p.Len()}, {&l.entries, size}} {
		if *a.to, err = newOffheap[int32](max(a.size, 1)); err != nil {
			return nil, err
		}
	}
	return l, l.fill(p)
}

func (l *copyList) fill(p *Plan) error {
	var waiting copyHeap
	ranks := map[string]int32{}
	at := 0
	list := func(number, copied int) {
		l.entries.Set(at, int32(number*l.each+copied))
		at++
	}
	for number := range p.Len() {
		in, err := p.infoAt(number)
		if err != nil {
			return err
		}
		if err := checkCopied(in.Key, l.each-1); err != nil {
			return err
		}
		for len(waiting) > 0 && waiting[0].key < in.Key {
			first := heap.Pop(&waiting).(copyEntry)
			list(first.number, first.copied)
		}
		l.sources.Set(number, int32(p.order.at(number)))
		rank, known := ranks[in.Split]
		if !known {
			ranks[strings.Clone(in.Split)] = 0 // the source's memory may go
		}
		ranks[in.Split] = rank + 1
		l.ranks.Set(number, rank)
		if !p.o.Copies.Only {
			list(number, 0)
		}
		for c := 1; c < l.each; c++ {
			heap.Push(&waiting, copyEntry{formats.CopyKey(in.Key, c), number, c})
		}
	}
	for len(waiting) > 0 {
		first := heap.Pop(&waiting).(copyEntry)
		list(first.number, first.copied)
	}
	return nil
}

// checkCopied returns an error about a key whose copies could not be told from others.
func checkCopied(key string, copies int) error {
	if formats.LikeCopy(key) {
		return fmt.Errorf("key %q: it ends like the key of a copy, KEY@N: if the source is a dataset that has copies already, pack the images that they were made of; otherwise rename the file, or leave it out", key)
	}
	if err := formats.CheckKey(formats.CopyKey(key, copies)); err != nil {
		return fmt.Errorf("the key of a copy: %w", err)
	}
	return nil
}

// entry is the sample at a position: its number, and the copy, 0 for the sample itself.
func (l *copyList) entry(i int) (number, copied int) {
	e := int(l.entries.At(i))
	return e / l.each, e % l.each
}

// copyEntry is a copy that is not listed yet.
type copyEntry struct {
	key            string
	number, copied int
}

// copyHeap is a container/heap of copies, the lowest key first.
type copyHeap []copyEntry

func (h copyHeap) Len() int           { return len(h) }
func (h copyHeap) Less(i, j int) bool { return h[i].key < h[j].key }
func (h copyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *copyHeap) Push(x any) { *h = append(*h, x.(copyEntry)) }

// Pop implements heap.Interface.
func (h *copyHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// copiedDataset is the samples of a copyList: those of a source, and copies that still have the sample's pixels.
type copiedDataset struct {
	formats.Dataset
	list   *copyList
	splits *Splits
}

// Len implements formats.Dataset.
func (d *copiedDataset) Len() int { return d.list.entries.Len() }

// source is the index in the source of sample i, and which copy of it that is.
func (d *copiedDataset) source(i int) (at, copied int) {
	number, copied := d.list.entry(i)
	return int(d.list.sources.At(number)), copied
}

// Info implements formats.Dataset.
func (d *copiedDataset) Info(i int) (formats.Info, error) {
	at, copied := d.source(i)
	in, err := d.Dataset.Info(at)
	if err != nil {
		return in, err
	}
	in.Split = d.splits.Of(at, in)
	if copied > 0 {
		in.Key = formats.CopyKey(in.Key, copied)
	}
	return in, nil
}

// Read implements formats.Dataset.
func (d *copiedDataset) Read(i int, s *formats.Sample) error {
	at, copied := d.source(i)
	if err := d.Dataset.Read(at, s); err != nil {
		return err
	}
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	s.Split = in.Split
	if copied > 0 {
		s.Key, s.Checksum = in.Key, [16]byte{}
	}
	return nil
}

// LabelSum implements labelSummer.
func (d *copiedDataset) LabelSum(i int, in *formats.Info) int64 {
	at, _ := d.source(i)
	return labelSum(d.Dataset, at, in)
}

package extsort

import (
	"bytes"
	"container/heap"
	"errors"
)

// mergeFull merges the last runs if there are as many of one level as one merge takes, so that their number
// grows with the logarithm of the records.
func (s *Sorter) mergeFull() error {
	for {
		n, level := 0, s.runs[len(s.runs)-1].level
		for n < len(s.runs) && s.runs[len(s.runs)-1-n].level == level {
			n++
		}
		if n < s.fanIn {
			return nil
		}
		if err := s.mergeLast(n); err != nil {
			return err
		}
	}
}

// mergeLast makes one run of the last n. Neighbours in time stay neighbours: that keeps equal keys in the
// order of Add.
func (s *Sorter) mergeLast(n int) error {
	first := len(s.runs) - n
	merged := s.runs[first:]
	w, err := s.newRun(merged[0].level + 1)
	if err != nil {
		return err
	}
	if err := merge(merged, w.add); err != nil {
		return errors.Join(err, w.close())
	}
	s.runs = s.runs[:first]
	for _, r := range merged {
		err = errors.Join(err, r.close())
	}
	return errors.Join(err, s.finish(w))
}

// merge calls yield for each record of the runs.
func merge(runs []*run, yield func(key, value []byte) error) error {
	var h mergeHeap
	for i, r := range runs {
		c := &cursor{run: r, index: i}
		if ok, err := c.next(); err != nil {
			return err
		} else if ok {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		c := h[0]
		if err := yield(c.key, c.value); err != nil {
			return err
		}
		if ok, err := c.next(); err != nil {
			return err
		} else if !ok {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return nil
}

// mergeHeap has the cursor with the smallest key first; of equal keys that of the older run.
type mergeHeap []*cursor

func (h mergeHeap) Len() int { return len(h) }

func (h mergeHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].index < h[j].index
}

func (h mergeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *mergeHeap) Push(x any) { *h = append(*h, x.(*cursor)) }

func (h *mergeHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}

package extsort

import (
	"bytes"
	"container/heap"
)

// merge calls yield for each record of the runs.
func (f *file) merge(yield func(key, value []byte) error) error {
	var h mergeHeap
	for i, from := range append([]int64{0}, f.ends[:len(f.ends)-1]...) {
		c := &cursor{file: f, index: i, offset: from, end: f.ends[i]}
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

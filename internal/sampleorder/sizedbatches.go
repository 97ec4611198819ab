package sampleorder

import (
	"fmt"
	"sort"
)

// SizedBatches divides the positions of a list into batches of given sizes, of one rank.
type SizedBatches struct {
	start int
	ends  []int // the positions after the batches from start on
}

// DivideBySizes divides a list of n samples into batches of these sizes, from 1 to most, which add up to n. The
// first batch begins at the position start, where one of the others must end.
func DivideBySizes(sizes []int32, n, most, start int) (SizedBatches, error) {
	b := SizedBatches{start: start, ends: make([]int, 0, len(sizes))}
	end := 0
	for k, size := range sizes {
		if size < 1 || int(size) > most {
			return b, fmt.Errorf("batch %d has the size %d: sizes are from 1 to the batch size %d", k, size, most)
		}
		begins := end
		if end += int(size); end <= start {
			continue
		}
		if begins < start {
			return b, fmt.Errorf("position %d is inside batch %d, which begins at %d: use a batch's End", start, k, begins)
		}
		b.ends = append(b.ends, end)
	}
	if end != n {
		return b, fmt.Errorf("the sizes of %d batches add up to %d, and the list has %d samples", len(sizes), end, n)
	}
	return b, nil
}

// Batches is the number of batches.
func (b SizedBatches) Batches() int { return len(b.ends) }

// Span returns the first position of batch k, 0 <= k < Batches(), and its size.
func (b SizedBatches) Span(k int) (first, size int) {
	first = b.start
	if k > 0 {
		first = b.ends[k-1]
	}
	return first, b.ends[k] - first
}

// Step is Span: no other rank has a part of the list.
func (b SizedBatches) Step(k int) (first, size int) { return b.Span(k) }

// End is the position after batch k.
func (b SizedBatches) End(k int) int { return b.ends[k] }

// Entries is the number of entries in all batches.
func (b SizedBatches) Entries() int {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1] - b.start
}

// Locate returns the batch of an entry, and its place there, if each batch has extra more entries than
// positions.
func (b SizedBatches) Locate(entry int64, extra int) (k, i int) {
	first := func(k int) int64 { // entry of batch k
		at, _ := b.Span(k)
		return int64(at - b.start + k*extra)
	}
	k = sort.Search(len(b.ends), func(k int) bool { return first(k) > entry }) - 1
	return k, int(entry - first(k))
}

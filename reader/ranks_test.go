package reader_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/order"
)

// some says yes to n samples, not the first in order of key.
func some(ds formats.Dataset, n int) func(formats.Info) bool {
	keys := map[string]bool{}
	for i := range ds.Len() {
		if in, err := ds.Info((i*7 + 3) % ds.Len()); err == nil && len(keys) < n {
			keys[in.Key] = true
		}
	}
	return func(in formats.Info) bool { return keys[in.Key] }
}

// ranked is an epoch as ranks have it, each from another format: steps[r] are rank r's.
func ranked(t *testing.T, datasets []formats.Dataset, c reader.Config, world, epoch int) (steps [][]step) {
	t.Helper()
	for rank := range world {
		c.Rank, c.WorldSize, c.Workers = rank, world, 1+rank
		l := newLoader(t, datasets[rank%len(datasets)], c)
		var mine []step
		for b, err := range l.Epoch(t.Context(), epoch) {
			must(t, err)
			checkPadding(t, b)
			mine = append(mine, stepOf(b))
		}
		if len(mine) != l.Len() {
			t.Fatalf("rank %d: %d batches, Len says %d", rank, len(mine), l.Len())
		}
		steps = append(steps, mine)
	}
	return steps
}

// union is what all ranks have of step k, in order of rank.
func union(steps [][]step, k int) (all []entry) {
	for _, mine := range steps {
		if k < len(mine) {
			all = append(all, mine[k].Entries...)
		}
	}
	return all
}

// checkPadding holds that padding counts for nothing.
func checkPadding(t *testing.T, b *reader.Batch) {
	t.Helper()
	for i, index := range b.Indices {
		if index >= 0 {
			continue
		}
		if b.Label(i) != formats.NoLabel {
			t.Fatalf("padding has the label %d", b.Label(i))
		}
		if soft := row(b.Soft, b.N, i); slices.ContainsFunc(soft, func(x float32) bool { return x != 0 }) {
			t.Fatalf("padding has the soft label %v", soft)
		}
	}
}

// TestRanksUnionIsOneRanksEpoch: pixels and mixtures included, whichever format a rank reads.
func TestRanksUnionIsOneRanksEpoch(t *testing.T) {
	const world, batch = 4, 3
	datasets := newCorpus(t, 60, packings()).datasets(t)
	sizes := []int{1, 2, 11, 12, 25, 38, 60}
	if testing.Short() {
		sizes = []int{2, 38}
	}
	for k, tt := range []struct {
		order string
		tail  order.Tail
		mix   bool
	}{
		{"full", order.Pad, true},
		{"block:4:3", order.Drop, true},
		{"balanced", order.Pad, false},
		{"full", order.Uneven, false},
		{"none", order.Uneven, false},
	} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s %v %d", tt.order, tt.tail, n), func(t *testing.T) {
				c := training()
				if tt.mix {
					c = training(bothMixers...)
				}
				var err error
				c.Order, err = order.Parse(tt.order)
				must(t, err)
				c.Tail, c.BatchSize, c.Select = tt.tail, batch, some(datasets[0], n)
				ranks := ranked(t, datasets, c, world, k)
				c.BatchSize = world * batch
				one := ranked(t, datasets, c, 1, k)[0]
				checkUnion(t, ranks, one, tt.tail, tt.mix)
				if left := n % (world * batch); tt.tail == order.Uneven && len(ranks[0]) > len(ranks[world-1]) != (left > 0 && left < world) {
					t.Errorf("%d and %d batches with %d left", len(ranks[0]), len(ranks[world-1]), left)
				}
			})
		}
	}
}

func checkUnion(t *testing.T, ranks [][]step, one []step, tail order.Tail, mixed bool) {
	t.Helper()
	for r, mine := range ranks {
		if len(mine) != len(one) && tail != order.Uneven {
			t.Fatalf("rank %d has %d batches, one rank %d", r, len(mine), len(one))
		}
		for k := range mine {
			if mine[k].End != one[k].End {
				t.Fatalf("rank %d: batch %d ends at %d, one rank's at %d", r, k, mine[k].End, one[k].End)
			}
			if tail != order.Uneven && len(mine[k].Entries) != len(ranks[0][k].Entries) {
				t.Fatalf("batch %d: %d entries on rank %d, %d on rank 0", k, len(mine[k].Entries), r, len(ranks[0][k].Entries))
			}
		}
	}
	for k := range one {
		want := one[k].Entries
		all := union(ranks, k)
		got := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.Index < 0 })
		if mixed && len(got) < len(all) { // the padding is part of the mixture
			want, got = unmixed(want), unmixed(got)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("step %d: the ranks have %v, one has %v", k, got, want)
		}
	}
}

// unmixed is entries without what is mixed.
func unmixed(entries []entry) []entry {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Sum = 0
	}
	return entries
}

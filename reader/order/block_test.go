package order

import (
	"slices"
	"testing"
)

// TestWindowsAreRunsOfBlocks checks that windows follow one another, have at most window blocks and
// at least half as many, and that each has the samples of at most so many blocks.
func TestWindowsAreRunsOfBlocks(t *testing.T) {
	for _, c := range []struct{ n, block, window int }{
		{1000, 10, 4}, {1000, 7, 5}, {999, 10, 3}, {1001, 10, 100}, {1001, 10, 101}, {10, 20, 1}, {100, 1, 3}, {641, 64, 2},
	} {
		l := newLayout(c.n, c.block, c.window)
		for epoch := range 5 {
			o := newBlocks(l, 7, epoch)
			for position := 0; position < c.n; {
				w, first, size := l.window(position)
				if first != position || size > c.block*c.window {
					t.Fatalf("%+v: window %d is %d at %d, want it at %d", c, w, size, first, position)
				}
				if l.windows > 1 && size < c.block*c.window/2-c.block {
					t.Errorf("%+v: window %d has only %d samples", c, w, size)
				}
				var indices []int
				for ; position < first+size; position++ {
					if v, f, s := l.window(position); v != w || f != first || s != size {
						t.Fatalf("%+v: position %d is in window %d", c, position, v)
					}
					indices = append(indices, o.At(position))
				}
				if got := runs(indices, c.n); got > c.window {
					t.Errorf("%+v: window %d lies in %d indices", c, w, got)
				}
			}
		}
	}
}

// runs is the number of runs of consecutive indices, circular, of n.
func runs(indices []int, n int) int {
	slices.Sort(indices)
	count := 0
	for i, p := range indices {
		before := indices[(i+len(indices)-1)%len(indices)]
		if (before+1)%n != p || len(indices) == 1 {
			count++
		}
	}
	return max(count, 1)
}

// TestShortBlockIsRandom checks that every sample is equally often in the short block, which
// is always the last.
func TestShortBlockIsRandom(t *testing.T) {
	const n, epochs = 23, 20_000
	last := make([]int, n)
	l := newLayout(n, 5, 1) // its windows are blocks, the last has 3 samples
	for epoch := range epochs {
		o := newBlocks(l, 1, epoch)
		for position := 20; position < n; position++ {
			last[o.At(position)]++
		}
	}
	checkEven(t, "in the last block", last, epochs*3./n, 0)
}

package manifest

import (
	"slices"
	"testing"
)

// Chunks of rows show at their bounds alone.
func TestRowsInChunks(t *testing.T) {
	for _, n := range []int{0, 1, chunkRows - 1, chunkRows, chunkRows + 1, 2*chunkRows + 5} {
		var grown, made rows
		made.reserve(n)
		for i := range n {
			if last := grown.last(); i > 0 && last.label != int64(i-1) {
				t.Fatalf("%d rows: the last has the label %d", i, last.label)
			}
			grown.add().label = int64(i)
			made.at(i).label = int64(i)
		}
		if grown.n != n || made.n != n || len(grown.chunks) != len(made.chunks) {
			t.Fatalf("%d and %d rows of %d", grown.n, made.n, n)
		}
		for k := range made.chunks {
			if !slices.Equal(grown.chunks[k], made.chunks[k]) {
				t.Fatalf("%d rows: chunk %d differs", n, k)
			}
		}
		for i := range n {
			if grown.at(i).label != int64(i) {
				t.Fatalf("row %d is %d", i, grown.at(i).label)
			}
		}
	}
}

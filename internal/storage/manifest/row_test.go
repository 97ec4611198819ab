package manifest

import "testing"

// Chunks of rows show at their bounds alone.
func TestRowsInChunks(t *testing.T) {
	for _, n := range []int{0, 1, chunkRows - 1, chunkRows, chunkRows + 1, 2*chunkRows + 5} {
		var grown rows
		for i := range n {
			if last := grown.last(); i > 0 && last.label != int64(i-1) {
				t.Fatalf("%d rows: the last has the label %d", i, last.label)
			}
			grown.add().label = int64(i)
		}
		if grown.n != n {
			t.Fatalf("%d rows of %d", grown.n, n)
		}
		for i := range n {
			if grown.at(i).label != int64(i) {
				t.Fatalf("row %d is %d", i, grown.at(i).label)
			}
		}
	}
}

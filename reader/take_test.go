package reader

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func mustSelect(t *testing.T, n int, keep func(i int) bool) subset {
	t.Helper()
	s, err := selectOf(n, keep)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(s subset) (all []int) {
	for i := range s.Len() {
		all = append(all, s.At(i))
	}
	return all
}

// TestTake has the samples of the list, and a name that only equal lists have.
func TestTake(t *testing.T) {
	const n = 50
	r := rand.New(rand.NewPCG(1, 1))
	odd := mustSelect(t, n, func(i int) bool { return i%2 == 1 })
	joined := joinOf(odd, allOf(n), span(10, 5, n))
	names := map[string][]int{}
	for range 300 {
		of := []subset{allOf(n), odd, joined}[r.IntN(3)]
		list := make([]int32, r.IntN(4))
		for k := range list {
			list[k] = int32(r.IntN(of.Len()))
		}
		s, err := of.Take(list)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for _, i := range list {
			want = append(want, of.At(int(i)))
		}
		got := at(s)
		if !slices.Equal(got, want) {
			t.Fatalf("%v of %s are %v, want %v", list, of, got, want)
		}
		if same, seen := names[s.String()]; seen && !slices.Equal(same, got) {
			t.Fatalf("%v and %v are both %q", same, got, s)
		}
		names[s.String()] = got
	}
	backwards := make([]int32, n)
	for i := range backwards {
		backwards[i] = int32(n - 1 - i)
	}
	if s, err := allOf(n).Take(backwards); err != nil || s.String() == allOf(n).String() {
		t.Errorf("all samples backwards are %q: %v", s, err)
	}
	slices.Reverse(backwards)
	if s, err := allOf(n).Take(backwards); err != nil || s.String() != allOf(n).String() || s.Listed() != 0 {
		t.Errorf("all samples in order are %q and take memory for %d: %v", s, s.Listed(), err)
	}
	if s, err := allOf(n).Take([]int32{1, 3, 4}); err != nil || s.String() != mustSelect(t, n, func(i int) bool { return i == 1 || i == 3 || i == 4 }).String() {
		t.Errorf("an ascending list is not the subset that it was before: %q, %v", s, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	for want, list := range map[string][]int32{"sample 5, at position 1": {0, 5}, "sample -1, at position 0": {-1}} {
		if _, err := allOf(5).Take(list); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "0 to 4") {
			t.Errorf("%v: %v", list, err)
		}
	}
}

// TestUnion is in order of the dataset, whatever the order of the parts.
func TestUnion(t *testing.T) {
	const n = 40
	third := mustSelect(t, n, func(i int) bool { return i%3 == 0 })
	rest := mustSelect(t, n, func(i int) bool { return i%3 != 0 && i < 20 })
	want := mustSelect(t, n, func(i int) bool { return i%3 == 0 || i < 20 })
	for _, parts := range [][]subset{{third, rest}, {rest, third}, {third, rest, span(0, 0, n)}} {
		s, err := unionOf(parts...)
		if err != nil || s.String() != want.String() || !slices.Equal(at(s), at(want)) {
			t.Errorf("%s: %v, %v", s, at(s), err)
		}
	}
	if s, err := unionOf(span(0, 10, n), span(10, 30, n)); err != nil || s.String() != allOf(n).String() || s.Listed() != 0 {
		t.Errorf("both halves are %s, %v", s, err)
	}
	if s, err := unionOf(third); err != nil || s.String() != third.String() {
		t.Errorf("one part is %s, %v", s, err)
	}
}

// TestSizedBatches covers the list, from each batch on.
func TestSizedBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		sizes, starts := make([]int32, r.IntN(6)), []int{0}
		for k := range sizes {
			sizes[k] = 1 + r.Int32N(5)
			starts = append(starts, starts[k]+int(sizes[k]))
		}
		n := starts[len(sizes)]
		for from, start := range starts {
			b, err := divideBySizes(sizes, n, 5, start)
			if err != nil || b.Batches() != len(sizes)-from || b.Entries() != n-start {
				t.Fatalf("%v from %d: %+v, %v", sizes, start, b, err)
			}
			extra := r.IntN(2)
			entry := int64(0)
			for k := range b.Batches() {
				first, size := b.Span(k)
				if first != starts[from+k] || size != int(sizes[from+k]) || b.End(k) != first+size {
					t.Fatalf("%v from %d: batch %d is %d+%d to %d", sizes, start, k, first, size, b.End(k))
				}
				for i := range size + extra {
					if gotK, gotI := b.Locate(entry, extra); gotK != k || gotI != i {
						t.Fatalf("%v from %d: entry %d is %d of batch %d, want %d of %d", sizes, start, entry, gotI, gotK, i, k)
					}
					entry++
				}
			}
		}
	}
	for want, tt := range map[string]struct {
		sizes    []int32
		n, start int
	}{
		"batch 1 has the size 0":                   {[]int32{2, 0, 1}, 3, 0},
		"batch 2 has the size 6":                   {[]int32{2, 1, 6}, 9, 0},
		"batch 0 has the size -1":                  {[]int32{-1, 4}, 3, 0},
		"add up to 3, and the list has 4":          {[]int32{2, 1}, 4, 0},
		"add up to 5, and the list has 4":          {[]int32{2, 3}, 4, 0},
		"position 3 is inside batch 1, which begi": {[]int32{2, 3}, 5, 3},
	} {
		if _, err := divideBySizes(tt.sizes, tt.n, 5, tt.start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestLocate of ranks' batches is the inverse of their spans.
func TestLocate(t *testing.T) {
	b := rankBatches{Len: 23, Start: 3, Batch: 4, Rank: 1, World: 2}
	entry := int64(0)
	for k := range b.Batches() {
		_, size := b.Span(k)
		for i := range size + 1 {
			if gotK, gotI := b.Locate(entry, 1); gotK != k || gotI != i {
				t.Errorf("entry %d is %d of batch %d, want %d of %d", entry, gotI, gotK, i, k)
			}
			entry++
		}
	}
}

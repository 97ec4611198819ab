package conformance

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// prefetch: any indices may be given, also while others read, they stay the caller's, and
// what is read is the same.
func (s suite) prefetch(t *testing.T) {
	for name, c := range map[string]set{"photos": photos(300), "every kind": everyKind(40), "empty": photos(0)} {
		t.Run(name, func(t *testing.T) {
			ds := s.open(t, s.write(t, c))
			p, ok := ds.(formats.Prefetcher)
			if !ok {
				t.Fatal("not a Prefetcher")
			}
			n := int32(ds.Len())
			for _, indices := range [][]int32{
				nil, {}, {0}, {-1, n, math.MaxInt32, math.MinInt32}, {n - 1, 0, 0, n - 1, n}, every(n),
			} {
				given := slices.Clone(indices)
				p.Prefetch(given)
				if !slices.Equal(given, indices) {
					t.Errorf("%v became %v", indices, given)
				}
			}
			var wg sync.WaitGroup
			for g := range 3 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), 0))
					for range 20 {
						indices := make([]int32, 64)
						for k := range indices {
							indices[k] = r.Int32N(n + 1)
						}
						p.Prefetch(indices)
						clear(indices)
					}
				})
			}
			same(t, ds, c)
			wg.Wait()
		})
	}
}

func every(n int32) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// storageOrder: where a dataset tells it, each index is in it once, and a dataset whose
// writer wants the samples in order of key does not need to.
func (s suite) storageOrder(t *testing.T) {
	c := photos(50)
	ds := s.open(t, s.write(t, c))
	stored, ok := ds.(formats.StorageOrdered)
	if ok == s.format.Traits().Ordered {
		t.Fatalf("samples written in order of key: %v, but StorageOrdered: %v", s.format.Traits().Ordered, ok)
	}
	if !ok {
		return
	}
	var order []int32
	if err := stored.EachStored(func(i int32) error {
		order = append(order, i)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ranked := c.inKeyOrder()
	for k, i := range c.order(false) {
		if got := ranked[order[k]].Key; got != c.samples[i].Key {
			t.Fatalf("record %d is of %q, written was %q", k, got, c.samples[i].Key)
		}
	}
	if slices.Sort(order); !slices.Equal(order, every(50)) {
		t.Errorf("not each index once: %v", order)
	}
}

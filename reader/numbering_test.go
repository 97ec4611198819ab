package reader

import (
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// checkNumbers holds that the indices of batches are those that InfoOf takes. A sample's label is
// its place in ds.
func checkNumbers(t *testing.T, l *Loader, ds *memory, batches []*Batch) {
	t.Helper()
	samples := 0
	for _, b := range batches {
		for i, index := range b.Indices {
			if index < 0 {
				continue
			}
			info, err := l.InfoOf(index)
			if err != nil {
				t.Fatal(err)
			}
			if want := ds.samples[Labels[int64](b)[i]].Key; info.Key != want {
				t.Fatalf("index %d is %s, the batch has %s", index, info.Key, want)
			}
			samples++
		}
	}
	if samples == 0 {
		t.Fatal("there are no samples")
	}
}

// described is a summed dataset whose Info has the label too.
type described struct{ summed }

func (d described) Info(i int) (formats.Info, error) {
	info, err := d.summed.Info(i)
	info.Label, _ = d.samples[i].Values[1].Int64()
	return info, err
}

// placed is photos, each with its place as the label.
func placed(t testing.TB, n int) *memory {
	t.Helper()
	ds := photos(t, n)
	ds.meta.Schema[1].Classes = classes(n)
	for i := range ds.samples {
		ds.samples[i].Values[1].SetInt64(int64(i))
	}
	return ds
}

// TestIndicesNumberTheLoadersSamples: of a split or a selection they count what it has, as Pick,
// InfoOf, Order and StartList do, whatever the order, the ranks and the cache.
func TestIndicesNumberTheLoadersSamples(t *testing.T) {
	ds := placed(t, 31)
	odd := func(in formats.Info) bool { return in.Label%2 == 1 }
	for name, c := range map[string]Config{
		"a split":              {Split: "val"},
		"a selection":          {Split: "train", Select: odd, Shuffle: true},
		"splits":               {Splits: []string{"val", "train"}, Shuffle: true},
		"a list":               {Samples: []int32{30, 2, 2, 7, 0, 30, 11}, Shuffle: true},
		"a list of a split":    {Split: "val", Samples: []int32{9, 9, 1, 0, 5}},
		"a list and a cache":   {Split: "val", Samples: []int32{9, 9, 1, 0, 5}, Cache: Cache{Kind: Encoded, Dir: t.TempDir(), Limit: 1 << 24}},
		"a rank with padding":  {Split: "val", Rank: 2, WorldSize: 3},
		"blocks":               {Split: "val", Order: order.Spec{Kind: order.Block, Block: 2, Window: 2}},
		"a draw with repeats":  {Split: "val", Order: order.Spec{Kind: order.Balanced}},
		"a cache of pixels":    {Split: "val", Cache: Cache{Kind: Decoded, Dir: t.TempDir(), Limit: 1 << 24}},
		"a cache of the files": {Split: "val", Cache: Cache{Kind: Encoded, Dir: t.TempDir(), Limit: 1 << 24}},
	} {
		t.Run(name, func(t *testing.T) {
			c.BatchSize, c.Workers, c.Transforms = 4, 2, augment.Train(8)
			l := makeLoader(t, described{summed{ds}}, c)
			for epoch := range 2 {
				checkNumbers(t, l, ds, collect(t, l, epoch))
			}
			for i := range l.Samples() {
				b := new(Batch)
				if err := l.Pick(i, 0, b); err != nil || b.Indices[0] != i {
					t.Fatalf("sample %d has the index %v: %v", i, b.Indices, err)
				}
			}
			list := []int32{3, 0, 1}
			r, err := l.StartWith(t.Context(), RunOptions{List: list})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop()
			got, _ := pull(t, r)
			checkNumbers(t, l, ds, got)
			if all := indices(got); !slices.Equal(all, []int{3, 0, 1}) {
				t.Errorf("a list of %v gives the indices %v", list, all)
			}
		})
	}
}

// TestBadSamplesHaveTheNumbersOfBatches: those of the split, and each says its key.
func TestBadSamplesHaveTheNumbersOfBatches(t *testing.T) {
	ds := placed(t, 30)
	for _, i := range []int{5, 8, 14} { // 1, 2 and 4 of the split val
		ds.samples[i].Values[0] = cutJPEG(t)
	}
	l := makeLoader(t, ds, Config{BatchSize: 4, Split: "val", OnError: Skip, Transforms: augment.Train(8)})
	checkNumbers(t, l, ds, collect(t, l, 0))
	_, bad := l.Bad()
	var got []int
	for _, b := range bad {
		got = append(got, b.Index)
	}
	if slices.Sort(got); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("bad samples %v", got)
	}
}

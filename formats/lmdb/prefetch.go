package lmdb

import (
	"slices"

	"github.com/dsconv/dsconv/formats/atrest"
)

// Prefetch implements formats.Prefetcher. Where a value lies stands in the leaf of its key,
// which may be on the disk itself: a goroutine, for which Close waits, reads leaves first.
func (d *dataset) Prefetch(indices []int32) {
	ranks := slices.Clone(indices)
	ranks = slices.DeleteFunc(ranks, func(i int32) bool { return i < 0 || int(i) >= d.Len() })
	d.ahead.Go(func() {
		// A page that cannot be read is the affair of who reads the value.
		_ = atrest.Guard(func() error {
			for _, e := range d.environments() {
				for i := range e.databases {
					e.prefetch(e.databases[i].index, ranks, d.Table.Key)
				}
			}
			return nil
		})
	})
}

func (e *environment) prefetch(ix *index, ranks []int32, key func(rank int) string) {
	if ix == nil {
		return // of a single leaf, or damaged
	}
	files := []*atrest.Mapping{e.mapping}
	places := make([]atrest.Place, 0, len(ranks))
	for _, i := range ranks {
		if page, _, ok := ix.leaf(int(i)); ok && page < e.count {
			places = append(places, atrest.Place{Offset: int64(page) * int64(e.size), Length: int64(e.size)})
		}
	}
	atrest.Prefetch(files, places)
	places = places[:0]
	for _, i := range ranks {
		n, ok := ix.find(int(i), key(int(i)))
		if !ok {
			continue
		}
		if no, _, err := n.place(); err == nil && no < e.count {
			places = append(places, atrest.Place{Offset: int64(no) * int64(e.size), Length: pageHeader + int64(n.size())})
		}
	}
	atrest.Prefetch(files, places)
}

package sharded

import (
	"cmp"
	"slices"

	"github.com/dsconv/dsconv/formats/manifest"
	"github.com/dsconv/dsconv/formats/mapped"
)

// looks is the number of records by which Prefetch judges whether all are in memory.
const looks = 8

// Prefetch has the system read the places in files, which it sorts, without waiting, unless
// those it looks at are in memory; see formats.Prefetcher. A place's Shard is the index in
// files. Places that are none are passed over.
func Prefetch(files []*mapped.Mapping, places []manifest.Place) {
	places = slices.DeleteFunc(places, func(p manifest.Place) bool { return !within(files, p) })
	if len(places) == 0 || Cached(files, places) {
		return
	}
	slices.SortFunc(places, func(a, b manifest.Place) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	})
	for len(places) > 0 {
		shard, from, to := places[0].Shard, mapped.PageOf(places[0].Offset), places[0].Offset+places[0].Length
		n := 1
		for n < len(places) && places[n].Shard == shard && mapped.PageOf(places[n].Offset) <= to {
			to = max(to, places[n].Offset+places[n].Length)
			n++
		}
		files[shard].WillNeed(from, to)
		places = places[n:]
	}
}

func within(files []*mapped.Mapping, p manifest.Place) bool {
	if p.Shard < 0 || p.Shard >= len(files) || p.Offset < 0 || p.Length <= 0 {
		return false
	}
	size := int64(len(files[p.Shard].Data))
	return p.Offset < size && p.Length <= size-p.Offset
}

// Cached says whether the middles of some of the places, at most looks, are all in memory,
// false where the system does not tell. The places must lie in the files.
func Cached(files []*mapped.Mapping, places []manifest.Place) bool {
	n := min(looks, len(places))
	for k := range n {
		p := places[k*len(places)/n]
		if !files[p.Shard].Resident(p.Offset + p.Length/2) {
			return false
		}
	}
	return true
}

// Prefetch implements formats.Prefetcher.
func (r *Records) Prefetch(indices []int32) {
	places := make([]manifest.Place, 0, len(indices))
	for _, i := range indices {
		if r.Table.InRange(int(i)) == nil {
			places = append(places, r.Table.Place(int(i)))
		}
	}
	Prefetch(r.files, places)
}

package atrest

import (
	"cmp"
	"slices"
)

// looks is the number of records by which Prefetch judges whether all are in memory.
const looks = 8

// Prefetch has the system read the places in files, which it sorts, without waiting, unless
// those it looks at are in memory; see formats.Prefetcher. A place's Shard is the index in
// files. Places that are none are passed over.
func Prefetch(files []*Mapping, places []Place) {
	places = slices.DeleteFunc(places, func(p Place) bool { return !within(files, p) })
	if len(places) == 0 || Cached(files, places) {
		return
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	})
	for len(places) > 0 {
		shard, from, to := places[0].Shard, pageOf(places[0].Offset), places[0].Offset+places[0].Length
		n := 1
		for n < len(places) && places[n].Shard == shard && pageOf(places[n].Offset) <= to {
			to = max(to, places[n].Offset+places[n].Length)
			n++
		}
		files[shard].willNeed(from, to)
		places = places[n:]
	}
}

func within(files []*Mapping, p Place) bool {
	if p.Shard < 0 || p.Shard >= len(files) || p.Offset < 0 || p.Length <= 0 {
		return false
	}
	size := int64(len(files[p.Shard].Data))
	return p.Offset < size && p.Length <= size-p.Offset
}

// Cached says whether the middles of some of the places, at most looks, are all in memory,
// false where the system does not tell. The places must lie in the files.
func Cached(files []*Mapping, places []Place) bool {
	n := min(looks, len(places))
	for k := range n {
		p := places[k*len(places)/n]
		if !files[p.Shard].resident(p.Offset + p.Length/2) {
			return false
		}
	}
	return true
}

// Prefetch implements formats.Prefetcher.
func (r *Records) Prefetch(indices []int32) {
	places := make([]Place, 0, len(indices))
	for _, i := range indices {
		if r.Table.inRange(int(i)) == nil {
			places = append(places, r.Table.Place(int(i)))
		}
	}
	Prefetch(r.files, places)
}

package atrest

import (
	"cmp"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviceLength is how many bytes the system is told of at a time: of more than its read-ahead
// window, 128 KiB by default, Linux drops the rest.
const adviceLength = 128 << 10

// looks is the number of records by which Prefetch judges whether all are in memory.
const probeCount = 8

var pageSize = int64(os.Getpagesize())

// Prefetch has the system read the places in files, which it sorts, without waiting, unless
// those it looks at are in memory; see formats.Prefetcher. A place's Shard is the index in
// files. Places that are none are passed over.
func Prefetch(files []*Mapping, places []Location) {
	places = slices.DeleteFunc(places, func(p Location) bool { return !isWithin(files, p) })
	if len(places) == 0 || InMemory(files, places) {
		return
	}
	slices.SortFunc(places, func(a, b Location) int {
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

func isWithin(files []*Mapping, p Location) bool {
	if p.Shard < 0 || p.Shard >= len(files) || p.Offset < 0 || p.Length <= 0 {
		return false
	}
	size := int64(len(files[p.Shard].Data))
	return p.Offset < size && p.Length <= size-p.Offset
}

// Cached says whether the middles of some of the places, at most looks, are all in memory,
// false where the system does not tell. The places must lie in the files.
func InMemory(files []*Mapping, places []Location) bool {
	n := min(probeCount, len(places))
	for k := range n {
		p := places[k*len(places)/n]
		if !files[p.Shard].resident(p.Offset + p.Length/2) {
			return false
		}
	}
	return true
}

func pageOf(off int64) int64 { return off &^ (pageSize - 1) }

// willNeed tells the system that the bytes from a page's first to to will be used soon. An
// error would show again, with its cause, when they are.
func (m *Mapping) willNeed(from, to int64) {
	for ; from < to; from += adviceLength {
		_ = unix.Madvise(m.Data[from:min(from+adviceLength, to)], unix.MADV_WILLNEED)
	}
}

// Offset is where b, a part of Data, begins in the file.
func (m *Mapping) Offset(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))))
}

// Prefetch implements formats.Prefetcher.
func (r *Records) Prefetch(indices []int32) {
	places := make([]Location, 0, len(indices))
	for _, i := range indices {
		if r.Manifest.checkIndex(int(i)) == nil {
			places = append(places, r.Manifest.Location(int(i)))
		}
	}
	Prefetch(r.files, places)
}

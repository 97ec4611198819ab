package sharded

import (
	"cmp"
	"slices"

	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// probeCount is the number of records that Prefetch probes to judge whether all are in memory.
const probeCount = 8

// Prefetch asks the system to read the locations in files, without waiting, unless those it
// probes are in memory; see formats.Prefetcher. It sorts locations. A location's Shard is the
// index in files. Invalid locations are skipped.
func Prefetch(files []*mapped.Mapping, locations []sampleindex.Location) {
	locations = slices.DeleteFunc(locations, func(p sampleindex.Location) bool { return !isWithin(files, p) })
	if len(locations) == 0 || inMemory(files, locations) {
		return
	}
	slices.SortFunc(locations, func(a, b sampleindex.Location) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	})
	for len(locations) > 0 {
		shard, from, to := locations[0].Shard, mapped.PageOf(locations[0].Offset), locations[0].Offset+locations[0].Length
		n := 1
		for n < len(locations) && locations[n].Shard == shard && mapped.PageOf(locations[n].Offset) <= to {
			to = max(to, locations[n].Offset+locations[n].Length)
			n++
		}
		files[shard].WillNeed(from, to)
		locations = locations[n:]
	}
}

func isWithin(files []*mapped.Mapping, p sampleindex.Location) bool {
	if p.Shard < 0 || p.Shard >= len(files) || p.Offset < 0 || p.Length <= 0 {
		return false
	}
	size := int64(len(files[p.Shard].Data))
	return p.Offset < size && p.Length <= size-p.Offset
}

// inMemory reports whether the middles of some of the locations, at most probeCount, are all in
// memory; false if the system does not reveal it. The locations must lie in the files.
func inMemory(files []*mapped.Mapping, locations []sampleindex.Location) bool {
	n := min(probeCount, len(locations))
	for k := range n {
		p := locations[k*len(locations)/n]
		if !files[p.Shard].Resident(p.Offset + p.Length/2) {
			return false
		}
	}
	return true
}

// Prefetch implements formats.Prefetcher.
func (r *Records) Prefetch(indices []int32) {
	if r.gate.Enter(0) != nil {
		return
	}
	defer r.gate.Leave(0)
	locations := make([]sampleindex.Location, 0, len(indices))
	for _, i := range indices {
		if e, err := r.Index().At(int(i)); err == nil { // reading it reports the error
			locations = append(locations, e.Location())
		}
	}
	Prefetch(r.files, locations)
}

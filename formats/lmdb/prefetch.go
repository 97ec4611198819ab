package lmdb

import (
	"sync"

	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
)

// ahead is what Prefetch keeps of a database between calls.
type prefetchState struct {
	mu      sync.Mutex
	pending []int32 // ranks whose leaves were on the disk at the last call, and asked for then
}

// swap takes the late ranks out and puts others in.
func (a *prefetchState) swap(late []int32) []int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	late, a.pending = a.pending, late
	return late
}

// Prefetch implements formats.Prefetcher. Where a value lies stands in the leaf of its key: if
// that is on the disk, the leaf is asked for now and the value at the next call.
func (d *dataset) Prefetch(indices []int32) {
	ranks := make([]int32, 0, len(indices))
	for _, i := range indices {
		if i >= 0 && int(i) < d.Len() {
			ranks = append(ranks, i)
		}
	}
	if len(ranks) == 0 {
		return
	}
	// A page that cannot be read is an error where the value is read.
	_ = guard.Do(func() error {
		for _, e := range d.environments() {
			for i := range e.databases {
				e.prefetch(&e.databases[i], ranks, d.Manifest.Key)
			}
		}
		return nil
	})
}

// prefetchBranches asks for the pages that tell where leaves are.
func (e *environment) prefetchBranches(ix *leafIndex) {
	places := make([]atrest.Location, 0, len(ix.branches.page))
	for _, page := range ix.branches.page {
		places = append(places, e.pageLocation(min(page, e.count)))
	}
	atrest.Prefetch([]*atrest.Mapping{e.mapping}, places)
}

func (e *environment) prefetch(db *database, ranks []int32, key func(rank int) string) {
	if db.leafIndex == nil {
		return // of a single leaf, or damaged
	}
	if e.inMemory(db.leafIndex, ranks, key) {
		return
	}
	ready, late := e.splitByLeaf(db.leafIndex, ranks)
	places := e.valueLocations(db.leafIndex, db.prefetching.swap(late), key)
	places = append(places, e.valueLocations(db.leafIndex, ready, key)...)
	atrest.Prefetch([]*atrest.Mapping{e.mapping}, places)
}

// cached looks at a few of the ranks and says whether leaves and values are in memory.
func (e *environment) inMemory(ix *leafIndex, ranks []int32, key func(rank int) string) bool {
	files := []*atrest.Mapping{e.mapping}
	for k := range min(probeCount, len(ranks)) {
		rank := ranks[k*len(ranks)/min(probeCount, len(ranks))]
		page, _, ok := ix.leaf(int(rank))
		if !ok || page >= e.count || !atrest.InMemory(files, []atrest.Location{e.pageLocation(page)}) {
			return false
		}
		if value := e.valueLocations(ix, []int32{rank}, key); len(value) > 0 && !atrest.InMemory(files, value) {
			return false
		}
	}
	return true
}

// looks is how many ranks cached looks at: for each there are two questions to the system.
const probeCount = 4

// values are the places of those values that do not lie in the leaves, which are read.
func (e *environment) valueLocations(ix *leafIndex, ranks []int32, key func(rank int) string) []atrest.Location {
	places := make([]atrest.Location, 0, len(ranks))
	for _, i := range ranks {
		n, ok := ix.find(int(i), key(int(i)))
		if !ok {
			continue
		}
		p := atrest.Location{Length: pageHeader + int64(n.size())}
		if no, _, err := n.valueLocation(); err == nil && no < e.count {
			p.Offset = int64(no) * int64(e.size)
			if p.Offset+p.Length <= int64(len(e.data)) {
				places = append(places, p)
			}
		}
	}
	return places
}

// split parts the ranks whose leaves are in memory from the late ones, whose leaves it asks
// for.
func (e *environment) splitByLeaf(ix *leafIndex, ranks []int32) (ready, late []int32) {
	leaves := make([]atrest.Location, 0, len(ranks))
	found := make([]int32, 0, len(ranks))
	for _, i := range ranks {
		if page, _, ok := ix.leaf(int(i)); ok && page < e.count {
			leaves, found = append(leaves, e.pageLocation(page)), append(found, i)
		}
	}
	files := []*atrest.Mapping{e.mapping}
	if atrest.InMemory(files, leaves) {
		return found, nil
	}
	for k, i := range found {
		if atrest.InMemory(files, leaves[k:k+1]) {
			ready = append(ready, i)
		} else {
			late = append(late, i)
		}
	}
	atrest.Prefetch(files, leaves)
	return ready, late
}

// place is where a page lies in the file.
func (e *environment) pageLocation(page uint64) atrest.Location {
	return atrest.Location{Offset: int64(page) * int64(e.size), Length: int64(e.size)}
}

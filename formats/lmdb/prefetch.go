package lmdb

import (
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// prefetchState is what Prefetch remembers of a database between calls.
type prefetchState struct {
	mu      sync.Mutex
	pending []int32 // indices whose leaves were on the disk at the last call, and asked for then
}

// swap returns the pending indices and replaces them.
func (a *prefetchState) swap(pending []int32) []int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	pending, a.pending = a.pending, pending
	return pending
}

// Prefetch implements formats.Prefetcher. The location of a value is in the leaf of its key: if
// the leaf is on the disk, Prefetch requests the leaf now and the value at the next call.
func (d *dataset) Prefetch(indices []int32) {
	if d.Gate.Enter(0) != nil {
		return
	}
	defer d.Gate.Leave(0)
	valid := make([]int32, 0, len(indices))
	for _, i := range indices {
		if i >= 0 && int(i) < d.Len() {
			valid = append(valid, i)
		}
	}
	if len(valid) == 0 {
		return
	}
	// If a page cannot be read here, reading its values reports it.
	_ = guard.Do(func() error {
		for _, e := range d.environments() {
			for i := range e.databases {
				e.prefetch(&e.databases[i], valid, d.Index().Key)
			}
		}
		return nil
	})
}

// prefetchBranches requests the parents of the leaves.
func (e *environment) prefetchBranches(ix *leafIndex) {
	locations := make([]sampleindex.Location, 0, len(ix.branches.page))
	for _, page := range ix.branches.page {
		locations = append(locations, e.pageLocation(min(page, e.count)))
	}
	sharded.Prefetch([]*mapped.Mapping{e.mapping}, locations)
}

func (e *environment) prefetch(db *database, indices []int32, key func(index int) string) {
	if db.leafIndex == nil {
		return // a single leaf, or damaged
	}
	if e.inMemory(db.leafIndex, indices, key) {
		return
	}
	ready, late := e.splitByLeaf(db.leafIndex, indices)
	locations := e.valueLocations(db.leafIndex, db.prefetching.swap(late), key)
	locations = append(locations, e.valueLocations(db.leafIndex, ready, key)...)
	sharded.Prefetch([]*mapped.Mapping{e.mapping}, locations)
}

// inMemory probes a few of the indices and reports whether their leaves and values are in memory.
func (e *environment) inMemory(ix *leafIndex, indices []int32, key func(index int) string) bool {
	files := []*mapped.Mapping{e.mapping}
	for k := range min(probeCount, len(indices)) {
		index := indices[k*len(indices)/min(probeCount, len(indices))]
		page, _, ok := ix.leaf(int(index))
		if !ok || page >= e.count || !sharded.InMemory(files, []sampleindex.Location{e.pageLocation(page)}) {
			return false
		}
		if value := e.valueLocations(ix, []int32{index}, key); len(value) > 0 && !sharded.InMemory(files, value) {
			return false
		}
	}
	return true
}

// probeCount is the number of indices that inMemory probes, with two system calls each.
const probeCount = 4

// valueLocations reads the leaves and returns the locations of the values outside them.
func (e *environment) valueLocations(ix *leafIndex, indices []int32, key func(index int) string) []sampleindex.Location {
	locations := make([]sampleindex.Location, 0, len(indices))
	for _, i := range indices {
		n, ok := ix.find(int(i), key(int(i)))
		if !ok {
			continue
		}
		p := sampleindex.Location{Length: pageHeader + int64(n.size())}
		if no, _, err := n.valueLocation(); err == nil && no < e.count {
			p.Offset = int64(no) * int64(e.size)
			if p.Offset+p.Length <= int64(len(e.data)) {
				locations = append(locations, p)
			}
		}
	}
	return locations
}

// splitByLeaf separates the indices whose leaves are in memory from those whose leaves are not,
// and requests the latter.
func (e *environment) splitByLeaf(ix *leafIndex, indices []int32) (ready, late []int32) {
	leaves := make([]sampleindex.Location, 0, len(indices))
	found := make([]int32, 0, len(indices))
	for _, i := range indices {
		if page, _, ok := ix.leaf(int(i)); ok && page < e.count {
			leaves, found = append(leaves, e.pageLocation(page)), append(found, i)
		}
	}
	files := []*mapped.Mapping{e.mapping}
	if sharded.InMemory(files, leaves) {
		return found, nil
	}
	for k, i := range found {
		if sharded.InMemory(files, leaves[k:k+1]) {
			ready = append(ready, i)
		} else {
			late = append(late, i)
		}
	}
	sharded.Prefetch(files, leaves)
	return ready, late
}

// pageLocation returns the location of a page in the file.
func (e *environment) pageLocation(page uint64) sampleindex.Location {
	return sampleindex.Location{Offset: int64(page) * int64(e.size), Length: int64(e.size)}
}

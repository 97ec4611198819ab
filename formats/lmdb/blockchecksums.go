//go:build cgo

package lmdb

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/bmatsuo/lmdb-go/lmdb"

	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// blockChecksums are the checksums of a data.mdb's blocks at a snapshot. Free pages and what
// transactions write into the meta pages count as zeros: while the snapshot is pinned, LMDB may
// overwrite these and no other bytes before its end. So the checksums of the next snapshot
// are computed from these without reading the whole file.
type blockChecksums struct {
	size   int64
	free   []uint64 // pages, ascending
	blocks []uint32
}

// next returns the checksums of a later snapshot of f.
func (p *blockChecksums) next(f io.ReaderAt, size int64, free []uint64) (blockChecksums, error) {
	n := blockChecksums{size: size, free: free, blocks: make([]uint32, blocksOf(size))}
	stale := p.stale()
	for _, page := range free {
		stale[blockOf(page)] = true
	}
	return n, n.fill(f, p.blocks, stale, n.clearIgnored)
}

// whole returns the checksums of all size bytes of the file f.
func (p *blockChecksums) whole(f io.ReaderAt, size int64, name string) (checksum.FileChecksums, error) {
	n := blockChecksums{size: size, blocks: make([]uint32, blocksOf(size))}
	stale := p.stale()
	stale[0] = true
	err := n.fill(f, p.blocks, stale, func([]byte, int64) {})
	return checksum.FileChecksums{Name: name, Size: size, Blocks: n.blocks}, err
}

// stale returns the blocks whose bytes may have changed since.
func (p *blockChecksums) stale() map[int64]bool {
	stale := map[int64]bool{}
	for _, page := range p.free {
		stale[blockOf(page)] = true
	}
	if len(p.blocks) > 0 && p.size%checksum.BlockSize != 0 {
		stale[int64(len(p.blocks)-1)] = true
	}
	return stale
}

// fill computes the checksums of the blocks that old lacks or that are stale.
func (p *blockChecksums) fill(f io.ReaderAt, old []uint32, stale map[int64]bool, clean func(b []byte, block int64)) error {
	buf := make([]byte, checksum.BlockSize)
	for i := range int64(len(p.blocks)) {
		if i < int64(len(old)) && !stale[i] {
			p.blocks[i] = old[i]
			continue
		}
		off := i * checksum.BlockSize
		b := buf[:min(checksum.BlockSize, p.size-off)]
		if _, err := f.ReadAt(b, off); err != nil {
			return err
		}
		clean(b, i)
		p.blocks[i] = crc32.Checksum(b, checksum.Castagnoli)
	}
	return nil
}

// clearIgnored sets to zero what is ignored in the block.
func (p *blockChecksums) clearIgnored(b []byte, block int64) {
	page := int64(os.Getpagesize())
	if block == 0 {
		for i := range lmdbfile.MetaPages {
			clear(b[metaOffset(i):][:lmdbfile.MetaLength])
		}
	}
	first := uint64(block * checksum.BlockSize / page)
	at, _ := slices.BinarySearch(p.free, first)
	for _, n := range p.free[at:] {
		from := int64(n-first) * page
		if from >= int64(len(b)) {
			return
		}
		clear(b[from:min(from+page, int64(len(b)))])
	}
}

func blocksOf(size int64) int64 { return (size + checksum.BlockSize - 1) / checksum.BlockSize }

func blockOf(page uint64) int64 {
	return int64(page) * int64(os.Getpagesize()) / checksum.BlockSize
}

// freePages lists the free pages of env, ascending.
func freePages(env *lmdb.Env) (pages []uint64, err error) {
	err = env.View(func(txn *lmdb.Txn) error {
		// Database 0 is LMDB's own list: transaction -> count, page numbers.
		cur, err := txn.OpenCursor(0)
		if err != nil {
			return err
		}
		defer cur.Close()
		for {
			_, v, err := cur.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			for v = pageList(v); len(v) >= 8; v = v[8:] {
				pages = append(pages, binary.NativeEndian.Uint64(v))
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the free pages: %w", err)
	}
	slices.Sort(pages)
	return pages, nil
}

// pageList returns the page numbers of an LMDB page list, which begins with their count and may
// end with unused entries.
func pageList(list []byte) []byte {
	if len(list) < 8 {
		return nil
	}
	n := binary.NativeEndian.Uint64(list)
	list = list[8:]
	return list[:8*min(n, uint64(len(list)/8))]
}

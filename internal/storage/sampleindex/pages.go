package sampleindex

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

const (
	// pageSize is the number of bytes of a checksum: the system's page, the least that is read from a disk.
	pageSize = 4096
	// fanOut is the number of checksums in a page.
	fanOut = pageSize / 4
)

// levels returns the first page of each level of a file whose sections end before page data: the first
// level is the pages after the header, each later one has the checksums of the one before, and the last
// has one page. total is the number of all pages.
func levels(data int64) (first []int64, total int64) {
	first, total = []int64{1}, data
	for n := data - 1; n > 1 || len(first) == 1; {
		n = (n + fanOut - 1) / fanOut
		first = append(first, total)
		total += n
	}
	return first, total
}

// pages is a mapped file whose pages have checksums. It is safe for concurrent use.
type pages struct {
	name  string // in errors
	b     []byte
	first []int64 // see levels
	root  uint32  // checksum of the last page
	seen  []atomic.Uint64
}

// use returns the bytes of the file from from up to to, after comparing their pages with the checksums.
func (p *pages) use(from, to int64) ([]byte, error) {
	if from < pageSize || to < from || to > int64(len(p.b)) {
		return nil, fmt.Errorf("%s: %w: an entry would be the bytes %d to %d of %d", p.name, formats.ErrDamaged, from, to, len(p.b))
	}
	for page := from / pageSize; page*pageSize < to; page++ {
		if p.seen[page/64].Load()>>(page%64)&1 == 0 {
			if err := p.verify(page); err != nil {
				return nil, err
			}
		}
	}
	return p.b[from:to:to], nil
}

// verify compares a page with its checksum, and before that the pages with that checksum.
func (p *pages) verify(page int64) error {
	level := 0
	for level+1 < len(p.first) && page >= p.first[level+1] {
		level++
	}
	want := p.root
	if level+1 < len(p.first) {
		at := p.first[level+1]*pageSize + 4*(page-p.first[level])
		b, err := p.use(at, at+4)
		if err != nil {
			return err
		}
		err = guard.Read(b, func() error {
			want = binary.LittleEndian.Uint32(b)
			return nil
		})
		if err != nil {
			return err
		}
	}
	b := p.b[page*pageSize : (page+1)*pageSize]
	err := guard.Read(b, func() error {
		if crc32.Checksum(b, checksum.Castagnoli) != want {
			return fmt.Errorf("%w: the checksum of the bytes %d to %d differs", formats.ErrDamaged, page*pageSize, (page+1)*pageSize)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.seen[page/64].Or(1 << (page % 64))
	return nil
}

// bitmap is room for a bit of each of n pages.
func bitmap(n int64) []atomic.Uint64 { return make([]atomic.Uint64, (n+63)/64) }

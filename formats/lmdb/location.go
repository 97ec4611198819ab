package lmdb

import (
	"bytes"
	"math"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// location returns where the value of a leaf node is in the file. Overflow pages are not touched.
func (p *pages) location(n *node) (sampleindex.Location, error) {
	size := int64(n.size())
	no, _, err := n.valueLocation()
	if err != nil {
		return sampleindex.Location{}, err
	}
	if no == noPage {
		at := int64(n.page+1)*int64(p.size) - int64(len(n.b)) + int64(n.dataAt())
		return sampleindex.Location{Offset: at, Length: size}, nil
	}
	if rest := p.count - min(no, p.count); pageHeader+uint64(size) > rest*uint64(p.size) {
		return sampleindex.Location{}, damagedPage(no, "a value of %d bytes cannot begin here, since there are %d pages", size, p.count)
	}
	return sampleindex.Location{Offset: int64(no)*int64(p.size) + pageHeader, Length: size}, nil
}

// pageOf returns the page of the value at that location, and the value's offset in it. A value without
// bytes may be at the page's end.
func (p *pages) pageOf(at sampleindex.Location) (no uint64, offset int) {
	no = uint64(at.Offset-1) / uint64(p.size)
	return no, int(uint64(at.Offset) - no*uint64(p.size))
}

// valueAt returns the value at the location that was recorded for key. What comes before it must be the header
// of a leaf's node with that key and length, or of overflow pages for that length.
func (p *pages) valueAt(at sampleindex.Location, key []byte) ([]byte, error) {
	no, offset := p.pageOf(at)
	if at.Length < 0 || at.Length > math.MaxUint32 {
		return nil, damagedPage(no, "no value has %d bytes", at.Length)
	}
	if offset == pageHeader { // in a leaf, nodes come after the page's header
		return p.overflow(no, uint32(at.Length))
	}
	b, err := p.raw(no)
	if err != nil {
		return nil, err
	}
	begin := offset - len(key) - nodeHeader
	if begin < pageHeader {
		return nil, damagedPage(no, "there is no value %d bytes into it", offset)
	}
	n := node{page: no, b: b[begin:]}
	if n.flags() != 0 || int64(n.size()) != at.Length || n.dataAt() != nodeHeader+len(key) || !bytes.Equal(n.key(), key) {
		return nil, damagedPage(no, "the value %d bytes into it is not that of the key", offset)
	}
	return n.data(n.size())
}

package lmdbfile

import (
	"bytes"
	"math"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Location returns where the value of a leaf node is in the file. overflow pages are not touched.
func (p *Pages) Location(n *Node) (sampleindex.Location, error) {
	size := int64(n.size())
	no, _, err := n.valueLocation()
	if err != nil {
		return sampleindex.Location{}, err
	}
	if no == noPage {
		at := int64(n.Page+1)*int64(p.Size) - int64(len(n.b)) + int64(n.dataAt())
		return sampleindex.Location{Offset: at, Length: size}, nil
	}
	if rest := p.Count - min(no, p.Count); PageHeader+uint64(size) > rest*uint64(p.Size) {
		return sampleindex.Location{}, DamagedPage(no, "a value of %d bytes cannot begin here, since there are %d pages", size, p.Count)
	}
	return sampleindex.Location{Offset: int64(no)*int64(p.Size) + PageHeader, Length: size}, nil
}

// pageOf returns the page of the value at that location, and the value's offset in it. A value without
// bytes may be at the page's end.
func (p *Pages) pageOf(at sampleindex.Location) (no uint64, offset int) {
	no = uint64(at.Offset-1) / uint64(p.Size)
	return no, int(uint64(at.Offset) - no*uint64(p.Size))
}

// ValueAt returns the value at the location that was recorded for key. What comes before it must be the header
// of a leaf's node with that key and length, or of overflow pages for that length.
func (p *Pages) ValueAt(at sampleindex.Location, key []byte) ([]byte, error) {
	no, offset := p.pageOf(at)
	if at.Length < 0 || at.Length > math.MaxUint32 {
		return nil, DamagedPage(no, "no value has %d bytes", at.Length)
	}
	if offset == PageHeader { // in a leaf, nodes come after the page's header
		return p.overflow(no, uint32(at.Length))
	}
	b, err := p.raw(no)
	if err != nil {
		return nil, err
	}
	begin := offset - len(key) - NodeHeader
	if begin < PageHeader {
		return nil, DamagedPage(no, "there is no value %d bytes into it", offset)
	}
	n := Node{Page: no, b: b[begin:]}
	if n.flags() != 0 || int64(n.size()) != at.Length || n.dataAt() != NodeHeader+len(key) || !bytes.Equal(n.Key(), key) {
		return nil, DamagedPage(no, "the value %d bytes into it is not that of the key", offset)
	}
	return n.data(n.size())
}

package sampleindex

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// The numbers of a row, in the order of the description. The offsets of texts come first: a text ends
// where that of the next row begins.
const (
	numberKey    = iota // offset of the key among the keys
	numberPath          // offset of the source's path among the paths
	numberSuffix        // what the path has after the key, as an index of the suffixes; 0: the path is among the paths
	numberLabel
	numberSplit    // index of the splits
	numberEncoding // index of the encodings
	numberHeight
	numberWidth
	numberChannels
	numberSize
	numberShard
	numberOffset
	numberLength     // of the record or image, minus the size
	numberSourceSize // minus the size
	numberModTime
	numberEdited
	numberOrigin
	fixedNumbers // then offset and length for each extra field, and the offset of the text of each user column
)

// number is where a row has a number: width bytes at at, little-endian, to which base is added.
type number struct {
	at, width int
	base      int64
	mask      uint64
}

func (n *number) of(row []byte) int64 {
	return n.base + int64(binary.LittleEndian.Uint64(row[n.at:])&n.mask)
}

func (n *number) set(row []byte, x int64) error {
	u := uint64(x) - uint64(n.base)
	if u&^n.mask != 0 {
		return fmt.Errorf("%d is outside the range that the index was laid out for", x)
	}
	for k := range n.width {
		row[n.at+k] = byte(u >> (8 * k))
	}
	return nil
}

// What a row has of the 16 bytes of a hash.
const (
	hashNone   = iota // nothing: it is zero
	hashStored        // the bytes
	hashSame          // nothing: the source's hash is the checksum
)

// layout is where everything is in the file.
type layout struct {
	rows       int
	width      int // of a row
	texts      int // bytes of a row up to the end of the texts' offsets
	numbers    []number
	checksum   int // hashNone or hashStored
	hash       int
	checksumAt int
	hashAt     int

	splits    []string // in order
	counts    []int    // rows of each split
	encodings []string
	suffixes  []string // suffixes[0] is not used
	columns   []string // names of the user's columns
	fields    int      // extra fields that have locations

	// The sections of the file.
	table, keys, paths span
	user               []span // the texts of each user column
	end                int64  // of the sections: there the checksums begin
	labels             span   // int64 of each row, which are lent as an array; empty if all are the same
	members            []span // the indices of each split's samples, int32; empty if there is one split, or too many
}

// span is a section of the file.
type span struct{ at, length int64 }

func (s span) end() int64 { return s.at + s.length }

// maxMembers is the largest number of splits whose samples are listed.
const maxMembers = 64

func (l *layout) user0() int { return fixedNumbers + 2*l.fields }

// finish derives what the description does not have: positions in a row, and the sections, of which
// the first begins at byte from. It reports whether they end at or before byte limit.
func (l *layout) finish(from, limit int64, keys, paths int64, user []int64) bool {
	l.placeNumbers()
	next := func(length int64) span {
		s := span{from, length}
		if from <= limit { // otherwise the sum might overflow
			from = align(from + length)
		}
		return s
	}
	// After the last row there are the ends of its texts, and what a number read as 8 bytes needs.
	l.table = next(int64(l.rows)*int64(l.width) + int64(l.texts) + 8)
	l.keys, l.paths = next(keys), next(paths)
	for _, n := range user {
		l.user = append(l.user, next(n))
	}
	if l.numbers[numberLabel].width > 0 {
		l.labels = next(8 * int64(l.rows))
	}
	if len(l.splits) > 1 && len(l.splits) <= maxMembers {
		for _, n := range l.counts {
			l.members = append(l.members, next(4*int64(n)))
		}
	}
	l.end = roundUp(from)
	return from <= limit
}

// placeNumbers gives each number and hash its position in a row.
func (l *layout) placeNumbers() {
	order := make([]int, 0, len(l.numbers))
	for k := l.user0(); k < len(l.numbers); k++ {
		order = append(order, k)
	}
	order = append([]int{numberKey, numberPath}, order...)
	for k := range l.user0() {
		if k != numberKey && k != numberPath {
			order = append(order, k)
		}
	}
	at := 0
	for i, k := range order {
		n := &l.numbers[k]
		n.at, n.mask = at, 1<<(8*n.width)-1
		if n.width == 8 {
			n.mask = 1<<64 - 1
		}
		at += n.width
		if i == 1+len(l.columns) {
			l.texts = at
		}
	}
	if l.checksum == hashStored {
		l.checksumAt, at = at, at+16
	}
	if l.hash == hashStored {
		l.hashAt, at = at, at+16
	}
	l.width = at
}

// align returns where a section begins that may begin at byte n.
func align(n int64) int64 { return (n + 7) &^ 7 }

func roundUp(n int64) int64 { return (n + pageSize - 1) &^ (pageSize - 1) }

// encode returns the description.
func (l *layout) encode() []byte {
	var b []byte
	for _, names := range [][]string{l.splits, l.encodings, l.suffixes, l.columns} {
		b = binary.AppendUvarint(b, uint64(len(names)))
		for _, s := range names {
			b = wire.AppendBytes(b, s)
		}
	}
	for _, n := range l.counts {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.AppendUvarint(b, uint64(l.fields))
	b = append(b, byte(l.checksum), byte(l.hash))
	for _, n := range l.numbers {
		b = binary.AppendUvarint(append(b, byte(n.width)), uint64(n.base))
	}
	b = binary.AppendUvarint(b, uint64(l.keys.length))
	b = binary.AppendUvarint(b, uint64(l.paths.length))
	for _, s := range l.user {
		b = binary.AppendUvarint(b, uint64(s.length))
	}
	return b
}

// decodeLayout reads what encode wrote, for a file whose sections after the description begin at byte
// from and end at byte end.
func decodeLayout(b []byte, rows int, from, end int64) (*layout, error) {
	l, c := &layout{rows: rows}, &wire.Cursor{B: b}
	for _, names := range []*[]string{&l.splits, &l.encodings, &l.suffixes, &l.columns} {
		for range c.Length(1) {
			*names = append(*names, string(c.Bytes()))
		}
	}
	total := 0
	for range l.splits {
		n := int(c.Number(int64(rows)))
		l.counts = append(l.counts, n)
		total += n
	}
	l.fields = c.Length(4) // two numbers of two bytes each
	l.checksum, l.hash = takeByte(c, hashStored), takeByte(c, hashSame)
	l.numbers = make([]number, l.user0()+len(l.columns))
	for k := range l.numbers {
		l.numbers[k].width = takeByte(c, 8)
		l.numbers[k].base = c.Varint()
	}
	keys, paths := c.Number(end), c.Number(end)
	user := make([]int64, len(l.columns))
	for k := range user {
		user[k] = c.Number(end)
	}
	for _, name := range l.splits {
		if err := CheckStoredSplit(name); err != nil {
			return nil, err
		}
	}
	if c.Failed || len(c.B) != 0 || total != rows || !slices.IsSorted(l.splits) {
		return nil, fmt.Errorf("%w: its description cannot be parsed", formats.ErrDamaged)
	}
	if !l.finish(from, end, keys, paths, user) || l.end != end {
		return nil, fmt.Errorf("%w: its description is that of a file of another length", formats.ErrDamaged)
	}
	return l, nil
}

// takeByte takes a byte of at most limit.
func takeByte(c *wire.Cursor, limit int) int {
	b := c.Take(1)
	if len(b) == 0 || int(b[0]) > limit {
		c.Fail()
		return 0
	}
	return int(b[0])
}

// widthFor returns the number of bytes for numbers from 0 to x.
func widthFor(x uint64) int { return (bits.Len64(x) + 7) / 8 }

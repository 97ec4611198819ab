package lmdbfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// The structures of data.mdb are those of LMDB's mdb.c, of its data version 1 on 64-bit
// machines; numbers are in the machine's byte order. Fields that are not read here are omitted.
const (
	// MDB_page, the header of each page; of an overflow value only the first page has one.
	pageNumber = 0  // uint64
	PageFlags  = 10 // uint16
	PageLower  = 12 // uint16, end of the nodes' offsets
	PageUpper  = 14 // uint16, begin of the nodes
	PagePages  = 12 // uint32 in overflow pages, how many there are
	PageHeader = 16

	// MDB_meta with its page's header: pages 0 and 1.
	MetaMagic    = 16  // uint32
	MetaVersion  = 20  // uint32
	MetaMapSize  = 32  // uint64
	MetaPageSize = 40  // uint32, md_pad of the first MDB_db
	MetaMain     = 88  // the second MDB_db
	MetaLastPage = 136 // uint64
	MetaTxn      = 144 // uint64
	MetaLength   = 152
	MetaPages    = 2

	// MDB_db, a database.
	DBFlags  = 4  // uint16
	DBRoot   = 40 // uint64
	dbLength = 48
)

// What every meta page has.
const (
	Magic       = 0xBEEFC0DE
	DataVersion = 1
	minPageSize = 256
	maxPageSize = 0x8000
	// noPage is the root of a database without keys: P_INVALID.
	noPage = ^uint64(0)
)

// U16 reads a number in the machine's byte order.
func U16(b []byte) int { return int(binary.NativeEndian.Uint16(b)) }

// u32 is like U16.
func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

// U64 is like U16.
func U64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// Meta is the content of a meta page, which describes one transaction's snapshot.
type Meta struct {
	No       uint64 // of the page
	txn      uint64
	PageSize int
	last     uint64 // page
	main     []byte // MDB_db of the main database
}

// stamp returns what differs after every edit by LMDB's own library, though the file may have the same length:
// the transaction, the last page, and the main database with its root and its numbers of pages and entries. A
// compacting copy of a file of one transaction has another root, since the root is its last page.
func (m *Meta) stamp() []byte {
	b := binary.LittleEndian.AppendUint64(nil, m.txn)
	return append(binary.LittleEndian.AppendUint64(b, m.last), m.main...)
}

// newestMeta returns the meta page of the last transaction. If one of the two is damaged, it
// returns the other one and an error; if both are, pageSize is 0.
func newestMeta(data []byte) (Meta, error) {
	first, err := parseMeta(data, 0, 0)
	size := first.PageSize
	if size == 0 {
		size = findPageSize(data)
	}
	second, err2 := parseMeta(data, 1, size)
	switch {
	case err2 == nil && second.PageSize != size:
		err2 = DamagedPage(1, "it says that pages have %d bytes, page 0 says %d", second.PageSize, size)
	case err2 == nil && (first.PageSize == 0 || second.txn > first.txn):
		first = second
	}
	return first, errors.Join(err, err2)
}

// parseMeta reads meta page no, which begins no*size bytes into the file.
func parseMeta(data []byte, no, size int) (Meta, error) {
	at := no * size
	if at > len(data) || len(data)-at < MetaLength {
		return Meta{}, DamagedPage(uint64(no), "the file ends within the page")
	}
	return ParseMetaPage(data[at:at+MetaLength], no)
}

// ParseMetaPage reads meta page no.
func ParseMetaPage(b []byte, no int) (Meta, error) {
	m := Meta{
		No: uint64(no), txn: U64(b[MetaTxn:]), PageSize: int(u32(b[MetaPageSize:])), last: U64(b[MetaLastPage:]),
		main: b[MetaMain:MetaLastPage],
	}
	switch {
	case U64(b[pageNumber:]) != uint64(no) || U16(b[PageFlags:])&kindMask != KindMeta:
		return Meta{}, DamagedPage(uint64(no), "it is not a meta page")
	case u32(b[MetaMagic:]) != Magic || u32(b[MetaVersion:]) != DataVersion:
		return Meta{}, DamagedPage(uint64(no), "magic %#x and version %d are not LMDB's", u32(b[MetaMagic:]), u32(b[MetaVersion:]))
	case !validPageSize(m.PageSize):
		return Meta{}, DamagedPage(uint64(no), "impossible page size of %d bytes", m.PageSize)
	}
	return m, nil
}

func validPageSize(n int) bool { return n >= minPageSize && n <= maxPageSize && n&(n-1) == 0 }

// findPageSize searches for the second meta page if the first one is damaged.
func findPageSize(data []byte) int {
	size := minPageSize
	for ; size < maxPageSize; size *= 2 {
		if m, err := parseMeta(data, 1, size); err == nil && m.PageSize == size {
			break
		}
	}
	return size
}

// PageError is formats.ErrDamaged with a page number and a description.
type PageError struct {
	No   uint64
	what string
}

func (e *PageError) Error() string {
	return fmt.Sprintf("%v: page %d: %s", formats.ErrDamaged, e.No, e.what)
}

func (e *PageError) Unwrap() error { return formats.ErrDamaged }

// DamagedPage returns a *PageError.
func DamagedPage(no uint64, format string, args ...any) error {
	return &PageError{no, fmt.Sprintf(format, args...)}
}

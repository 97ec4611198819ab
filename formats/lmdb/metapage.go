package lmdb

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
	pageFlags  = 10 // uint16
	pageLower  = 12 // uint16, end of the nodes' offsets
	pageUpper  = 14 // uint16, begin of the nodes
	pagePages  = 12 // uint32 in overflow pages, how many there are
	pageHeader = 16

	// MDB_meta with its page's header: pages 0 and 1.
	metaMagic    = 16  // uint32
	metaVersion  = 20  // uint32
	metaAddress  = 24  // uint64, zero unless the map has a fixed one
	metaMapSize  = 32  // uint64
	metaPageSize = 40  // uint32, md_pad of the first MDB_db
	metaFree     = 40  // the first MDB_db, the list of free pages
	metaMain     = 88  // the second MDB_db
	metaLastPage = 136 // uint64
	metaTxn      = 144 // uint64
	metaLength   = 152
	metaPages    = 2

	// MDB_db, a database.
	dbFlags  = 4  // uint16
	dbRoot   = 40 // uint64
	dbLength = 48
)

const (
	magic       = 0xBEEFC0DE
	dataVersion = 1
	minPageSize = 256
	maxPageSize = 0x8000
	// noPage is the root of a database without keys: P_INVALID.
	noPage = ^uint64(0)
)

func u16(b []byte) int    { return int(binary.NativeEndian.Uint16(b)) }
func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// meta is the content of a meta page, which describes one transaction's snapshot.
type meta struct {
	no       uint64 // of the page
	txn      uint64
	pageSize int
	last     uint64 // page
	main     []byte // MDB_db of the main database
}

// stamp returns what differs after every edit by LMDB's own library, though the file may have the same length:
// the transaction, the last page, and the main database with its root and its numbers of pages and entries. A
// compacting copy of a file of one transaction has another root, since the root is its last page.
func (m *meta) stamp() []byte {
	b := binary.LittleEndian.AppendUint64(nil, m.txn)
	return append(binary.LittleEndian.AppendUint64(b, m.last), m.main...)
}

// newestMeta returns the meta page of the last transaction. If one of the two is damaged, it
// returns the other one and an error; if both are, pageSize is 0.
func newestMeta(data []byte) (meta, error) {
	first, err := parseMeta(data, 0, 0)
	size := first.pageSize
	if size == 0 {
		size = findPageSize(data)
	}
	second, err2 := parseMeta(data, 1, size)
	switch {
	case err2 == nil && second.pageSize != size:
		err2 = damagedPage(1, "it says that pages have %d bytes, page 0 says %d", second.pageSize, size)
	case err2 == nil && (first.pageSize == 0 || second.txn > first.txn):
		first = second
	}
	return first, errors.Join(err, err2)
}

// parseMeta reads meta page no, which begins no*size bytes into the file.
func parseMeta(data []byte, no, size int) (meta, error) {
	at := no * size
	if at > len(data) || len(data)-at < metaLength {
		return meta{}, damagedPage(uint64(no), "the file ends within the page")
	}
	return parseMetaPage(data[at:at+metaLength], no)
}

// parseMetaPage reads meta page no.
func parseMetaPage(b []byte, no int) (meta, error) {
	m := meta{
		no: uint64(no), txn: u64(b[metaTxn:]), pageSize: int(u32(b[metaPageSize:])), last: u64(b[metaLastPage:]),
		main: b[metaMain:metaLastPage],
	}
	switch {
	case u64(b[pageNumber:]) != uint64(no) || u16(b[pageFlags:])&kindMask != kindMeta:
		return meta{}, damagedPage(uint64(no), "it is not a meta page")
	case u32(b[metaMagic:]) != magic || u32(b[metaVersion:]) != dataVersion:
		return meta{}, damagedPage(uint64(no), "magic %#x and version %d are not LMDB's", u32(b[metaMagic:]), u32(b[metaVersion:]))
	case !validPageSize(m.pageSize):
		return meta{}, damagedPage(uint64(no), "impossible page size of %d bytes", m.pageSize)
	}
	return m, nil
}

func validPageSize(n int) bool { return n >= minPageSize && n <= maxPageSize && n&(n-1) == 0 }

// findPageSize searches for the second meta page if the first one is damaged.
func findPageSize(data []byte) int {
	size := minPageSize
	for ; size < maxPageSize; size *= 2 {
		if m, err := parseMeta(data, 1, size); err == nil && m.pageSize == size {
			break
		}
	}
	return size
}

// pageError is formats.ErrDamaged with a page number and a description.
type pageError struct {
	no   uint64
	what string
}

func (e *pageError) Error() string {
	return fmt.Sprintf("%v: page %d: %s", formats.ErrDamaged, e.no, e.what)
}

func (e *pageError) Unwrap() error { return formats.ErrDamaged }

func damagedPage(no uint64, format string, args ...any) error {
	return &pageError{no, fmt.Sprintf(format, args...)}
}

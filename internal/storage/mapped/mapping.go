package mapped

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// Mapping is a memory-mapped file, read-only, valid until Close. Reading a page of Data may fail,
// so readers must use package guard.
type Mapping struct {
	Data []byte

	ResidencyKnown bool // the system reveals which pages are in memory
}

// Map maps the file at path; an empty file has empty Data. ErrDamaged if path is not a regular
// file.
func Map(path string) (*Mapping, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // do not block on a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is not a regular file", path, formats.ErrDamaged)
	}
	if st.Size() == 0 {
		return &Mapping{}, nil
	}
	b, err := guard.Map(f, path, int(st.Size()), false)
	if err != nil {
		return nil, err
	}
	return &Mapping{Data: b, ResidencyKnown: canReadResidency(path, st)}, nil
}

// Slice returns the n bytes at off; ErrDamaged if the file is shorter.
func (m *Mapping) Slice(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(m.Data)) || n > int64(len(m.Data))-off {
		return nil, fmt.Errorf("%w: the file ends before byte %d", formats.ErrDamaged, off+n)
	}
	return m.Data[off : off+n : off+n], nil
}

// Close unmaps the file; slices of Data must no longer be used.
func (m *Mapping) Close() error {
	b := m.Data
	m.Data = nil
	return guard.Unmap(b)
}

// adviceLength is the number of bytes per madvise call: Linux ignores what exceeds its
// read-ahead window, 128 KiB by default.
const adviceLength = 128 << 10

// PageSize is the size of a page of memory in bytes.
var PageSize = int64(os.Getpagesize())

// PageOf returns the offset at which the page of byte off begins.
func PageOf(off int64) int64 { return off &^ (PageSize - 1) }

// WillNeed tells the system that the bytes from from, the beginning of a page, up to to will be
// used soon. It ignores errors, since a read of the bytes reports them with their cause.
func (m *Mapping) WillNeed(from, to int64) {
	for ; from < to; from += adviceLength {
		_ = unix.Madvise(m.Data[from:min(from+adviceLength, to)], unix.MADV_WILLNEED)
	}
}

// Offset returns the offset in the file of b, a slice of Data.
func (m *Mapping) Offset(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))))
}

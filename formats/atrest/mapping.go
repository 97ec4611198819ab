package atrest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// Mapping is a file in memory, read-only, until Close. Who reads Data must expect that a page
// cannot be read, and use package guard.
type Mapping struct {
	Data []byte

	residencyKnown bool // the system tells which pages are in memory
}

// Map maps the file at path; an empty file gives empty Data. A pipe or device in its place is
// ErrDamaged.
func Map(path string) (*Mapping, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is no file", path, formats.ErrDamaged)
	}
	if st.Size() == 0 {
		return &Mapping{}, nil
	}
	b, err := guard.Map(f, path, int(st.Size()), false)
	if err != nil {
		return nil, err
	}
	return &Mapping{Data: b, residencyKnown: canReadResidency(path, st)}, nil
}

// Slice is n bytes at off. ErrDamaged if the file does not reach that far.
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

package atrest

import (
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// Mapping is a file in memory, read-only, until Close.
type Mapping struct {
	Data []byte

	tells bool // the system tells which pages are in memory
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
	b, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &Mapping{Data: b, tells: tellsResidency(path, st)}, nil
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
	if len(b) == 0 {
		return nil
	}
	return unix.Munmap(b)
}

// Guard calls read, which touches mapped memory, and makes of a page that cannot be read,
// because the file was cut meanwhile or the disk fails, an error, ErrDamaged, instead of the
// end of the process.
func Guard(read func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a fault of memory, and no other panic, has one
			err = fmt.Errorf("%w: a page of the file cannot be read", formats.ErrDamaged)
		default:
			panic(p)
		}
	}()
	return read()
}

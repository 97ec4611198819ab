package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// ReadError reports that bytes of a mapped file could not be read, or not be written.
type ReadError struct {
	File      string
	From, To  int64 // the first byte, and the one after the last
	shortened bool  // the file ends before To
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("%v: bytes %d to %d of %s cannot be read: the disk failed or the file was shortened",
		formats.ErrDamaged, e.From, e.To-1, e.File)
}

// Is reports whether target is formats.ErrDamaged.
func (e *ReadError) Is(target error) bool { return target == formats.ErrDamaged }

// Unwrap returns EIO, by which formats.Unreadable knows the error, unless the file has been shortened: then its bytes are gone.
func (e *ReadError) Unwrap() error {
	if e.shortened {
		return nil
	}
	return unix.EIO
}

// region is a mapped file.
type region struct {
	at    uintptr
	data  []byte
	path  string // as the caller gave it
	full  string // absolute: the process may change its folder
	stat  unix.Stat_t
	write bool
	slot  int // the handler's number of the region
	// suspect is set once the file's last page could not be read.
	suspect atomic.Bool
}

// regions are all regions. Holding the lock keeps them mapped. The list is replaced
// and never changed: workers that look at it for every sample must not wait for one another.
var regions struct {
	sync.RWMutex
	list atomic.Pointer[regionList]
}

var pageSize = os.Getpagesize()

// Map maps the first size bytes, at least one, of the file f, which other processes may share.
// path is where f was opened.
func Map(f *os.File, path string, size int, write bool) ([]byte, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	r := &region{path: path, full: full, write: write}
	if err := unix.Fstat(int(f.Fd()), &r.stat); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	prot := unix.PROT_READ
	if write {
		prot |= unix.PROT_WRITE
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, prot, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of %s: %w", size, path, err)
	}
	r.data, r.at = b, uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if r.slot, err = watch(r, prot); err != nil {
		_ = unix.Munmap(b)
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	regions.Lock()
	defer regions.Unlock()
	list := listed().with(r)
	regions.list.Store(&list)
	return b, nil
}

// Unmap unmaps memory from Map, which nobody may use any more.
func Unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	regions.Lock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if r := regionOf(at); r != nil && r.at == at {
		unwatch(r)
		list := listed().without(r)
		regions.list.Store(&list)
	}
	regions.Unlock()
	return unix.Munmap(b)
}

// unreadable is the error of pages first to last of the region.
func (r *region) unreadable(first, last int) error {
	e := &ReadError{
		File: r.path, From: int64(first) * int64(pageSize), To: min(int64(last+1)*int64(pageSize), int64(len(r.data))),
	}
	var now unix.Stat_t
	e.shortened = unix.Stat(r.full, &now) == nil && now.Dev == r.stat.Dev && now.Ino == r.stat.Ino && now.Size < e.To
	return e
}

// unreadableAt is the error of the page at that address, nil if no region contains it.
func unreadableAt(addr uintptr) error {
	regions.RLock()
	defer regions.RUnlock()
	r := regionOf(addr)
	if r == nil {
		return nil
	}
	page := int(addr-r.at) / pageSize
	return r.unreadable(page, page)
}

//go:build cgo

package hdf5

/*
#cgo linux,amd64 CFLAGS: -I/usr/include/hdf5/serial
#cgo linux,amd64 LDFLAGS: -L/usr/lib/x86_64-linux-gnu/hdf5/serial
#cgo linux,arm64 CFLAGS: -I/usr/include/hdf5/serial
#cgo linux,arm64 LDFLAGS: -L/usr/lib/aarch64-linux-gnu/hdf5/serial
#cgo LDFLAGS: -lhdf5
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// library serialises all calls: HDF5 may have been built without thread safety.
var library sync.Mutex

// locked runs fn, which calls the library, on one thread: the library stores its errors, and
// whether it prints them, per thread. No child process is started meanwhile: it would inherit the
// library's open files and their locks, so that the library could not open them again.
func locked(fn func() error) error {
	library.Lock()
	defer library.Unlock()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.dsconv_quiet()
	return fn()
}

// explain adds the library's error about the call that failed last. It must come before any
// other call, which would clear that error.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var buf [1024]C.char
	C.dsconv_errors(&buf[0], C.size_t(len(buf)))
	if text := C.GoString(&buf[0]); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

func failed(rc C.int, what string) error {
	if rc >= 0 {
		return nil
	}
	return explain(fmt.Errorf("HDF5: %s", what))
}

// file is an HDF5 file that is open in the library.
type file C.hid_t

// createFile calls do with a new file at path, and openFile with the one that is there. Datasets that do
// creates, of at least align bytes, start at a multiple of align.
func createFile(path string, align int64, do func(f file) error) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	return with(C.dsconv_create_file(cpath, C.hsize_t(align)), "create "+path, do)
}

func openFile(path string, write bool, align int64, do func(f file) error) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	flag := C.int(0)
	if write {
		flag = 1
	}
	return with(C.dsconv_open_file(cpath, flag, C.hsize_t(align)), "open "+path, do)
}

func with(id C.hid_t, what string, do func(f file) error) error {
	if id < 0 {
		return failed(-1, what)
	}
	err := do(file(id))
	return errors.Join(err, failed(C.dsconv_close_file(id), "close the file"))
}

func (f file) createGroup(name string) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return failed(C.dsconv_create_group(C.hid_t(f), cname), "create group "+name)
}

// create creates a contiguous dataset with nothing written to it.
func (f file) create(h *hole) error {
	cname := C.CString(h.name)
	defer C.free(unsafe.Pointer(cname))
	cdims := make([]C.hsize_t, len(h.dims))
	for i, d := range h.dims {
		cdims[i] = C.hsize_t(d)
	}
	rc := C.dsconv_create_dataset(C.hid_t(f), cname, C.int(slices.Index(typeCodes, h.dtype)), C.int(len(cdims)), &cdims[0])
	return failed(rc, "create dataset "+h.name)
}

// writeAttribute writes an attribute of the dataset as a variable-length UTF-8 string.
func (f file) writeAttribute(dataset, name, value string) error {
	cset, cname, cvalue := C.CString(dataset), C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(cset))
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cvalue))
	return failed(C.dsconv_write_attribute(C.hid_t(f), cset, cname, cvalue), "write the attribute "+name+" of dataset "+dataset)
}

// locate returns the extent that the library has for a dataset. ErrNotDataset if it is not contiguous.
func (f file) locate(name string) (extent, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var e C.struct_dsconv_extent
	if err := failed(C.dsconv_locate(C.hid_t(f), cname, &e), "find dataset "+name); err != nil {
		return extent{}, err
	}
	if e.contiguous == 0 || e._type == 0 {
		return extent{}, fmt.Errorf("%w: dataset %s is chunked, compressed, in another file, or of an unknown type; dsconv writes others", formats.ErrNotDataset, name)
	}
	p := extent{name: name, dtype: typeCodes[e._type], offset: int64(e.offset)}
	for _, d := range e.dims[:e.rank] {
		p.dims = append(p.dims, int(d))
	}
	if _, ok := elements(p.dims, math.MaxInt64/8); !ok || p.length() != int64(e.length) || p.offset < 0 {
		return extent{}, fmt.Errorf("%w: dataset %s: HDF5 reserved %d bytes for %s of shape %v", formats.ErrDamaged, name, uint64(e.length), p.dtype, p.dims)
	}
	return p, nil
}

// stringBatch is the number of strings that the library gets at once.
const stringBatch = 4096

// writeStrings writes a dataset of the n variable-length UTF-8 strings that all passes to do, a few
// at a time.
func (f file) writeStrings(name string, n int, all func(do func(s string) error) error) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	set := C.dsconv_create_strings(C.hid_t(f), cname, C.size_t(n))
	if set < 0 {
		return failed(-1, "create "+name)
	}
	b := stringBuffer{set: set, name: name}
	err := all(b.add)
	if err == nil {
		err = b.flush()
	}
	if err == nil && b.written != n {
		err = fmt.Errorf("%d strings for the %d of %s", b.written, n, name)
	}
	return errors.Join(err, failed(C.dsconv_close_dataset(set), "close "+name))
}

// stringBuffer holds strings for a dataset, each with a zero byte at its end.
type stringBuffer struct {
	set     C.hid_t
	name    string
	text    []byte
	starts  []C.size_t
	written int
}

func (b *stringBuffer) add(s string) error {
	b.starts = append(b.starts, C.size_t(len(b.text)))
	b.text = append(append(b.text, s...), 0)
	if len(b.starts) < stringBatch {
		return nil
	}
	return b.flush()
}

func (b *stringBuffer) flush() error {
	if len(b.starts) == 0 {
		return nil
	}
	rc := C.dsconv_write_strings(b.set, C.size_t(b.written), C.size_t(len(b.starts)), (*C.char)(unsafe.Pointer(&b.text[0])), &b.starts[0])
	b.written += len(b.starts)
	b.text, b.starts = b.text[:0], b.starts[:0]
	return failed(rc, "write "+b.name)
}

// compareWithLibrary opens the file at path with the library and compares the extents of all
// datasets with p.
func compareWithLibrary(path string, p extents) error {
	return locked(func() error {
		return openFile(path, false, 1, func(f file) error {
			for i := range p {
				found, err := f.locate(p[i].name)
				if err != nil {
					return err
				}
				if found.offset != p[i].offset || found.dtype != p[i].dtype || !slices.Equal(found.dims, p[i].dims) {
					return fmt.Errorf("dataset %s: HDF5 finds %s %v at byte %d, not %s %v at %d",
						p[i].name, found.dtype, found.dims, found.offset, p[i].dtype, p[i].dims, p[i].offset)
				}
			}
			return nil
		})
	})
}

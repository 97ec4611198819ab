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
	"sync"
	"syscall"
	"unsafe"

	"gonum.org/v1/hdf5"

	"github.com/dsconv/dsconv/formats"
)

// library serialises all calls: HDF5 may have been built without thread safety.
var library sync.Mutex

// LibraryVersion returns the version of the HDF5 library in this build, "" without one.
func LibraryVersion() (version string) {
	_ = locked(func() error {
		v, err := hdf5.LibVersion()
		if err == nil {
			version = v.String()
		}
		return err
	})
	return version
}

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

// native returns the library's type for t.
func native(t formats.DType) *hdf5.Datatype {
	switch t {
	case formats.Uint16:
		return hdf5.T_NATIVE_UINT16
	case formats.Int64:
		return hdf5.T_NATIVE_INT64
	case formats.Float32:
		return hdf5.T_NATIVE_FLOAT
	}
	return hdf5.T_NATIVE_UINT8
}

// createAligned creates the dataset h, with nothing written to it, in the HDF5 file at path, which it
// creates unless the file exists. If h has at least align bytes, they start at a multiple of align.
func createAligned(path string, exists bool, align int64, h *hole) error {
	cpath, cname := C.CString(path), C.CString(h.name)
	defer C.free(unsafe.Pointer(cpath))
	defer C.free(unsafe.Pointer(cname))
	cdims := make([]C.hsize_t, len(h.dims))
	for i, d := range h.dims {
		cdims[i] = C.hsize_t(d)
	}
	cexists := C.int(0)
	if exists {
		cexists = 1
	}
	rc := C.dsconv_create(cpath, cexists, C.hsize_t(align), cname, C.hid_t(native(h.dtype).ID()), C.int(len(cdims)), &cdims[0])
	return failed(rc, fmt.Sprintf("create dataset %s in %s", h.name, path))
}

// contiguous sets pl to contiguous datasets without time stamps and fill values.
func contiguous(pl *hdf5.PropList) error {
	return failed(C.dsconv_contiguous(C.hid_t(pl.ID())), "set the properties of a dataset")
}

// stringBatch is the number of strings that the library gets at once.
const stringBatch = 4096

// writeStrings writes a dataset of the n variable-length UTF-8 strings that all passes to do, a few
// at a time. gonum's own code for it leaks.
func writeStrings(f *hdf5.File, name string, n int, all func(do func(s string) error) error) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	set := C.dsconv_create_strings(C.hid_t(f.ID()), cname, C.size_t(n))
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
	return errors.Join(err, failed(C.dsconv_close(set), "close "+name))
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

// writeAttribute writes an attribute of the dataset as a variable-length UTF-8 string.
func writeAttribute(d *hdf5.Dataset, name, value string) error {
	cname, cvalue := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cvalue))
	return failed(C.dsconv_write_attribute(C.hid_t(d.ID()), cname, cvalue), "write the attribute "+name)
}

// storageExtent returns offset and length of a contiguous dataset's bytes; both are 0 if it has
// none. ErrNotDataset if it is not contiguous.
func storageExtent(d *hdf5.Dataset) (offset, length int64, err error) {
	var off, n C.ulonglong
	switch C.dsconv_extent(C.hid_t(d.ID()), &off, &n) {
	case 0:
	case 1:
		return 0, 0, fmt.Errorf("%w: a dataset is chunked, compressed or in another file; dsconv writes contiguous ones", formats.ErrNotDataset)
	default:
		return 0, 0, failed(-1, "find the bytes of a dataset")
	}
	if off > math.MaxInt64 || n > math.MaxInt64 {
		return 0, 0, fmt.Errorf("%w: a dataset would have %d bytes at byte %d", formats.ErrDamaged, uint64(n), uint64(off))
	}
	return int64(off), int64(n), nil
}

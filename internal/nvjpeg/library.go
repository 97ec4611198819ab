//go:build linux && cgo

package nvjpeg

/*
#cgo CFLAGS: -O2 -Wall
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/dsconv/dsconv/internal/cuda"
)

// Library is nvJPEG. It stays loaded until the process ends.
type Library struct {
	c       *C.dsconv_nvjpeg
	path    string
	version [3]C.int
}

// Open loads the first library of s that can be used. Its error is errNotFound with the reason and what to do.
func Open(s Search) (*Library, error) {
	l, err := open(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotFound, err)
	}
	return l, nil
}

func open(s Search) (*Library, error) {
	if s.Path != "" {
		return s.named()
	}
	packages, elsewhere := s.files()
	var failed []error
	try := func(files []string, report bool) *Library {
		for _, file := range files {
			err := s.fits(file)
			if err == nil {
				var l *Library
				if l, err = load(file); err == nil {
					return l
				}
				err = fmt.Errorf("%w; %s", err, s.advice())
			}
			if report {
				failed = append(failed, err)
			}
		}
		return nil
	}
	// The system's loader says of a name only that nothing was found.
	for _, step := range []struct {
		files  []string
		report bool
	}{{packages, true}, {sonames, false}, {elsewhere, true}} {
		if l := try(step.files, step.report); l != nil {
			return l, nil
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	return nil, fmt.Errorf("it was not found; %s, or give the path of libnvjpeg.so", s.advice())
}

// named loads the library of s.Path.
func (s Search) named() (*Library, error) {
	file := s.Path // a name alone is the system loader's to find
	if path, err := filepath.Abs(file); err == nil && exists(path) {
		file = path
	}
	l, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("%w; name the file libnvjpeg.so.13 or .12 itself, or none, and it is looked for", err)
	}
	return l, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func load(path string) (*Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	text := (*C.char)(C.calloc(1, 4096))
	defer C.free(unsafe.Pointer(text))
	l := &Library{}
	l.c = C.dsconv_nvjpeg_open(name, &l.version[0], text, 512)
	if l.c == nil {
		return nil, fmt.Errorf("%s cannot be loaded: %s", path, strings.TrimPrefix(C.GoString(text), path+": "))
	}
	// 12.1 is the first with Interpolate; before 12.2.2 damaged EXIF data crashes the process.
	if version := []C.int{12, 2, 2}; slices.Compare(l.version[:], version) < 0 {
		return nil, fmt.Errorf("%s is version %s; 12.2.2 or newer is needed", path, l.Version())
	}
	C.dsconv_nvjpeg_path(l.c, text, 4096)
	l.path = C.GoString(text)
	return l, nil
}

// Path is the file that the library was loaded from.
func (l *Library) Path() string { return l.path }

// Version is the library's version, such as "13.3.2".
func (l *Library) Version() string {
	return fmt.Sprintf("%d.%d.%d", l.version[0], l.version[1], l.version[2])
}

// HasVideo reports whether Video can be loaded.
func HasVideo() bool {
	name := C.CString(Video)
	defer C.free(unsafe.Pointer(name))
	return C.dsconv_nvjpeg_has(name) != 0
}

// Handle is the library's state on a GPU, for one backend.
type Handle struct {
	library *Library
	device  *cuda.Device
	c       *C.dsconv_nvjpeg_handle
}

// Create starts the library on a GPU. Close the Handle. ArchMismatch says that the GPU has no engine for Hardware.
func (l *Library) Create(device *cuda.Device, backend Backend, flags Flags) (*Handle, error) {
	h := &Handle{library: l, device: device, c: (*C.dsconv_nvjpeg_handle)(C.calloc(1, C.sizeof_dsconv_nvjpeg_handle))}
	h.c.api, h.c.device = l.c, (*C.dsconv_cuda_device)(device.C())
	err := h.check(C.dsconv_nvjpeg_create(h.c, C.int(backend), C.uint(flags)), "start nvJPEG %s (%s)", l.Version(), l.path)
	if err == nil {
		return h, nil
	}
	C.free(unsafe.Pointer(h.c))
	switch {
	case errors.Is(err, NotInitialized), errors.Is(err, ExecutionFailed):
		major, minor := device.Driver().Version()
		err = fmt.Errorf("%w: nvJPEG found no usable GPU; the driver supports CUDA %d.%d", err, major, minor)
	case errors.Is(err, InvalidParameter) && flags != 0:
		err = fmt.Errorf("%w: this version does not know the flags %#x: update it", err, uint(flags))
	}
	return nil, err
}

// Hardware is how many JPEG engines the GPU has, and how many images each decodes at a time.
func (h *Handle) Hardware() (engines, cores int, err error) {
	var e, c C.uint
	err = h.check(C.dsconv_nvjpeg_hardware(h.c, &e, &c), "ask for the GPU's JPEG engines")
	return int(e), int(c), err
}

// Close ends the library's state on the GPU.
func (h *Handle) Close() error {
	err := h.check(C.dsconv_nvjpeg_destroy(h.c), "end nvJPEG")
	C.free(unsafe.Pointer(h.c))
	h.c = nil
	return err
}

// check converts a result to an error: a Status, or CUDA's error if the GPU's context could not be used.
func (h *Handle) check(code C.int, doing string, args ...any) error {
	switch {
	case code == 0:
		return nil
	case code < 0:
		return h.device.Check(int(-code), doing, args...)
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), Status(code))
}

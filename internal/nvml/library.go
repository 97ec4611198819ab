//go:build linux && cgo

package nvml

/*
#cgo CFLAGS: -O2 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// Library is NVML. Its methods may be called from any goroutine.
type Library struct {
	lock  sync.RWMutex // Close waits for calls
	c     *C.dsconv_nvml
	count int
}

// Open loads NVML and starts it, which takes up to seconds where no other program keeps the driver awake. It takes no
// memory of a GPU. Close it.
func Open() (*Library, error) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	const size = 512
	why := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(why))
	l := &Library{}
	var missing C.int
	//nolint:gocritic // what cgo generates for &l.c and &missing looks like comparing a value with itself
	C.dsconv_nvml_open(name, &l.c, &missing, why, size)
	switch {
	case missing != 0:
		return nil, fmt.Errorf("%w (%s): it comes with NVIDIA's driver; in a container, with --gpus all", ErrNotInstalled, C.GoString(why))
	case l.c == nil:
		return nil, fmt.Errorf("%s: %s: update NVIDIA's driver", library, C.GoString(why))
	}
	var count C.uint
	if err := l.check(C.dsconv_nvml_init(l.c, &count), "start"); err != nil {
		C.free(unsafe.Pointer(l.c))
		return nil, err
	}
	l.count = int(count)
	return l, nil
}

// Close ends NVML. Calls afterwards are errors. It may be called twice.
func (l *Library) Close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.c == nil {
		return nil
	}
	err := l.check(C.dsconv_nvml_shutdown(l.c), "end")
	C.free(unsafe.Pointer(l.c))
	l.c = nil
	return err
}

// GPUs describes all GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says.
func (l *Library) GPUs() ([]GPU, error) {
	l.lock.RLock()
	defer l.lock.RUnlock()
	if l.c == nil {
		return nil, errClosed
	}
	list := make([]GPU, l.count)
	const size = 128
	name := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(name))
	for k := range list {
		var memory C.ulonglong
		if err := l.check(C.dsconv_nvml_describe(l.c, C.uint(k), name, size, &memory), "describe GPU %d", k); err != nil {
			return nil, err
		}
		list[k] = GPU{Name: C.GoString(name), Memory: int64(memory)}
	}
	return list, nil
}

// Usage is what is used of a GPU, by its number from 0.
func (l *Library) Usage(number int) (Usage, error) {
	l.lock.RLock()
	defer l.lock.RUnlock()
	if l.c == nil {
		return Usage{}, errClosed
	}
	if number < 0 || number >= l.count {
		return Usage{}, fmt.Errorf("there is no GPU %d: this machine has %d, from 0 on", number, l.count)
	}
	var used C.ulonglong
	if err := l.check(C.dsconv_nvml_memory(l.c, C.uint(number), &used), "memory of GPU %d", number); err != nil {
		return Usage{}, err
	}
	var percent C.uint
	err := l.check(C.dsconv_nvml_busy(l.c, C.uint(number), &percent), "utilisation of GPU %d", number)
	if errors.Is(err, errNotSupported) {
		return Usage{Busy: -1, Memory: int64(used)}, nil
	}
	return Usage{Busy: float64(percent) / 100, Memory: int64(used)}, err
}

// check converts a result to an error; doing says what the call was for.
func (l *Library) check(code C.nvmlReturn_t, doing string, args ...any) error {
	if code == 0 {
		return nil
	}
	err := fmt.Errorf("NVML: %s: %s (%d); see that nvidia-smi works",
		fmt.Sprintf(doing, args...), C.GoString(C.dsconv_nvml_text(l.c, code)), int(code))
	if code == C.DSCONV_NVML_NOT_SUPPORTED {
		return fmt.Errorf("%w: %w", err, errNotSupported)
	}
	return err
}

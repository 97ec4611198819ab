//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// Device is a GPU with its primary context.
type Device struct {
	Properties
	driver *Driver
	c      *C.dsconv_cuda_device
	close  func() error
}

// Device opens a GPU by its number. Close it.
func (d *Driver) Device(number int) (*Device, error) {
	p, err := d.Describe(number)
	if err != nil {
		return nil, err
	}
	c, err := d.device(number)
	if err != nil {
		return nil, err
	}
	if err := d.check(C.dsconv_cuda_retain(c), "open GPU %d (%s)", number, p.Name); err != nil {
		return nil, err
	}
	device := &Device{Properties: p, driver: d, c: c}
	device.close = sync.OnceValue(func() error {
		return d.check(C.dsconv_cuda_release(c), "close the GPU")
	})
	return device, nil
}

func (d *Driver) device(number int) (*C.dsconv_cuda_device, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.devices[number] == nil {
		c := C.dsconv_cuda_new_device(d.c, C.int(number))
		if c == nil {
			return nil, fmt.Errorf("CUDA: open GPU %d: out of memory", number)
		}
		d.devices[number] = c
	}
	return d.devices[number], nil
}

// Close releases the context, after which only memory that pools have lent stays valid. It may be called twice.
func (d *Device) Close() error { return d.close() }

// Driver is the driver of the GPU.
func (d *Device) Driver() *Driver { return d.driver }

// C is the GPU's dsconv_cuda_device (driver.h), for C code of other packages. It stays valid until the process ends.
func (d *Device) C() unsafe.Pointer { return unsafe.Pointer(d.c) }

// Check converts a result of the driver, or of DSCONV_CUDA_FORKED, to an error; doing says what the call was for.
func (d *Device) Check(code int, doing string, args ...any) error {
	return d.driver.check(C.CUresult(code), doing, args...)
}

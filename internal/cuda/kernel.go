//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"slices"
	"unsafe"
)

// Module is code that was loaded to a GPU.
type Module struct {
	device *Device
	c      C.uintptr_t
}

// Load loads a cubin, a fatbin, or PTX, which need not end in a zero byte. Close the module.
func (d *Device) Load(image []byte) (*Module, error) {
	c := C.CBytes(slices.Concat(image, []byte{0})) // PTX is a C string
	defer C.free(c)
	m := &Module{device: d}
	if err := d.driver.check(C.dsconv_cuda_module_new(d.c, c, &m.c), "load code to the GPU"); err != nil {
		return nil, err
	}
	return m, nil
}

// Close unloads the module. Its kernels must be done.
func (m *Module) Close() error {
	return m.device.driver.check(C.dsconv_cuda_module_free(m.device.c, m.c), "unload code from the GPU")
}

// Function is a kernel of a module, valid as long as that.
type Function struct {
	device *Device
	name   string
	c      C.uintptr_t
}

// Function finds a kernel.
func (m *Module) Function(name string) (*Function, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	f := &Function{device: m.device, name: name}
	if err := m.device.driver.check(C.dsconv_cuda_function(m.device.c, m.c, c, &f.c), "find the kernel %s", name); err != nil {
		return nil, err
	}
	return f, nil
}

// Launch starts the kernel on s, with grid blocks of block threads and shared bytes of dynamic shared memory each. Its
// parameters are addresses and numbers of 64 bits.
func (f *Function) Launch(s *Stream, grid, block [3]uint32, shared uint32, arguments ...uint64) error {
	c := func(n [3]uint32) [3]C.uint { return [3]C.uint{C.uint(n[0]), C.uint(n[1]), C.uint(n[2])} }
	l := C.dsconv_cuda_launch{grid: c(grid), block: c(block), shared: C.uint(shared), stream: s.c}
	for i, a := range arguments {
		l.arguments[i] = C.uint64_t(a)
	}
	return f.device.driver.check(C.dsconv_cuda_run(f.device.c, f.c, &l), "start the kernel %s", f.name)
}

//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
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

// Dim is a size of a grid, in blocks, or of a block, in threads. Sizes of 0 count as 1.
type Dim struct{ X, Y, Z int }

func (d Dim) c() [3]C.uint {
	return [3]C.uint{C.uint(max(d.X, 1)), C.uint(max(d.Y, 1)), C.uint(max(d.Z, 1))}
}

// Argument is the bytes of an argument of a kernel.
type Argument []byte

// Value is v as an argument. T has the layout of the kernel's parameter and no pointers.
func Value[T any](v T) Argument {
	return unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
}

// Launch starts the kernel on s. shared is the dynamic shared memory of a block, in bytes. The arguments are copied.
func (f *Function) Launch(s *Stream, grid, block Dim, shared int, arguments ...Argument) error {
	l := C.dsconv_cuda_launch{grid: grid.c(), block: block.c(), shared: C.uint(shared), stream: s.c, count: C.int(len(arguments))}
	if len(arguments) > len(l.offsets) {
		return fmt.Errorf("CUDA: start the kernel %s: %d arguments; at most %d are possible", f.name, len(arguments), len(l.offsets))
	}
	packed := make([]byte, 0, 256)
	for i, a := range arguments {
		packed = append(packed, make([]byte, -len(packed)&15)...) // aligned as any type is
		l.offsets[i] = C.size_t(len(packed))
		packed = append(packed, a...)
	}
	code := C.dsconv_cuda_run(f.device.c, f.c, &l, (*C.char)(unsafe.Pointer(unsafe.SliceData(packed))))
	return f.device.driver.check(code, "start the kernel %s", f.name)
}

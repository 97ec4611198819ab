//go:build linux && cgo

package cuda

/*
#cgo CFLAGS: -O2 -Wall
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// oldest is the oldest CUDA that the driver must support, thousandfold: kernels are built for it.
const oldest = 12000

// Driver is NVIDIA's driver. It stays open until the process ends.
type Driver struct {
	c       *C.dsconv_cuda
	version int
	count   int

	lock    sync.Mutex
	devices map[int]*C.dsconv_cuda_device // each lives until the process ends
}

// opened are the drivers by library.
var opened struct {
	sync.Mutex
	drivers map[string]*Driver
}

// Open loads the driver and starts it, once in a process. It creates no context, and so takes no GPU's memory. Its
// error is errNoDriver with the reason and what to do.
func Open() (*Driver, error) {
	opened.Lock()
	defer opened.Unlock()
	if d := opened.drivers[library]; d != nil {
		return d, nil
	}
	d, err := load(library)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDriver, err)
	}
	if opened.drivers == nil {
		opened.drivers = map[string]*Driver{}
	}
	opened.drivers[library] = d
	return d, nil
}

func load(file string) (*Driver, error) {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	why := (*C.char)(C.calloc(1, 512))
	defer C.free(unsafe.Pointer(why))
	d := &Driver{devices: map[int]*C.dsconv_cuda_device{}}
	var missing C.int
	//nolint:gocritic // what cgo generates for &d.c and &missing looks like comparing a value with itself
	C.dsconv_cuda_open(name, &d.c, &missing, why, 512)
	switch {
	case missing != 0:
		return nil, fmt.Errorf("%w (%s): install it, or start the container with --gpus all", ErrNotInstalled, C.GoString(why))
	case d.c == nil:
		return nil, fmt.Errorf("%s: %s: the driver is too old; CUDA %s needs 525 or newer", file, C.GoString(why), cudaVersion(oldest))
	}
	return d, d.start()
}

// start starts the driver. Its version is asked first: an old driver refuses to start with a misleading error.
func (d *Driver) start() error {
	var version, count C.int
	code := C.dsconv_cuda_init(d.c, &version, &count)
	d.version, d.count = int(version), int(count)
	if version > 0 && version < oldest {
		return fmt.Errorf("NVIDIA's driver supports CUDA %s; update it to 525 or newer, for CUDA %s", cudaVersion(d.version), cudaVersion(oldest))
	}
	if code == 0 && count == 0 {
		code = noDevice
	}
	err := d.check(code, "start the driver")
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; %s", err, startAdvice(int(code)))
}

// startAdvice is what to do if the driver does not start.
func startAdvice(code int) string {
	switch code {
	case notInitialized:
		return "if this process was forked from one that used CUDA, start it by spawn"
	case noDevice, invalidDevice:
		return "the driver sees no GPU: start the container with --gpus all, and see that CUDA_VISIBLE_DEVICES is not empty"
	case notReady:
		return "GPUs with NVLink switches need NVIDIA's fabric manager: start nvidia-fabricmanager, of the driver's version"
	case driverMismatch, notCompatible:
		return "libcuda.so.1 and the kernel's driver are of different versions: restart the machine, or remove the other libcuda"
	case unknown:
		return "see that nvidia-smi works, and that the modules nvidia and nvidia_uvm are loaded"
	}
	return "see that nvidia-smi works"
}

// cudaVersion formats CUDA's version, which is given thousandfold.
func cudaVersion(version int) string { return fmt.Sprintf("%d.%d", version/1000, version%1000/10) }

// Version is the newest CUDA that the driver supports.
func (d *Driver) Version() (major, minor int) { return d.version / 1000, d.version % 1000 / 10 }

// Devices is how many GPUs there are.
func (d *Driver) Devices() int { return d.count }

// Describe describes a GPU by its number. It creates no context.
func (d *Driver) Describe(number int) (Properties, error) {
	if number < 0 || number >= d.count {
		return Properties{}, fmt.Errorf("there is no GPU %d: this process sees %d, from 0 on", number, d.count)
	}
	var p C.dsconv_cuda_properties
	if err := d.check(C.dsconv_cuda_describe(d.c, C.int(number), &p), "describe GPU %d", number); err != nil {
		return Properties{}, err
	}
	return Properties{
		Name: C.GoString(&p.name[0]), UUID: uuid(p.uuid),
		Major: int(p.major), Minor: int(p.minor), Memory: int64(p.memory),
	}, nil
}

// uuid formats a UUID as nvidia-smi does.
func uuid(u C.CUuuid) string {
	var b [16]byte
	for i, x := range u.bytes {
		b[i] = byte(x)
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// check converts a result to an error; doing says what the call was for.
func (d *Driver) check(code C.CUresult, doing string, args ...any) error {
	if code == 0 {
		return nil
	}
	return &failure{
		code: int(code), name: C.GoString(C.dsconv_cuda_name(d.c, code)), text: C.GoString(C.dsconv_cuda_text(d.c, code)),
		doing: fmt.Sprintf(doing, args...),
	}
}

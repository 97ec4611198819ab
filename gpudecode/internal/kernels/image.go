package kernels

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
)

//go:embed cubins
var cubins embed.FS

// architectures are those that cubins are compiled for, as ten times the major version plus the minor one. A cubin runs
// on GPUs of the same major version from its minor one on.
var architectures = []int{75, 80, 86, 89, 90, 100, 103, 120}

// ptx is the oldest architecture that the PTX is for, which the driver compiles for GPUs newer than all cubins.
const ptx = 75

// Image returns the module with the kernels for GPUs of a compute capability, such as 9 and 0, for cuModuleLoadData:
// a cubin, or PTX that ends with a zero byte.
func Image(major, minor int) ([]byte, error) {
	if 10*major+minor < ptx {
		return nil, fmt.Errorf("GPU of compute capability %d.%d: decoding on the GPU needs %d.%d at least", major, minor, ptx/10, ptx%10)
	}
	name := fmt.Sprintf("compute_%d.ptx", ptx)
	for _, a := range slices.Backward(architectures) {
		if a/10 == major && a%10 <= minor {
			name = fmt.Sprintf("sm_%d.cubin", a)
			break
		}
	}
	f, err := cubins.Open("cubins/" + name + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return io.ReadAll(z)
}

//go:build !linux || !cgo

package cuda

import "fmt"

// Driver is NVIDIA's driver.
type Driver struct{}

// Open fails: this build cannot load the driver.
func Open() (*Driver, error) {
	return nil, fmt.Errorf("%w: this build of dsconv has no GPU support; build it for Linux with cgo", errNoDriver)
}

// Version is the newest CUDA that the driver supports.
func (*Driver) Version() (major, minor int) { return 0, 0 }

// Devices is how many GPUs there are.
func (*Driver) Devices() int { return 0 }

// Describe describes a GPU.
func (*Driver) Describe(int) (Properties, error) { return Properties{}, errNoDriver }

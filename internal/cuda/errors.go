package cuda

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart, by errors.Is.
var (
	// errNoDriver is returned by Open if NVIDIA's driver is not there, cannot be used, or has no GPU.
	errNoDriver = errors.New("no NVIDIA GPU can be used")
	// ErrNotInstalled is in the chain of Open's error if there is no driver at all.
	ErrNotInstalled = errors.New("NVIDIA's driver is not installed")
	// ErrLost is in the chain of an error after which the GPU does nothing more for this process.
	ErrLost = errors.New("the GPU is lost to this process")
	// ErrMemory is in the chain of an error for lack of the GPU's memory, or of pinned memory.
	ErrMemory = errors.New("out of the GPU's memory")
	// errForked is in the chain of every error in a process that was forked after CUDA had been opened.
	errForked = errors.New("CUDA does not survive a fork: open it in the new process, or start that by spawn")
)

// Results of the driver, as cuda.h has them.
const (
	outOfMemory    = 2
	notInitialized = 3
	noDevice       = 100
	invalidDevice  = 101
	notReady       = 802
	driverMismatch = 803
	notCompatible  = 804
	unknown        = 999
	forked         = 1000000 // DSCONV_CUDA_FORKED
)

// lost are the results after which each further call fails: the context is broken, or the GPU is gone.
var lost = map[int]string{
	4:   "DEINITIALIZED",
	46:  "DEVICE_UNAVAILABLE",
	214: "ECC_UNCORRECTABLE",
	220: "NVLINK_UNCORRECTABLE",
	226: "CONTAINED",
	700: "ILLEGAL_ADDRESS",
	702: "LAUNCH_TIMEOUT",
	709: "CONTEXT_IS_DESTROYED",
	710: "ASSERT",
	714: "HARDWARE_STACK_ERROR",
	715: "ILLEGAL_INSTRUCTION",
	716: "MISALIGNED_ADDRESS",
	717: "INVALID_ADDRESS_SPACE",
	718: "INVALID_PC",
	719: "LAUNCH_FAILED",
	721: "TENSOR_MEMORY_LEAK",
	999: "UNKNOWN",
}

// failure is a call of the driver that failed.
type failure struct {
	code  int    // such as 2
	name  string // such as "CUDA_ERROR_OUT_OF_MEMORY"
	text  string // the driver's description
	doing string // what the call was for
}

func (e *failure) Error() string {
	if e.code == forked {
		return fmt.Sprintf("CUDA: %s: %v", e.doing, errForked)
	}
	text := fmt.Sprintf("CUDA: %s: %s (%s, %d)", e.doing, e.text, e.name, e.code)
	if e.name == "" { // the driver does not know it
		text = fmt.Sprintf("CUDA: %s: error %d", e.doing, e.code)
	}
	if errors.Is(e, ErrLost) {
		text += "; the GPU does nothing more for this process: start it again"
	}
	return text
}

// Is makes errors.Is find ErrLost, ErrMemory and errForked.
func (e *failure) Is(target error) bool {
	switch target {
	case ErrLost:
		return lost[e.code] != ""
	case ErrMemory:
		return e.code == outOfMemory
	case errForked:
		return e.code == forked
	}
	return false
}

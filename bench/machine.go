package bench

import (
	"runtime"

	"github.com/dsconv/dsconv/internal/parallel"
)

// Machine is where the measurement ran, without anything that identifies it.
type Machine struct {
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Memory     int64  `json:"memory_bytes,omitempty"` // 0 if unknown
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	// Of a loop in Python: its version, PyTorch's, and what the model ran on.
	Python string `json:"python,omitempty"`
	Torch  string `json:"torch,omitempty"`
	Device string `json:"device,omitempty"`
}

func thisMachine() Machine {
	return Machine{
		Cores: runtime.NumCPU(), GOMAXPROCS: parallel.Cores(), Memory: totalMemory(),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
}

// resident is what the process has in memory, in bytes; 0 is unknown.
type resident struct {
	now, peak, mapped int64 // mapped: pages of files
}

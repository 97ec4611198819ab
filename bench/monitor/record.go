package monitor

// Record is what a Monitor sampled. It has at most [maxSamples] samples, however long the run was: if there are more, two
// become one, and the interval doubles.
type Record struct {
	// Interval is the seconds between two samples.
	Interval float64  `json:"interval_seconds"`
	Samples  []Sample `json:"samples"`
	// GPUs are those of the samples, in the same order.
	GPUs []GPU `json:"gpus,omitempty"`
	// Sampling is the seconds of a core that taking the samples took.
	Sampling float64 `json:"sampling_seconds"`
	// Missing says what could not be sampled, and why.
	Missing []string `json:"missing,omitempty"`
}

// Sample is the state of the machine at one time. Rates, and the cores that were busy, are means since the sample before.
type Sample struct {
	At float64 `json:"at"` // seconds since the Monitor's start

	Cores     float64 `json:"cores"`            // of the machine that were busy, or that the hypervisor gave to others
	OwnCores  float64 `json:"own_cores"`        // that the process and its descendants kept busy
	Memory    int64   `json:"memory_bytes"`     // of the machine that is not available to programs
	OwnMemory int64   `json:"own_memory_bytes"` // of the process and its descendants; what they share counts once

	Swap    int64   `json:"swap_bytes,omitempty"` // in use
	SwapIn  float64 `json:"swap_in_bytes_per_second,omitempty"`
	SwapOut float64 `json:"swap_out_bytes_per_second,omitempty"`

	// DiskRead and DiskWrite are of the machine's local disks.
	DiskRead  float64 `json:"disk_read_bytes_per_second,omitempty"`
	DiskWrite float64 `json:"disk_write_bytes_per_second,omitempty"`

	GPUs []GPUSample `json:"gpus,omitempty"`
}

// GPU is one of the machine's GPUs.
type GPU struct {
	Name   string `json:"name"`
	Memory int64  `json:"memory_bytes"`
}

// GPUSample is the state of a GPU.
type GPUSample struct {
	Busy   float64 `json:"busy"`         // share of the time in which something ran on it; -1: it does not say
	Memory int64   `json:"memory_bytes"` // in use, by all programs
}

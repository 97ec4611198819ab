package bench

import (
	"syscall"
	"time"
)

// Counters are what this process waited for, and what others did, since it started or, as a difference of two, in between: the
// kernel's own accounting. What the system does not count is 0. Times are seconds, summed over threads unless it says otherwise.
type Counters struct {
	// Queue is the time in which threads were ready to run and had no core, also because of the control group's quota.
	Queue float64 `json:"queue_seconds"`
	// OtherCPU is the CPU time of all other programs, and what a hypervisor gave to other machines.
	OtherCPU float64 `json:"other_cpu_seconds"`
	// MajorFaults is how often a thread touched memory that had to be read from a disk: swapped, or of a mapped file.
	MajorFaults int64 `json:"major_faults"`
	// AllMajorFaults are those of the control group if it counts them, otherwise of the machine.
	AllMajorFaults int64 `json:"all_major_faults"`
	// Read is the bytes that the process read from disks, memory that was swapped out included.
	Read int64 `json:"read_bytes"`
	// SwapIn is bytes, of the control group if it counts them, otherwise of the machine.
	SwapIn int64 `json:"swap_in_bytes"`
	// MemoryStall is the time, not summed, in which at least one thread waited for memory
	// (PSI), of the control group if it counts them, otherwise of the machine.
	MemoryStall float64 `json:"memory_stall_seconds"`
}

// sub is the difference to earlier Counters. Nothing is below 0, although a thread that ended takes its part of Queue along.
func (c Counters) sub(then Counters) Counters {
	return Counters{
		Queue: max(0, c.Queue-then.Queue), OtherCPU: max(0, c.OtherCPU-then.OtherCPU),
		MajorFaults: max(0, c.MajorFaults-then.MajorFaults), AllMajorFaults: max(0, c.AllMajorFaults-then.AllMajorFaults),
		Read: max(0, c.Read-then.Read), SwapIn: max(0, c.SwapIn-then.SwapIn), MemoryStall: max(0, c.MemoryStall-then.MemoryStall),
	}
}

// swapStall estimates the seconds, summed over threads, in which threads waited for memory that had been swapped out. blocked is
// the time in which they neither computed nor waited for a core: of it, what was read from swap has the part that it has of
// all bytes read. What the kernel counts as waiting for memory (MemoryStall) limits this on both sides, as on a busy machine
// threads also wait for a core while they wait for memory: it is at least the process's part of that time, by its page faults,
// and at most that time in each of the threads.
func (c Counters) swapStall(blocked float64, threads int) float64 {
	if c.SwapIn <= 0 || c.MajorFaults <= 0 {
		return 0
	}
	share := min(1, float64(c.SwapIn)/float64(max(c.Read, c.SwapIn)))
	stall := max(0, blocked) * share
	if c.MemoryStall > 0 {
		own := min(1, float64(c.MajorFaults)/float64(max(c.AllMajorFaults, c.MajorFaults)))
		stall = min(max(stall, c.MemoryStall*share*own), c.MemoryStall*float64(max(threads, 1)))
	}
	return stall
}

// ownCPU is the CPU time of this process so far, user and system; 0 if the system does not say.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

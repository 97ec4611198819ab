//go:build !linux

package monitor

import (
	"context"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// family is a process and its descendants.
func family(ctx context.Context, pid int) ([]int, error) { return scan(ctx, pid) }

// processCPU is the CPU time of a process.
func processCPU(pid int) (time.Duration, error) {
	times, err := (&process.Process{Pid: int32(pid)}).Times()
	if err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration((times.User + times.System) * float64(time.Second)), nil
}

// residentMemory is what a process has in memory, in bytes; 0 if it has ended.
func residentMemory(pid int) int64 {
	memory, err := (&process.Process{Pid: int32(pid)}).MemoryInfo()
	if err != nil {
		return 0
	}
	return int64(memory.RSS)
}

// proportionalMemory is not known.
func proportionalMemory(int) int64 { return 0 }

// threadCPU is wall time, of which the calling thread has at most as much.
func threadCPU() time.Duration { return time.Since(started) }

var started = time.Now()

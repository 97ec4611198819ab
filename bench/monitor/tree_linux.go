package monitor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/procmemory"
)

// family is a process and its descendants.
func family(ctx context.Context, pid int) ([]int, error) {
	if !listsChildren() {
		return scan(ctx, pid)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ { // all grows meanwhile
		for _, thread := range threads(all[i]) {
			text, _ := os.ReadFile(thread + "/children") // the thread may have ended
			for _, child := range bytes.Fields(text) {
				if n, err := strconv.Atoi(string(child)); err == nil {
					all = append(all, n)
				}
			}
		}
	}
	return all, nil
}

// listsChildren reports whether the kernel lists the children of each thread, which some are built without.
var listsChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// threads are the folders of a process's threads; none if it has ended.
func threads(pid int) (folders []string) {
	folder := fmt.Sprintf("/proc/%d/task", pid)
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		folders = append(folders, folder+"/"+name)
	}
	return folders
}

// processCPU is the CPU time of a process, threads that have ended included. The kernel's clock of the process is exact, while
// /proc counts in steps of 10 ms.
func processCPU(pid int) (time.Duration, error) {
	if pid > maxPID {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, unix.ESRCH)
	}
	var t unix.Timespec
	clock := int32(^uint32(pid))<<3 | 2 // MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of the kernel
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// threadCPU is the CPU time of the calling thread.
func threadCPU() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // cannot fail
	return time.Duration(t.Nano())
}

// maxPID is the kernel's limit. Larger numbers would be other clocks.
const maxPID = 1 << 22

// residentMemory is what a process has in memory, in bytes; 0 if it has ended.
func residentMemory(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := bytes.Fields(text); len(fields) > 1 {
		return number(fields[1]) * int64(os.Getpagesize())
	}
	return 0
}

// proportionalMemory is the same, with the part of what it shares with others that falls to it; 0 if that is not known.
func proportionalMemory(pid int) int64 {
	sizes, _ := procmemory.Sizes(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	return sizes["Pss"]
}

// number is 0 for what is none.
func number[T []byte | string](text T) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}

package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	swapped     = 96 << 20 // bytes that the child touches
	swapLimit   = 48 << 20 // bytes that it may have
	swapThreads = 4
)

// swapChildVariable, if it is set, makes this process the child.
const swapChildVariable = "DSCONV_SWAP_CHILD"

// Swapping, really: a child whose control group may have half of the memory that it touches. Nearly all of the time in which
// its threads neither compute nor wait for a core is found to be swapping.
func TestSwapping(t *testing.T) {
	if os.Getenv(swapChildVariable) != "" {
		swapChild()
		return
	}
	if os.Getenv("DSCONV_SWAP") == "" {
		t.Skip("make torture runs it: it needs root, and swaps to a file for some seconds")
	}
	swapOn(t)
	c := exec.Command(os.Args[0], "-test.run=^TestSwapping$")
	c.Env = append(os.Environ(), swapChildVariable+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	limitMemory(t, c.Process.Pid)
	in.Close() // it begins
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	var swapIn int64
	var stall, blocked float64
	if _, err := fmt.Sscan(out.String(), &swapIn, &stall, &blocked); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	t.Log(out.String())
	if swapIn < swapped-swapLimit || blocked <= 0 || stall < 0.5*blocked {
		t.Errorf("%d bytes swapped in; %g of the %g s in which threads were blocked", swapIn, stall, blocked)
	}
}

// swapOn makes a swap file for the test. Only who lacks memory uses it.
func swapOn(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "swap")
	script := fmt.Sprintf("head -c %d /dev/zero >%[2]s && chmod 600 %[2]s && mkswap -q %[2]s && swapon %[2]s", 4*swapped, file)
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Skipf("this machine lets nobody swap: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("swapoff", file).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// limitMemory moves a process to a control group, of version 1 or 2, that may have swapLimit.
func limitMemory(t *testing.T, pid int) {
	t.Helper()
	for folder, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group := fmt.Sprintf("%s/dsconv-test-%d", folder, os.Getpid())
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		write := func(name, text string) error { return os.WriteFile(filepath.Join(group, name), []byte(text), 0o644) }
		err := errors.Join(write(file, fmt.Sprint(swapLimit)), write("cgroup.procs", fmt.Sprint(pid)))
		if err == nil {
			return
		}
	}
	t.Skip("this machine has no control group for memory")
}

// swapChild touches more memory than it has, and prints what its Counters say.
func swapChild() {
	_, _ = io.Copy(io.Discard, os.Stdin) // until it has its control group
	memory, err := unix.Mmap(-1, 0, swapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		fmt.Println(err)
		return
	}
	touch := func(part []byte) {
		for i := 0; i < len(part); i += os.Getpagesize() {
			part[i]++
		}
	}
	touch(memory) // what does not fit is swapped out
	used := ownCPU()
	before, err := readCounters()
	if err != nil {
		fmt.Println(err)
		return
	}
	var all sync.WaitGroup
	walls := make([]time.Duration, swapThreads)
	for k := range swapThreads {
		all.Go(func() {
			runtime.LockOSThread()
			begin := time.Now()
			size := len(memory) / swapThreads
			for range 3 {
				touch(memory[k*size : (k+1)*size])
			}
			walls[k] = time.Since(begin)
			runtime.UnlockOSThread()
		})
	}
	all.Wait()
	after, err := readCounters()
	if err != nil {
		fmt.Println(err)
		return
	}
	var wall time.Duration
	for _, w := range walls {
		wall += w
	}
	d := after.sub(before)
	blocked := wall.Seconds() - (ownCPU() - used).Seconds() - d.Queue
	fmt.Println(d.SwapIn, d.swapStall(blocked, swapThreads), blocked)
	fmt.Printf("%+v\n", d)
}

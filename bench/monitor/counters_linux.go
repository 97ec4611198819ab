package monitor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Read reads the Counters of a process and its descendants; pid 0 is this process. It takes some microseconds a thread. Threads
// that have ended no longer count for Queue.
func Read(ctx context.Context, pid int) (Counters, error) {
	if err := checkRead(ctx, pid); err != nil {
		return Counters{}, err
	}
	if pid == 0 {
		pid = os.Getpid()
	}
	members, err := family(ctx, pid)
	if err != nil {
		return Counters{}, err
	}
	busy, err := busyCores(ctx)
	if err != nil {
		return Counters{}, err
	}
	var c Counters
	var own time.Duration
	for _, member := range members {
		cpu, err := processCPU(member)
		if err != nil && member == pid {
			return c, fmt.Errorf("there is no process %d: %w", pid, err)
		}
		own += cpu
		own += c.addProcess(member)
	}
	c.CPU, c.OtherCPU = own.Seconds(), (busy - own).Seconds()
	c.addGroup(os.DirFS("/"), pid)
	return c, nil
}

// clockTick is the unit of CPU times in /proc/PID/stat.
const clockTick = time.Second / 100

// addProcess adds what /proc says of a process, and returns the CPU time of its children that have ended.
func (c *Counters) addProcess(pid int) (ended time.Duration) {
	folder := fmt.Sprintf("/proc/%d/", pid)
	text, _ := os.ReadFile(folder + "stat")
	_, after, _ := strings.Cut(string(text), ") ") // the name before it may have spaces
	if f := strings.Fields(after); len(f) > 14 {
		c.MajorFaults += number(f[9]) + number(f[10]) // with those of children that have ended
		ended = time.Duration(number(f[13])+number(f[14])) * clockTick
	}
	text, _ = os.ReadFile(folder + "io")
	c.Read += keyed(string(text), "read_bytes:")
	for _, thread := range threads(pid) {
		text, _ := os.ReadFile(thread + "/schedstat")
		if f := strings.Fields(string(text)); len(f) > 1 {
			c.Queue += float64(number(f[1])) / 1e9
		}
	}
	return ended
}

// addGroup adds what the process's control group counts, or the machine where it does not.
func (c *Counters) addGroup(root fs.FS, pid int) {
	group := groupFolder(root, pid)
	read := func(inGroup, ofMachine string) string {
		text, err := fs.ReadFile(root, group+"/"+inGroup)
		if group == "" || err != nil {
			text, _ = fs.ReadFile(root, ofMachine)
		}
		return string(text)
	}
	c.CPUStall = stalled(read("cpu.pressure", "proc/pressure/cpu"))
	c.IOStall = stalled(read("io.pressure", "proc/pressure/io"))
	c.MemoryStall = stalled(read("memory.pressure", "proc/pressure/memory"))
	swaps := read("memory.stat", "proc/vmstat")
	c.AllMajorFaults = keyed(swaps, "pgmajfault")
	if !strings.Contains(swaps, "pswpin ") {
		text, _ := fs.ReadFile(root, "proc/vmstat") // a kernel before 6.13 does not count them for groups
		swaps = string(text)
	}
	page := int64(os.Getpagesize())
	c.SwapIn = page * (keyed(swaps, "pswpin") + keyed(swaps, "zswpin"))
	c.SwapOut = page * (keyed(swaps, "pswpout") + keyed(swaps, "zswpout"))
}

// stalled is the seconds of a pressure file in which at least one thread waited.
func stalled(text string) float64 {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, "some "); found {
			_, total, _ := strings.Cut(strings.TrimSpace(rest), "total=")
			return float64(number(total)) / 1e6
		}
	}
	return 0
}

// keyed is the number behind a name at the beginning of a line; 0 if there is none.
func keyed(text, name string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			return number(f[1])
		}
	}
	return 0
}

// groupFolder is the folder of the process's control group (version 2), relative to root; "" if there is none.
func groupFolder(root fs.FS, pid int) string {
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	groups, err := fs.ReadFile(root, fmt.Sprintf("proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	name := ""
	for line := range strings.Lines(string(groups)) {
		if after, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			name = strings.Trim(after, "/")
		}
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, found := strings.Cut(line, " - cgroup2 ")
		of := strings.Fields(before)
		if !found || after == "" || len(of) < 5 {
			continue
		}
		mount := strings.TrimPrefix(of[4], "/")
		// A container may see its own group as the root, under the name that the machine has for it.
		if _, err := fs.Stat(root, mount+"/"+name); name != "" && !strings.Contains(name, "..") && !errors.Is(err, fs.ErrNotExist) {
			return mount + "/" + name
		}
		return mount
	}
	return ""
}

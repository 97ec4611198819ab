package bench

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dsconv/dsconv/internal/procmemory"
)

// readCounters reads the Counters of this process. It takes some microseconds a thread. Threads that have ended no longer count
// for Queue.
func readCounters() (c Counters, err error) {
	root := os.DirFS("/")
	busy, err := busyCores(root)
	if err != nil {
		return c, err
	}
	c.OtherCPU = (busy - ownCPU()).Seconds()
	c.addProcess(root)
	c.Queue += goroutinesQueued()
	c.addGroup(root)
	return c, nil
}

// clockTick is the unit of CPU times in /proc/stat.
const clockTick = time.Second / 100

// busyCores is the time that all cores were busy since the boot. What a hypervisor took away counts: programs could not have it.
func busyCores(root fs.FS) (time.Duration, error) {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, errors.New("the machine's CPU time is not known")
	}
	user, nice, system, irq, softirq, stolen := f[1], f[2], f[3], f[6], f[7], f[8] // guests are in user
	return clockTick * time.Duration(number(user)+number(nice)+number(system)+number(irq)+number(softirq)+number(stolen)), nil
}

// addProcess adds what /proc says of this process.
func (c *Counters) addProcess(root fs.FS) {
	text, _ := fs.ReadFile(root, "proc/self/stat")
	_, after, _ := strings.Cut(string(text), ") ") // the name before it may have spaces
	if f := strings.Fields(after); len(f) > 9 {
		c.MajorFaults = number(f[9])
	}
	text, _ = fs.ReadFile(root, "proc/self/io")
	c.Read = keyed(string(text), "read_bytes:")
	threads, _ := fs.ReadDir(root, "proc/self/task")
	for _, thread := range threads {
		text, _ := fs.ReadFile(root, "proc/self/task/"+thread.Name()+"/schedstat") // the thread may have ended
		if f := strings.Fields(string(text)); len(f) > 1 {
			c.Queue += float64(number(f[1])) / 1e9
		}
	}
}

// addGroup adds what the process's control group counts, or the machine where it does not.
func (c *Counters) addGroup(root fs.FS) {
	group := groupFolder(root)
	read := func(inGroup, ofMachine string) string {
		text, err := fs.ReadFile(root, group+"/"+inGroup)
		if group == "" || err != nil {
			text, _ = fs.ReadFile(root, ofMachine)
		}
		return string(text)
	}
	c.MemoryStall = stalled(read("memory.pressure", "proc/pressure/memory"))
	swaps := read("memory.stat", "proc/vmstat")
	c.AllMajorFaults = keyed(swaps, "pgmajfault")
	if !strings.Contains(swaps, "pswpin ") {
		text, _ := fs.ReadFile(root, "proc/vmstat") // a kernel before 6.13 does not count them for groups
		swaps = string(text)
	}
	c.SwapIn = int64(os.Getpagesize()) * (keyed(swaps, "pswpin") + keyed(swaps, "zswpin"))
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
func groupFolder(root fs.FS) string {
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
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

// number is 0 for what is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// residentNow reads the counters; zeros if they cannot be read.
func residentNow() resident {
	f := fields("/proc/self/status")
	return resident{now: f["VmRSS"], peak: f["VmHWM"], mapped: f["RssFile"] + f["RssShmem"]}
}

// resetPeak sets the high-water mark to what is resident now and reports whether it could.
func resetPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

func totalMemory() int64 { return fields("/proc/meminfo")["MemTotal"] }

// fields reads the lines "Name:  123 kB" of a file, in bytes; none if it cannot be read.
func fields(path string) map[string]int64 {
	m, err := procmemory.Sizes(path)
	if err != nil {
		return nil
	}
	return m
}

package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	smallShm    = 1 << 30
	smallMemory = 3 << 29 // images alone may take 1 GiB
	fewFiles    = 4096
)

// Limits describes what the process may use: processors, memory, /dev/shm and open files.
func (m *Machine) Limits(ctx context.Context) []Line {
	l := m.cgroupLimits()
	return []Line{m.cores(l), m.memory(l), m.shm(ctx), m.openFiles(ctx)}
}

func (m *Machine) cores(l limits) Line {
	line := ok("cores", "%d", m.cpus)
	var by []string
	if l.cpus > 0 && l.cpus < float64(m.cpus) {
		by = append(by, fmt.Sprintf("the cgroup's quota is %.4g", l.cpus))
	}
	if l.cpuset > 0 && l.cpuset < m.cpus {
		by = append(by, fmt.Sprintf("its cpuset has %d", l.cpuset))
	}
	if len(by) == 0 && m.workers >= m.cpus {
		return line
	}
	line.Value = strings.Join(append([]string{line.Value}, by...), ", ") + fmt.Sprintf("; dsconv uses %d", m.workers)
	return line.advise("programs that count processors start too many workers here: give PyTorch's DataLoader num_workers=%d", m.workers)
}

func (m *Machine) memory(l limits) Line {
	total, free := m.meminfo("MemTotal"), m.meminfo("MemAvailable")
	if total == 0 {
		return ok("memory", "unknown on %s", m.goos)
	}
	line, usable := ok("memory", "%s, %s available", size(total), size(free)), free
	if l.memory > 0 && l.memory < total {
		line.Value += fmt.Sprintf("; the cgroup allows %s", size(l.memory))
		usable = min(usable, l.memory)
	}
	if usable < smallMemory {
		return line.warn("little memory: large images alone may take 1 GiB, and a process above the limit is killed; " +
			"allow the container more, or pack with --memory and load with fewer workers")
	}
	return line
}

// meminfo returns a row of /proc/meminfo in bytes.
func (m *Machine) meminfo(name string) uint64 {
	for line := range strings.SplitSeq(m.read("/proc/meminfo"), "\n") {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			return uint64(parse(strings.TrimSpace(strings.TrimSuffix(rest, "kB")))) << 10
		}
	}
	return 0
}

func (m *Machine) shm(ctx context.Context) Line {
	const name = "/dev/shm"
	if !m.has(name) {
		return ok(name, "none").advise("the caches of loaders are files in the folder for temporary files instead")
	}
	type answer struct {
		total, free uint64
		err         error
	}
	a, answered := within(ctx, m.timeout, func() (a answer) {
		a.total, a.free, a.err = m.space(name)
		return a
	})
	switch {
	case !answered || a.err != nil:
		return ok(name, "unknown").warn("it cannot be asked for its size")
	case a.total < smallShm:
		return ok(name, "%s", size(a.total)).warn("too small for a loader's cache and for PyTorch's DataLoader with workers, which end with a bus error: " +
			"start the container with --shm-size=8g or --ipc=host")
	}
	return ok(name, "%s, %s free", size(a.total), size(a.free))
}

// openFiles asks a shell: Go raises the limit of its own process to what is allowed.
func (m *Machine) openFiles(ctx context.Context) Line {
	const name = "open files"
	out, err := m.ask(ctx, "sh", "-c", "ulimit -Sn; ulimit -Hn")
	soft, hard, found := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || !found {
		return ok(name, "unknown")
	}
	line := ok(name, "%s, can be raised to %s", soft, hard)
	if soft == hard {
		line.Value = soft
	}
	if n := parse(hard); n > 0 && n < fewFiles {
		return line.warn("datasets of many files need more: ulimit -n %d, or docker run --ulimit nofile=%d", 1<<16, 1<<16)
	}
	return line
}

// limits are what the cgroups of the process allow; 0 is no limit.
type limits struct {
	cpus   float64 // by the quota
	cpuset int     // processors
	memory uint64
}

// cgroupLimits returns the lowest limits of the process's cgroups and of those above them, of both
// versions: a machine may use both.
func (m *Machine) cgroupLimits() (l limits) {
	for _, dir := range m.cgroups("cpu") {
		l.limitCPUs(m.number(dir, "cpu.cfs_quota_us"), m.number(dir, "cpu.cfs_period_us"))
		if quota, period, found := strings.Cut(m.read(path.Join(dir, "cpu.max")), " "); found {
			l.limitCPUs(parse(quota), parse(period))
		}
	}
	for _, dir := range m.cgroups("memory") {
		for _, file := range []string{"memory.limit_in_bytes", "memory.max"} {
			// Version 1 writes the largest number of pages for no limit.
			if n := m.number(dir, file); n > 0 && n < 1<<60 && (l.memory == 0 || uint64(n) < l.memory) {
				l.memory = uint64(n)
			}
		}
	}
	for _, dir := range m.cgroups("cpuset") {
		for _, file := range []string{"cpuset.effective_cpus", "cpuset.cpus.effective", "cpuset.cpus"} {
			if n := countList(m.read(path.Join(dir, file))); n > 0 && (l.cpuset == 0 || n < l.cpuset) {
				l.cpuset = n
			}
		}
	}
	return l
}

func (l *limits) limitCPUs(quota, period int64) {
	if quota <= 0 || period <= 0 {
		return // none: "max", -1, or no such file
	}
	if cpus := float64(quota) / float64(period); l.cpus == 0 || cpus < l.cpus {
		l.cpus = cpus
	}
}

func (m *Machine) number(dir, file string) int64 { return parse(m.read(path.Join(dir, file))) }

func parse(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// countList counts the numbers of a list such as 0-3,8.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			return 0
		}
		to := from
		if isRange {
			to, _ = strconv.Atoi(last)
		}
		n += max(0, to-from+1)
	}
	return n
}

// cgroups returns the folders of the process's cgroups that have a controller, from the innermost up. A container often
// sees its own cgroup as the topmost folder, under the name that the machine has for it: then the others are not there.
func (m *Machine) cgroups(controller string) (dirs []string) {
	for line := range strings.SplitSeq(m.read("/proc/self/cgroup"), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), controller) {
			continue
		}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) {
			dirs = append(dirs, path.Join("/sys/fs/cgroup", parts[1], dir)) // version 2 names no controllers
			if dir == "/" {
				break
			}
		}
	}
	return dirs
}

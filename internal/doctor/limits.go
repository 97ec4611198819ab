package doctor

import (
	"context"
	"fmt"
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

package doctor

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

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

// cgroups returns the folders of the process's cgroups that have a controller, from the innermost up.
func (m *Machine) cgroups(controller string) (dirs []string) {
	for line := range strings.SplitSeq(m.read("/proc/self/cgroup"), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 {
			continue
		}
		unified := parts[0] == "0" && parts[1] == ""
		if !unified && !slices.Contains(strings.Split(parts[1], ","), controller) {
			continue
		}
		for _, mount := range m.mounts() {
			if unified && mount.kind == "cgroup2" || !unified && mount.kind == "cgroup" && slices.Contains(mount.options, controller) {
				dirs = append(dirs, mount.groups(parts[2])...)
			}
		}
	}
	return dirs
}

// groups returns the folders of a cgroup and of those above it. A container often sees its own
// cgroup as the mount's root, under the name that the machine has for it.
func (m mount) groups(group string) (dirs []string) {
	inside, found := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !found || strings.Contains(group, "..") {
		inside = ""
	}
	for dir := path.Join(m.at, inside); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == m.at || len(dir) < len(m.at) {
			return dirs
		}
	}
}

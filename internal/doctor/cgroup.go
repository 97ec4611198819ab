package doctor

import (
	"path"
	"regexp"
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

// mount is a mounted file system.
type mount struct {
	device  string // MAJOR:MINOR
	root    string // the folder of the file system that is mounted
	at      string
	kind    string // such as ext4
	source  string // such as /dev/sda1
	options []string
}

// mounts returns the mounts of the process, in the order in which they were made.
func (m *Machine) mounts() (all []mount) {
	for line := range strings.SplitSeq(m.read("/proc/self/mountinfo"), "\n") {
		before, after, found := strings.Cut(line, " - ")
		of, what := strings.Fields(before), strings.Fields(after)
		if !found || len(of) < 5 || len(what) < 2 {
			continue
		}
		one := mount{device: of[2], root: unescape(of[3]), at: unescape(of[4]), kind: what[0], source: unescape(what[1])}
		if len(what) > 2 {
			one.options = strings.Split(what[2], ",")
		}
		all = append(all, one)
	}
	return all
}

// unescape replaces what the kernel writes for spaces in paths: \040.
func unescape(text string) string {
	octal := regexp.MustCompile(`\\[0-7]{3}`)
	return octal.ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[1:], 8, 8)
		return string([]byte{byte(n)})
	})
}

// mountOf returns the mount that an absolute path lies in.
func (m *Machine) mountOf(path string) (found mount, ok bool) {
	for _, one := range m.mounts() {
		above := strings.TrimSuffix(one.at, "/")
		if (path == one.at || strings.HasPrefix(path, above+"/")) && len(one.at) >= len(found.at) {
			found, ok = one, true // a later mount hides an earlier one
		}
	}
	return found, ok
}

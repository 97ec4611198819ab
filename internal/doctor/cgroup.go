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

// mount is a mounted file system.
type mount struct {
	device string // MAJOR:MINOR
	at     string
	kind   string // such as ext4
	source string // such as /dev/sda1
}

// mounts returns the mounts of the process, in the order in which they were made.
func (m *Machine) mounts() (all []mount) {
	for line := range strings.SplitSeq(m.read("/proc/self/mountinfo"), "\n") {
		before, after, found := strings.Cut(line, " - ")
		of, what := strings.Fields(before), strings.Fields(after)
		if !found || len(of) < 5 || len(what) < 2 {
			continue
		}
		all = append(all, mount{device: of[2], at: unescape(of[4]), kind: what[0], source: unescape(what[1])})
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

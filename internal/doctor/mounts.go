package doctor

import (
	"regexp"
	"strconv"
	"strings"
)

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

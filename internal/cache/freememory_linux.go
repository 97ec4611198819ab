package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// allocate gives n bytes of f from off on memory, or blocks of a disk; what is there already
// stays as it is.
func allocate(f *os.File, off, n int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, off, n)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return checkSpace(f, n)
	}
	return err
}

func freeMemory() (int64, error) { return freeMemoryIn(os.DirFS("/")) }

// freeMemoryIn is what the kernel estimates to be available without swapping, or less if
// a cgroup has less left, one of this process or one of its parents.
func freeMemoryIn(root fs.FS) (int64, error) {
	available, ok := keyed(root, "proc/meminfo", "MemAvailable:")
	if !ok {
		return 0, errors.New("free memory: /proc/meminfo does not say what is available")
	}
	free := available * 1024
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return free, nil //nolint:nilerr // there are no cgroups
	}
	for line := range strings.Lines(string(groups)) {
		if field := strings.SplitN(strings.TrimSpace(line), ":", 3); len(field) == 3 {
			free = min(free, freeInGroups(root, field[1], field[2]))
		}
	}
	return free, nil
}

// freeInGroups is what the cgroup at dir of a hierarchy, and those above it, have left. In a
// container dir may be the host's name for what is the top here; what is not there limits
// nothing.
func freeInGroups(root fs.FS, controllers, dir string) int64 {
	free := int64(math.MaxInt64)
	for dir = path.Join("/", dir); ; dir = path.Dir(dir) {
		switch {
		case controllers == "": // version 2
			free = min(free, freeInV2(root, path.Join("sys/fs/cgroup", dir)))
		case strings.Contains(","+controllers+",", ",memory,"):
			free = min(free, freeInV1(root, path.Join("sys/fs/cgroup/memory", dir)))
		}
		if dir == "/" {
			return free
		}
	}
}

// The pages of files that a cgroup has read count as its memory, but make room when it is
// needed. Those of a cache are not among them: they lie on the lists of anonymous memory.

func freeInV2(root fs.FS, dir string) int64 {
	limit := int64(math.MaxInt64)
	for _, name := range []string{"memory.max", "memory.high"} {
		if n, ok := number(root, path.Join(dir, name)); ok {
			limit = min(limit, n)
		}
	}
	used, _ := number(root, path.Join(dir, "memory.current"))
	return left(root, dir, limit, used, "")
}

func freeInV1(root fs.FS, dir string) int64 {
	limit, ok := number(root, path.Join(dir, "memory.limit_in_bytes"))
	if !ok {
		return math.MaxInt64
	}
	used, _ := number(root, path.Join(dir, "memory.usage_in_bytes"))
	return left(root, dir, limit, used, "total_")
}

func left(root fs.FS, dir string, limit, used int64, prefix string) int64 {
	if limit == math.MaxInt64 {
		return limit
	}
	stat := path.Join(dir, "memory.stat")
	active, _ := keyed(root, stat, prefix+"active_file")
	inactive, _ := keyed(root, stat, prefix+"inactive_file")
	return max(0, limit-max(0, used-active-inactive))
}

// number reads a file that is one number; "max" is none.
func number(root fs.FS, name string) (int64, bool) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// keyed reads the number behind a key, each at the beginning of a line.
func keyed(root fs.FS, name, key string) (int64, bool) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// FreeSpace is the free space of dir's file system for this user; dir may be a file.
func FreeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return spaceOf(&st), nil
}

func spaceOf(st *unix.Statfs_t) int64 {
	if st.Blocks == 0 { // a tmpfs without a limit
		return math.MaxInt64
	}
	block := uint64(st.Bsize)
	return int64(min(st.Bavail, math.MaxInt64/block) * block)
}

// checkSpace replaces allocate on file systems that cannot reserve space: it only checks that twice n
// bytes are free now.
func checkSpace(f *os.File, n int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if spaceOf(&st)/2 < n {
		return unix.ENOSPC
	}
	return nil
}

// sizeOf is the file's size. It is called for each sample: os.File.Stat would allocate, and make the
// workers share a counter.
func sizeOf(fd int) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	return st.Size, nil
}

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/unblocked"
)

// lowSpace is when a disk is said to be nearly full.
const lowSpace = 1 << 30

// disk describes the disk that a path lies on: its file system, its kind and what is free.
func disk(name, at string) Line {
	path, there, err := existing(at)
	var st unix.Statfs_t
	if err == nil {
		err = unix.Statfs(path, &st)
	}
	if err != nil {
		return ok(name, "unknown").warn("%s: %v", at, err)
	}
	kind, advice := kindOf(uint32(st.Type), path) //nolint:gosec // the magic numbers have 32 bits
	free := int64(st.Bavail) * int64(st.Bsize)    //nolint:gosec,unconvert // of other types on other systems
	line := ok(name, "%s, %s free", kind, size(free))
	if !there {
		line.Value = "nothing is there yet; its disk would be " + line.Value
	}
	switch {
	case free < lowSpace:
		return line.warn("the disk is nearly full: a pack needs room for the whole dataset")
	case advice != "":
		return line.warn("%s", advice)
	}
	return line
}

// existing returns the path, or that of the nearest folder above it that exists.
func existing(at string) (path string, there bool, err error) {
	if path, err = filepath.Abs(at); err != nil {
		return "", false, err
	}
	if _, err := os.Stat(path); err == nil {
		return path, true, nil
	}
	for up := path; ; up = filepath.Dir(up) {
		if _, err = os.Stat(up); err == nil || up == filepath.Dir(up) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return up, strings.ContainsAny(at, "%*?[{"), err // a pattern of shards is no path
		}
	}
}

// What makes random reads slow.
const (
	ofNetwork  = "random reads over the network are slow: copy the dataset to a local disk, or keep it in memory with cache="
	ofProgram  = "reads go through a program: copy the dataset to a local disk, or keep it in memory with cache="
	ofHardDisk = "random reads from a hard disk are slow: load in an order of blocks (--order block:B:W), or copy the dataset to an SSD"
)

// fileSystems are those that are no disk, by the numbers that Linux has for them, and what they make slow.
var fileSystems = map[uint32]struct{ kind, advice string }{
	0x6969:     {"NFS (network)", ofNetwork},
	0x517B:     {"SMB (network)", ofNetwork},
	0xFE534D42: {"SMB (network)", ofNetwork},
	0xFF534D42: {"CIFS (network)", ofNetwork},
	0x00C36400: {"Ceph (network)", ofNetwork},
	0x0BD00BD0: {"Lustre (network)", ofNetwork},
	0x47504653: {"GPFS (network)", ofNetwork},
	0x19830326: {"BeeGFS (network)", ofNetwork},
	0x5346414F: {"AFS (network)", ofNetwork},
	0x01021997: {"9p (network)", ofNetwork},
	0x65735546: {"FUSE (served by a program)", ofProgram},
	0x01021994: {"tmpfs (memory)", ""},
	0x794C7630: {"overlay (a container's own layer)", ""},
}

// kindOf describes the disk of a path on a file system of that type, and advises where it makes loading slow.
func kindOf(fileSystem uint32, path string) (kind, advice string) {
	if known, found := fileSystems[fileSystem]; found {
		return known.kind, known.advice
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "kind of disk unknown", ""
	}
	dev := uint64(st.Dev) //nolint:unconvert,gosec // of another type on other systems
	return driveOf(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(dev), unix.Minor(dev)))
}

// driveOf is kindOf by the kernel's link to the folder of a disk or partition.
func driveOf(link string) (kind, advice string) {
	folder, err := os.Readlink(link)
	name := filepath.Base(folder)
	if err != nil {
		return "kind of disk unknown", ""
	}
	rotates := ""
	for _, file := range []string{"/queue/rotational", "/../queue/rotational"} { // of a partition it is the disk's
		if text, err := unblocked.ReadFile(link + file); err == nil {
			rotates = strings.TrimSpace(string(text))
		}
	}
	switch {
	case rotates == "":
		return "kind of disk unknown", ""
	case strings.HasPrefix(name, "vd"), strings.HasPrefix(name, "xvd"): // they say "rotational" whatever they are
		return name + " (virtual disk)", ""
	case rotates == "1":
		return name + " (hard disk)", ofHardDisk
	}
	return name + " (SSD)", ""
}

package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lowSpace is when a disk is said to be nearly full.
const lowSpace = 1 << 30

// Disk describes the disk that a path lies on: its file system, its kind and what is free.
func (m *Machine) Disk(ctx context.Context, name, at string) Line {
	line, answered := within(ctx, m.timeout, func() Line { return m.disk(name, at) })
	if !answered {
		return ok(name, "no answer").warn("the disk did not answer within %v: it may be a network disk whose server is gone", m.timeout)
	}
	return line
}

func (m *Machine) disk(name, at string) Line {
	real, err := m.resolve(at)
	if err != nil {
		return ok(name, "unknown").warn("%v", err)
	}
	kind, advice := "file system unknown", ""
	if found, known := m.mountOf(real); known {
		kind, advice = m.kindOf(found)
	}
	total, free, err := m.space(real)
	if err != nil {
		return ok(name, "%s", kind).warn("%v", err)
	}
	line := ok(name, "%s, %s free of %s", kind, size(free), size(total))
	if m.missing != nil && m.missing(at) {
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

var networks = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "afs", "9p"}

// kindOf describes the disk of a mount, and advises where it makes loading slow.
func (m *Machine) kindOf(of mount) (kind, advice string) {
	switch base, _, _ := strings.Cut(of.kind, "."); {
	case slices.Contains(networks, of.kind):
		return of.kind + " (network)", "random reads over the network are slow: copy the dataset to a local disk, or keep it in memory with cache="
	case base == "fuse" || base == "fuseblk" || base == "virtiofs":
		return of.kind + " (served by a program)", "reads go through a program: copy the dataset to a local disk, or keep it in memory with cache="
	case of.kind == "tmpfs" || of.kind == "ramfs":
		return of.kind + " (memory)", ""
	case of.kind == "overlay":
		return of.kind + " (a container's own layer)", ""
	}
	switch name := m.blockDevice(of); {
	case name == "":
		return of.kind + ", kind of disk unknown", ""
	case strings.HasPrefix(name, "vd"), strings.HasPrefix(name, "xvd"):
		return fmt.Sprintf("%s on %s (virtual disk)", of.kind, name), "" // it says "rotational" whatever it is
	case m.read("/sys/block/"+name+"/queue/rotational") == "1":
		return fmt.Sprintf("%s on %s (hard disk)", of.kind, name),
			"random reads from a hard disk are slow: load in an order of blocks (--order block:B:W), or copy the dataset to an SSD"
	case strings.HasPrefix(name, "nvme"):
		return fmt.Sprintf("%s on %s (NVMe)", of.kind, name), ""
	default:
		return fmt.Sprintf("%s on %s (SSD)", of.kind, name), ""
	}
}

// blockDevice returns the name of the disk under /sys/block that a mount is on; "" if it has none. Of a
// volume over several disks it is the first one.
func (m *Machine) blockDevice(of mount) string {
	name := path.Base(of.source) // of file systems such as btrfs, whose numbers are their own
	for line := range strings.SplitSeq(m.read("/sys/dev/block/"+of.device+"/uevent"), "\n") {
		if found, isName := strings.CutPrefix(line, "DEVNAME="); isName {
			name = found
		}
	}
	for range 8 { // volumes on volumes
		disk := m.diskWith(name)
		if disk == "" {
			return ""
		}
		parts, err := fs.ReadDir(m.root, "sys/block/"+disk+"/slaves")
		if err != nil || len(parts) == 0 {
			return disk
		}
		name = parts[0].Name()
	}
	return name
}

// diskWith returns the disk of that name, or the one with that partition.
func (m *Machine) diskWith(name string) string {
	if name == "" || strings.ContainsAny(name, "/\\") || name == "." {
		return ""
	}
	if m.has("/sys/block/" + name) {
		return name
	}
	disks, _ := fs.ReadDir(m.root, "sys/block")
	for _, disk := range disks {
		if m.has("/sys/block/" + disk.Name() + "/" + name) {
			return disk.Name()
		}
	}
	return ""
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

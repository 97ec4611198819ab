package monitor

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// newDisks returns what reads the machine's disks.
func newDisks() func() (disks, error) {
	root := os.DirFS("/")
	names := diskNames(root)
	return func() (disks, error) { return readDisks(root, names) }
}

// diskNames are the disks that are devices: volumes made of them, their partitions and files mounted as disks would count
// the same bytes again.
func diskNames(root fs.FS) map[string]bool {
	names := map[string]bool{}
	entries, _ := fs.ReadDir(root, "sys/block")
	for _, e := range entries {
		if _, err := fs.Stat(root, "sys/block/"+e.Name()+"/device"); err == nil {
			names[e.Name()] = true
		}
	}
	return names
}

// sector is the unit of /proc/diskstats, whatever the disk's own sectors are.
const sector = 512

func readDisks(root fs.FS, names map[string]bool) (d disks, err error) {
	text, err := fs.ReadFile(root, "proc/diskstats")
	if err != nil {
		return d, fmt.Errorf("what was read and written is not known: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 10 && names[fields[2]] {
			d.read += number(fields[5]) * sector
			d.written += number(fields[9]) * sector
		}
	}
	return d, nil
}

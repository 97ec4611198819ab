//go:build !linux

package monitor

import (
	"fmt"

	"github.com/shirou/gopsutil/v4/disk"
)

// newDisks returns what reads the machine's disks.
func newDisks() func() (disks, error) {
	return func() (d disks, err error) {
		all, err := disk.IOCounters()
		if err != nil {
			return d, fmt.Errorf("what was read and written is not known: %w", err)
		}
		for _, one := range all {
			d.read += int64(one.ReadBytes)
			d.written += int64(one.WriteBytes)
		}
		return d, nil
	}
}

//go:build !linux

package monitor

import (
	"context"
	"errors"
)

// Read fails: only Linux has the counters.
func Read(ctx context.Context, pid int) (Counters, error) {
	if err := checkRead(ctx, pid); err != nil {
		return Counters{}, err
	}
	return Counters{}, errors.New("monitor.Read: only Linux tells what a process waits for")
}

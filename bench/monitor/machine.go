package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// readMachine reads the state of the machine. With an error the rest is still filled in.
func readMachine(ctx context.Context) (m machine, err error) {
	var errs []error
	if m.busy, err = busyCores(ctx); err != nil {
		errs = append(errs, err)
	}
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.memory = int64(memory.Total - memory.Available)
	} else {
		errs = append(errs, err)
	}
	if swap, err := mem.SwapMemoryWithContext(ctx); err == nil {
		m.swap, m.swapIn, m.swapOut = int64(swap.Used), int64(swap.Sin), int64(swap.Sout)
	} else {
		errs = append(errs, err)
	}
	return m, errors.Join(errs...)
}

// busyCores is the time that all cores were busy since the boot. What a hypervisor took away counts: programs could not
// have it.
func busyCores(ctx context.Context) (time.Duration, error) {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(times) == 0 {
		return 0, errors.Join(errors.New("the machine's CPU time is not known"), err)
	}
	t := times[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal // guests are in User
	return time.Duration(busy * float64(time.Second)), nil
}

// Package monitor watches the machine while something is measured: CPU, memory, swap, disks and GPUs.
//
//	m, err := monitor.Start(ctx, monitor.Options{Interval: 50 * time.Millisecond})
//	...
//	record := m.Stop()
//	for _, s := range record.Samples {
//		fmt.Printf("%.1f s: %.1f cores, %.1f of them ours\n", s.At, s.Cores, s.OwnCores)
//	}
//
// A [Monitor] samples from a goroutine of its own, this process with its descendants or another one (Options.PID).
// [Read] gives the [Counters] of what a process waited for: a core, memory, a disk. Their difference before and after a run
// tells what held it back. All of it is the kernel's own accounting; nothing is traced, and nothing of the process changes.
package monitor

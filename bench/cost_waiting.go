package bench

const (
	// diskShare is the share of the loaded bytes that must come from a disk for the data to be called read from it, and
	// diskFaults the number of page faults per image that had to read.
	diskShare  = 0.1
	diskFaults = 0.05
)

// aboutWaiting is what the process waited for while a dataset was measured. The zero value is nothing.
type aboutWaiting struct {
	queue     float64 // microseconds per image, summed over threads: ready to run, but no core was free
	fromDisk  bool    // much of what was loaded came from a disk, also through mapped files
	other     float64 // cores that other programs used
	swapStall float64 // microseconds per image, summed over threads
	swapIn    int64   // bytes of an epoch
}

// waiting is what was waited for in d's rounds, whose medians it has. Rounds in which the system counted nothing are left out.
func (d *Dataset) waiting(workers int) (w aboutWaiting) {
	counted := Dataset{}
	for i := range d.Rounds {
		if d.Rounds[i].Waited != nil && d.Rounds[i].Loaded > 0 {
			counted.Rounds = append(counted.Rounds, d.Rounds[i])
		}
	}
	perImage := func(seconds func(r *Round, c *Counters) float64) float64 {
		return counted.median(func(r *Round) float64 { return 1e6 * seconds(r, r.Waited) / float64(r.Loaded) })
	}
	w.queue = perImage(func(_ *Round, c *Counters) float64 { return c.Queue })
	w.other = counted.median(func(r *Round) float64 { return ratio(r.Waited.OtherCPU, r.Seconds) })
	w.swapIn = int64(counted.median(func(r *Round) float64 { return ratio(float64(r.Waited.SwapIn), float64(r.Epochs)) }))
	w.swapStall = perImage(func(r *Round, c *Counters) float64 {
		return c.swapStall(max(0, r.Stages.workers()-r.CPUSeconds-c.Queue), max(workers, 1))
	})
	w.fromDisk = counted.median(func(r *Round) float64 {
		if r.readFromDisk() {
			return 1
		}
		return 0
	}) > 0.5
	return w
}

// readFromDisk reports whether much of the round's data came from a disk.
func (r *Round) readFromDisk() bool {
	return float64(r.Waited.Read-r.Waited.SwapIn) >= diskShare*float64(max(r.Bytes, 1)) ||
		r.Waited.SwapIn == 0 && float64(r.Waited.MajorFaults) >= diskFaults*float64(r.Loaded)
}

package bench

import "github.com/dsconv/dsconv/bench/verdict"

const (
	// diskShare is the share of the loaded bytes that must come from a disk for the data to be called read from it, and
	// diskFaults the number of page faults per image that had to read.
	diskShare  = 0.1
	diskFaults = 0.05
)

// parts divides the workers' stages into computing, waiting for a core and being blocked. Of these only sums are known: cpu is
// the CPU time that the workers had for an image, queue what the process's threads waited for a core. What is left of the wall time
// was blocked: reading has it first, because the other stages only compute; where it is longer than reading was, each of the
// others has its share. If the data came from a disk that counts as reading too: a mapped file is read by whoever touches it first.
func (s *Stages) parts(cpu, queue float64, fromDisk bool) (list []verdict.Part) {
	wall := s.workers()
	busy := min(max(cpu, 0), wall)
	queue = min(queue, wall-busy)
	others := wall - s.Read
	blocked := wall - busy - queue
	later := 0.0 // share of the other stages' time in which they were blocked
	if others > 0 {
		later = max(0, blocked-s.Read) / others
	}
	for _, stage := range []struct {
		kind          verdict.Kind
		wall, blocked float64
	}{
		{verdict.Read, s.Read, min(blocked, s.Read)},
		{verdict.Decode, s.Decode, later * s.Decode},
		{verdict.Augment, s.Augment, later * s.Augment},
		{verdict.Collate, s.Collate, later * s.Collate},
	} {
		switch {
		case fromDisk && stage.kind == verdict.Read:
			stage.wall, stage.blocked = stage.wall+later*others, stage.blocked+later*others
		case fromDisk:
			stage.wall, stage.blocked = stage.wall-stage.blocked, 0
		}
		if stage.wall <= 0 {
			continue
		}
		p := verdict.Part{Name: string(stage.kind), Kind: stage.kind, Wall: stage.wall}
		if cpu > 0 {
			awake := stage.wall - stage.blocked
			p.CPU = awake * busy / (busy + queue)
			p.Queue = awake - p.CPU
		}
		list = append(list, p)
	}
	return list
}

// addWaiting adds what was waited for in d's rounds, whose medians it has, and the parts. Rounds in which the system counted nothing are
// left out.
func (d *Dataset) addWaiting(c *verdict.Costs) {
	counted := Dataset{}
	for i := range d.Rounds {
		if d.Rounds[i].Waited != nil && d.Rounds[i].Loaded > 0 {
			counted.Rounds = append(counted.Rounds, d.Rounds[i])
		}
	}
	perImage := func(seconds func(r *Round, c *Counters) float64) float64 {
		return counted.median(func(r *Round) float64 { return 1e6 * seconds(r, r.Waited) / float64(r.Loaded) })
	}
	c.OtherCPU = counted.median(func(r *Round) float64 { return ratio(r.Waited.OtherCPU, r.Seconds) })
	c.SwapIn = int64(counted.median(func(r *Round) float64 { return ratio(float64(r.Waited.SwapIn), float64(r.Epochs)) }))
	c.SwapStall = perImage(func(r *Round, w *Counters) float64 {
		return w.swapStall(max(0, r.Stages.workers()-r.CPUSeconds-w.Queue), max(c.Workers, 1))
	})
	if c.GPU {
		return
	}
	fromDisk := counted.median(func(r *Round) float64 {
		if r.readFromDisk() {
			return 1
		}
		return 0
	}) > 0.5
	c.Parts = d.Stages.parts(d.CPU, perImage(func(_ *Round, w *Counters) float64 { return w.Queue }), fromDisk)
}

// readFromDisk reports whether much of the round's data came from a disk.
func (r *Round) readFromDisk() bool {
	return float64(r.Waited.Read-r.Waited.SwapIn) >= diskShare*float64(max(r.Bytes, 1)) ||
		r.Waited.SwapIn == 0 && float64(r.Waited.MajorFaults) >= diskFaults*float64(r.Loaded)
}

package bench

import (
	"math"

	"github.com/dsconv/dsconv/bench/verdict"
)

// costs are what an epoch of d consists of; nil if too little was measured to say.
func (r *Report) costs(d *Dataset) *verdict.Costs {
	o := &r.Options
	hasLoop := r.Consumer != loaderAlone
	if d.Stages.workers() == 0 && (!hasLoop || d.Starved >= starvedFrom) {
		return nil
	}
	c := &verdict.Costs{
		Samples: d.samplesOfEpoch(), Batch: o.BatchSize, Workers: d.workers(o), Cores: float64(r.Machine.GOMAXPROCS),
		Loop: hasLoop, Epoch: d.EpochSeconds,
		GPU: d.Decoded["engine"]+d.Decoded["cuda"] > 0, // whose batches are in the stages of few threads, not of all workers
	}
	d.addWaiting(c)
	if hasLoop {
		c.Starved = d.Starved
		c.Step = 1e6 * ratio(1, o.Consume)
		c.Transfer = 1e6 * ratio(d.Transfer, float64(c.Samples))
	}
	c.Start = d.start(c)
	if !hasLoop {
		c.Loader = 1e6 * ratio(max(0, d.EpochSeconds-c.Start), float64(c.Samples))
	}
	return c
}

// samplesOfEpoch is the number of images that an epoch gave to the loop, which is smaller than Samples if epochs end early.
func (d *Dataset) samplesOfEpoch() int {
	return int(d.median(func(r *Round) float64 { return ratio(float64(r.Images), float64(r.Epochs)) }) + 0.5)
}

// workers is the number of the loader's workers or threads: the dataset's own or the report's.
func (d *Dataset) workers(o *Options) int {
	for _, name := range []string{"num_workers", "threads"} {
		if n, ok := d.Settings[name].(float64); ok && n >= 0 && n < 1<<20 { // a number of JSON
			return int(n)
		}
	}
	if o.Synchronous {
		return 0
	}
	return o.Workers
}

// start is the time to an epoch's first batch, without that which the workers need for two: they make the next one at the
// same time. It is that of the quickest round, and waits for cores as much as the workers do: other programs can only add
// to it.
func (d *Dataset) start(c *verdict.Costs) float64 {
	if len(d.Rounds) == 0 {
		return 0
	}
	first := math.Inf(1)
	for i := range d.Rounds {
		first = min(first, ratio(d.Rounds[i].FirstSeconds, float64(d.Rounds[i].Epochs)))
	}
	batch := min(c.Batch, c.Samples)
	var wall, queue float64
	for _, p := range c.Parts {
		wall, queue = wall+p.Wall, queue+p.Queue
	}
	return max(0, first-2*wall*float64(batch)/1e6/float64(max(c.Workers, 1))) * (1 - ratio(queue, wall))
}

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

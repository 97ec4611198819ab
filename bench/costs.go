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

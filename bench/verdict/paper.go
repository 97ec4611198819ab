package verdict

// On returns what the costs would be with other cores and workers: on paper, by the model. The parts' queue times and
// Loader are those that the model gives there; nothing is known of an epoch, so Epoch and Starved are 0.
// 0 cores are unknown ones, which limit nothing.
func (c *Costs) On(cores float64, workers int) Costs {
	if c == nil {
		return Costs{}
	}
	there := *c
	there.Cores, there.Workers = finite(cores), max(workers, 0)
	there.Epoch, there.Starved, there.OtherCPU, there.SwapIn = 0, 0, 0, 0
	there.Step = c.stepAlone() // Epoch may have told it
	there.Parts = make([]Part, len(c.Parts))
	var work, cpu float64
	for i, p := range c.Parts {
		p.Wall, p.CPU, p.Queue = p.work(), finite(p.CPU), 0
		there.Parts[i] = p
		work, cpu = work+p.Wall, cpu+p.CPU
	}
	threads := float64(max(workers, 1))
	alone := max(work/threads, cpu/there.cores())
	if cpu > 0 { // the workers wait for cores as long as their CPU time takes longer than they do
		for i := range there.Parts {
			p := &there.Parts[i]
			p.Queue = (alone*threads - work) * p.CPU / cpu
			p.Wall += p.Queue
		}
	}
	if there.Loader = 0; c.loader() > 0 {
		passing := c.passing()
		if work > 0 { // it waits for cores as much as the parts do
			passing *= alone * threads / work
		}
		there.Loader = alone + passing/threads
	}
	return there
}

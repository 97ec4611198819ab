package verdict

import "math"

// model is an epoch as the model sees it: a loop and workers that overlap, and cores that both share.
// Times are microseconds per image.
type model struct {
	step, transfer float64
	stepCPU        float64
	work           float64 // of the workers: computing and blocked, neither waiting for a core nor for memory
	cpu            float64 // of the workers
	passing        float64 // of the workers: handing batches over to the loop
	swap           float64 // the workers waited for memory to be read back
	workers        float64
	cores          float64 // +Inf if unknown
	start          float64 // seconds
	samples        float64
}

// model returns the model of c. It leaves out the time in which a part was ready to run but had no core: other
// programs may have caused that, and the limit of the cores is in the model itself.
func (c *Costs) model() model {
	m := model{
		step: c.stepAlone(), transfer: c.transfer(), stepCPU: finite(c.StepCPU), workers: float64(max(c.Workers, 0)),
		cores: c.cores(), start: finite(c.Start), samples: float64(max(c.Samples, 0)),
	}
	if !c.Loop {
		m.stepCPU = 0
	}
	for i := range c.Parts {
		m.work += c.Parts[i].work()
		m.cpu += finite(c.Parts[i].CPU)
	}
	m.swap = min(finite(c.SwapStall), m.work)
	m.work -= m.swap
	m.passing = c.passing()
	return m
}

// perImage is the steady time of an image: that of the slowest of the loop, the workers and the cores. Without
// workers the loop does all of it.
func (m model) perImage() float64 {
	loop, loader := m.step+m.transfer, m.loading()
	cores := (m.cpu + m.stepCPU) / m.cores
	if m.workers == 0 {
		return max(loop+loader, cores)
	}
	return max(loop, loader/m.workers, cores)
}

// loading is the workers' time for an image.
func (m model) loading() float64 { return m.work + m.passing + m.swap }

// seconds is the time of an epoch.
func (m model) seconds() float64 { return m.start + m.samples*m.perImage()/1e6 }

// work is the time that a worker needs for the part if a core is free whenever it asks for one.
func (p *Part) work() float64 {
	wall := finite(p.Wall)
	return max(wall-finite(p.Queue), min(finite(p.CPU), wall))
}

// wall is the sum of the parts' wall times.
func (c *Costs) wall() (sum float64) {
	for i := range c.Parts {
		sum += finite(c.Parts[i].Wall)
	}
	return sum
}

// passing is the workers' time that is in no part: that of handing batches over to the loop. It is what the loader
// alone takes beyond its parts, or all of it if there are none. It waits for cores as much as the parts do.
func (c *Costs) passing() float64 {
	wall, work := c.wall(), 0.0
	for i := range c.Parts {
		work += c.Parts[i].work()
	}
	passing := max(0, c.loader()*float64(max(c.Workers, 1))-wall)
	if wall > 0 {
		passing *= work / wall
	}
	return passing
}

// cores are those of this rank, +Inf if they are unknown.
func (c *Costs) cores() float64 {
	if finite(c.Cores) == 0 {
		return math.Inf(1)
	}
	return c.Cores / float64(max(c.LocalRanks, 1))
}

// stepAlone is the loop's time for an image while it waits for nothing: measured alone, or what is left of the epoch.
func (c *Costs) stepAlone() float64 {
	if !c.Loop {
		return 0
	}
	if step := finite(c.Step); step > 0 || c.Samples <= 0 {
		return step
	}
	busy := finite(c.Epoch) * (1 - min(finite(c.Starved), 1))
	return max(0, busy*1e6/float64(c.Samples)-c.transfer())
}

func (c *Costs) transfer() float64 {
	if !c.Loop {
		return 0
	}
	return finite(c.Transfer)
}

// modelled returns the seconds of an epoch that the model computes from c, on a machine with nothing else to do.
// [Costs.Epoch] is the measured one.
func (c *Costs) modelled() float64 { return c.model().seconds() }

// without returns the model in which cause costs nothing.
func (c *Costs) without(cause Cause) model {
	m := c.model()
	switch cause {
	case OfCompute:
		m.step, m.stepCPU = 0, 0
	case OfTransfer:
		m.transfer = 0
	case OfCores:
		m.cores = math.Inf(1)
	case OfSwap:
		m.swap = 0
	case OfStart:
		m.start = 0
	case OfLoading:
		if c.Loop && len(c.Parts) == 0 {
			m.passing = 0
		}
	default:
		m.remove(c, cause)
	}
	return m
}

// withoutData returns the model in which loading costs nothing.
func (c *Costs) withoutData() model {
	m := c.model()
	m.work, m.cpu, m.passing, m.swap, m.start = 0, 0, 0, 0, 0
	return m
}

// remove takes the parts away that the cause stands for. Making batches includes handing them over from process to process;
// among threads that costs nothing, and what it takes is waiting for others. The time of waiting for memory stays, of which each had its share.
func (m *model) remove(c *Costs, cause Cause) {
	var work, all float64
	for i := range c.Parts {
		p := &c.Parts[i]
		all += p.work()
		if p.cause() == cause {
			work += p.work()
			m.cpu -= finite(p.CPU)
		}
	}
	m.cpu = max(m.cpu, 0)
	if cause == OfCollate && all > 0 && c.Processes {
		m.passing = 0
	}
	if all > 0 {
		m.work = max(0, m.work-work*(1-m.swap/all))
	}
}

// longest is more than any time of a measurement, and small enough to compute with.
const longest = 1e15

// finite is x, or 0 if x is no time: negative or no number.
func finite(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	return min(x, longest)
}

// Join returns the costs that decide how long an epoch of several ranks takes: those of the slowest rank by the
// model, because all ranks wait for it. Rank says which one that is. The longest measured epoch is that of all.
func Join(ranks []Costs) Costs {
	if len(ranks) == 0 {
		return Costs{}
	}
	slowest, epoch := 0, ranks[0].Epoch
	for i := range ranks {
		if ranks[i].modelled() > ranks[slowest].modelled() {
			slowest = i
		}
		epoch = max(epoch, ranks[i].Epoch)
	}
	joined := ranks[slowest]
	joined.Epoch, joined.Rank, joined.Ranks = epoch, slowest, len(ranks)
	return joined
}

// Predict returns the seconds of an epoch of the subject's loop and samples if another loader feeds it.
// Both must be measured on the same machine under the same conditions. The subject's measured epoch
// calibrates the result. A subject without a loop is the loader alone.
func Predict(subject, loader *Costs) float64 {
	if subject == nil || loader == nil {
		return 0
	}
	fed := *subject
	fed.Workers, fed.Processes, fed.Parts = loader.Workers, loader.Processes, loader.Parts
	fed.Loader, fed.Start, fed.SwapStall = loader.Loader, loader.Start, loader.SwapStall
	fed.Step, fed.Transfer = subject.stepAlone(), subject.transfer()
	return subject.calibration() * fed.observed()
}

// calibration is by how much the measured epoch is longer than the modelled one.
func (c *Costs) calibration() float64 {
	modelled := c.observed()
	if finite(c.Epoch) == 0 || modelled == 0 {
		return 1
	}
	return c.Epoch / modelled
}

// observed is the modelled epoch on the machine as it was: with the loader's measured speed or its parts' wall times.
func (c *Costs) observed() float64 {
	m := c.model()
	workers := max(m.workers, 1)
	m.work, m.passing, m.swap = c.wall(), 0, 0
	if alone := c.loader(); alone > 0 {
		m.work = alone * workers
	}
	return m.seconds()
}

package verdict

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/internal/figures"
)

// unexplainedFrom is the share of the epoch that the loop must wait beyond what the model explains for loading to be
// the cause, although its parts were measured. A shorter wait is that of batches of unequal cost.
const unexplainedFrom = 0.25

// unmeasured reports whether nothing was measured of what the loader does for the loop.
func (c *Costs) unmeasured() bool { return c.Loop && len(c.Parts) == 0 && finite(c.Loader) == 0 }

// serial is the share of the epoch that workers, one for each core, would save where the loop loads each batch itself.
func (c *Costs) serial() float64 {
	whole := c.modelled()
	if !c.Loop || c.Workers > 0 || len(c.Parts) == 0 || whole <= 0 {
		return 0
	}
	m := c.model()
	if m.workers = math.Floor(m.cores); math.IsInf(m.cores, 1) || m.cores < 1 {
		m.workers = 1
	}
	return max(0, 1-m.seconds()/whole)
}

// starved is the share of the epoch in which the loop waited.
func (c *Costs) starved() float64 { return min(finite(c.Starved), 1) }

// loader is the loader's time for an image. Where it was not measured and the loop waited for it, the epoch tells: the
// loader gave its batches no faster.
func (c *Costs) loader() float64 {
	if !c.unmeasured() || c.starved() < balancedBelow || c.Samples <= 0 {
		return finite(c.Loader)
	}
	epoch := max(0, finite(c.Epoch)-finite(c.Start))
	if c.Workers <= 0 { // the loop loads while it waits
		epoch *= c.starved()
	}
	return 1e6 * epoch / float64(c.Samples)
}

// unexplained is the share of the epoch in which the loop waited for data although the measured parts are faster than
// the loop; 0 if it is small, or if other programs or too few cores may be why.
func (c *Costs) unexplained() float64 {
	epoch, n := finite(c.Epoch), finite(c.Cores)
	if !c.Loop || c.Workers <= 0 || epoch == 0 || n > 0 && finite(c.OtherCPU) >= crowdedFrom*n || c.queued() >= crowdedFrom {
		return 0
	}
	m := c.model()
	explained := max(0, m.seconds()-m.samples*(m.step+m.transfer)/1e6) / epoch
	if waited := c.starved() - explained; waited >= unexplainedFrom {
		return waited
	}
	return 0
}

// queued is the share of the parts' time in which they waited for a core.
func (c *Costs) queued() float64 {
	wall, queue := c.wall(), 0.0
	if wall == 0 {
		return 0
	}
	for i := range c.Parts {
		queue += min(finite(c.Parts[i].Queue), finite(c.Parts[i].Wall))
	}
	return queue / wall
}

// unknown says what is not known of a loader that the loop waits for, and what finds it out.
func (c *Costs) unknown() string {
	switch {
	case c.GPU:
		return "how long the GPU takes to decode beside the loop was not measured: compare with the CPU's decoder"
	case len(c.Parts) == 0:
		return "the loader is slower than the loop; what it spends its time on was not measured: dsconv bench --script measures that"
	}
	return "the measured parts explain an epoch of " + seconds(c.modelled()) + ": see when the loop waits, by dsconv bench --html"
}

// limitsOfLoop names the times of a loop whose loader was not measured.
func (c *Costs) limitsOfLoop() string {
	m := c.model()
	who := "loading was not measured"
	if c.Workers > 0 {
		who = "what " + figures.Counted(c.Workers, "worker") + " did was not measured"
	}
	return fmt.Sprintf("the epoch took %s: the loop alone %s, %s", seconds(c.measured()), seconds(m.samples*(m.step+m.transfer)/1e6), who)
}

package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/figures"
)

const (
	// shownParts are the most parts of a cause that the evidence lists.
	shownParts = 4
	// crowdedFrom is the share of their time in which workers waited for cores, and of the cores that other programs
	// used, from which the evidence mentions it.
	crowdedFrom = 0.1
)

// evidence are the measurements that speak for the verdict, the strongest first.
func evidence(c *Costs, v *Verdict) []string {
	if c.modelled() == 0 {
		return nil
	}
	list := []string{c.limits()}
	list = append(list, c.parts(v.Cause)...)
	if c.Loop && c.Epoch > 0 {
		list = append(list, fmt.Sprintf("the loop waited for data for %s of the epoch", figures.Percent(c.Starved)))
	}
	for _, line := range []string{c.passed(), c.crowded(), c.swapped(), c.started(v), c.ranked()} {
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// limits names the times from which the model makes an epoch.
func (c *Costs) limits() string {
	if c.unmeasured() {
		return c.limitsOfLoop()
	}
	m := c.model()
	n := m.samples / 1e6
	loop, loader := n*(m.step+m.transfer), n*m.loading()
	var limits []string
	if c.Loop {
		limits = append(limits, "the loop alone "+seconds(loop))
	}
	switch {
	case m.workers > 0:
		limits = append(limits, fmt.Sprintf("%s %s", figures.Counted(c.Workers, "worker"), seconds(loader/m.workers)))
	default:
		limits = append(limits, "loading in the loop "+seconds(loader))
	}
	if cpu := m.cpu + m.stepCPU; cpu > 0 && !math.IsInf(m.cores, 1) {
		limits = append(limits, fmt.Sprintf("the CPU time on %s %s", cores(m.cores), seconds(n*cpu/m.cores)))
	}
	if m.start > 0 {
		limits = append(limits, "the start "+seconds(m.start))
	}
	said := fmt.Sprintf("the epoch took %s; by the model %s", seconds(c.measured()), seconds(m.seconds()))
	return said + ": " + strings.Join(limits, ", ")
}

// parts describes the largest parts of the cause, or what it is instead of parts.
func (c *Costs) parts(cause Cause) (list []string) {
	switch cause {
	case OfCompute:
		if finite(c.Step) == 0 {
			return []string{fmt.Sprintf("the loop was busy for %s an image", perImage(c.stepAlone()))}
		}
		return []string{fmt.Sprintf("the loop's step takes %s an image on batches in memory, while nothing is loaded", perImage(c.Step))}
	case OfTransfer:
		return []string{fmt.Sprintf("the loop waits %s an image for copies to the device", perImage(c.Transfer))}
	}
	var of []*Part
	for i := range c.Parts {
		if c.Parts[i].cause() == cause {
			of = append(of, &c.Parts[i])
		}
	}
	slices.SortStableFunc(of, func(a, b *Part) int { return cmp.Compare(b.work(), a.work()) })
	all := 0.0
	for i := range c.Parts {
		all += c.Parts[i].work()
	}
	for _, p := range of[:min(len(of), shownParts)] {
		if p.work() > 0 {
			list = append(list, p.describe(all))
		}
	}
	return list
}

// describe says where the part's time goes. all is that of all parts.
func (p *Part) describe(all float64) string {
	work, cpu := p.work(), min(finite(p.CPU), p.work())
	text := fmt.Sprintf("%s: %s an image, %s of the loading", p.Name, perImage(work), figures.Percent(work/all))
	switch {
	case cpu == 0: // not measured, or all of it blocked
	case cpu < 0.9*work:
		text += fmt.Sprintf(" (%s of CPU, waiting for %s)", perImage(cpu), perImage(work-cpu))
	default:
		text += ", all of it CPU"
	}
	if p.Native != "" {
		text += "; dsconv's equal: " + p.Native
	}
	return text
}

// passed says what loading takes beside its parts.
func (c *Costs) passed() string {
	if passing, wall := c.passing(), c.wall(); wall > 0 && passing >= crowdedFrom*wall {
		return fmt.Sprintf("%s an image are in no part: handing batches over to the loop", perImage(passing))
	}
	return ""
}

// crowded says how much the workers waited for cores, and who had them.
func (c *Costs) crowded() string {
	var list []string
	if queued := c.queued(); queued >= crowdedFrom {
		list = append(list, fmt.Sprintf("loading waited for a core for %s of its time", figures.Percent(queued)))
	}
	if n := finite(c.Cores); n > 0 && finite(c.OtherCPU) >= crowdedFrom*n {
		list = append(list, fmt.Sprintf("other programs kept %s busy, which the verdict leaves out", cores(c.OtherCPU)))
	}
	return strings.Join(list, "; ")
}

func (c *Costs) swapped() string {
	if finite(c.SwapStall) == 0 {
		return ""
	}
	text := fmt.Sprintf("loading waited %s an image for memory to be read back", perImage(c.SwapStall))
	if c.SwapIn > 0 {
		text += fmt.Sprintf(", %s MB from swap", figures.Digits(float64(c.SwapIn)/1e6))
	}
	return text
}

func (c *Costs) started(v *Verdict) string {
	if start := finite(c.Start); v.Cause != OfStart && start >= balancedBelow*c.measured() {
		return fmt.Sprintf("each epoch waits %s for its first batch", seconds(start))
	}
	return ""
}

func (c *Costs) ranked() string {
	if c.Ranks < 2 {
		return ""
	}
	return fmt.Sprintf("of %d ranks, rank %d is the slowest: the others wait for it", c.Ranks, c.Rank)
}

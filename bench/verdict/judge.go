package verdict

import (
	"cmp"
	"slices"
)

const (
	// balancedBelow is the share of the epoch that the largest cause must save to be named.
	balancedBelow = 0.05
	// coresFrom is the share of the largest gain from which too few cores are the cause: a part's removal is the most that
	// could be done about it, more cores are a machine that exists. So are workers, for a loop that loads its batches itself.
	coresFrom = 0.8
)

// causes are all causes but Balanced, in the order in which a worker and the loop meet them.
var causes = []Cause{OfStorage, OfDecode, OfAugment, OfPython, OfCollate, OfTransfer, OfCompute, OfCores, OfSwap, OfStart, OfLoading}

// cause is what the part counts for.
func (p *Part) cause() Cause {
	switch {
	case p.Kind == Read:
		return OfStorage
	case p.Kind == Decode:
		return OfDecode
	case p.Kind == Collate:
		return OfCollate
	case p.Kind == Augment && !p.Python:
		return OfAugment
	}
	return OfPython
}

// Judge names the cause without which the modelled epoch would be shortest. It is Balanced if none saves 5 %
// of it. Costs without samples or times are Balanced.
func Judge(c *Costs) Verdict {
	if c == nil {
		c = &Costs{}
	}
	all := c.gains()
	v := Verdict{Cause: Balanced}
	if len(all) > 0 && all[0].Gain >= balancedBelow {
		best := choose(all)
		v.Cause, v.Part, v.Gain = all[best].Cause, all[best].Part, all[best].Gain
		all = slices.Delete(all, best, best+1)
	}
	for _, o := range all {
		if o.Gain >= balancedBelow {
			v.Others = append(v.Others, o)
		}
	}
	if gain := c.serial(); v.Cause == OfCompute && gain >= coresFrom*v.Gain {
		v.Cause, v.Part, v.Gain = OfLoading, "", gain
	}
	if gain := c.unexplained(); gain > 0 && (v.Cause == OfCompute || v.Cause == Balanced) {
		v.Cause, v.Part, v.Gain = OfLoading, "", gain
	}
	v.Text = text(c, &v)
	v.Evidence = evidence(c, &v)
	return v
}

// choose is the index of the cause in gains, which are sorted.
func choose(gains []Other) int {
	for i, g := range gains {
		if g.Cause == OfCores && g.Gain >= coresFrom*gains[0].Gain {
			return i
		}
	}
	return 0
}

// gains are the shares of the epoch that each cause's removal would save, the largest first.
func (c *Costs) gains() []Other {
	whole := c.modelled()
	if whole <= 0 {
		return nil
	}
	var list []Other
	for _, cause := range causes {
		if gain := 1 - c.without(cause).seconds()/whole; gain > 0 {
			list = append(list, Other{Cause: cause, Part: c.largest(cause), Gain: gain})
		}
	}
	slices.SortStableFunc(list, func(a, b Other) int { return cmp.Compare(b.Gain, a.Gain) })
	return list
}

// largest is the name of the part that takes most of the cause's time, "" if the cause has no parts.
func (c *Costs) largest(cause Cause) (name string) {
	var most float64
	for i := range c.Parts {
		if p := &c.Parts[i]; p.cause() == cause && (name == "" || p.work() > most) {
			name, most = p.Name, p.work()
		}
	}
	return name
}

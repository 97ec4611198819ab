package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/figures"
)

// text is the verdict in one sentence, with what a loop without workers could save by having some.
func text(c *Costs, v *Verdict) string {
	const serial = "num_workers=0: the loop loads each batch itself, and computes nothing meanwhile"
	switch saved := c.serial(); {
	case v.Cause == OfLoading && saved > 0:
		return serial + "; with workers, " + c.gained(v)
	case saved >= worthwhile:
		return cause(c, v) + "; " + serial + ", so workers alone would save " + figures.Percent(saved)
	}
	return cause(c, v)
}

// cause names the cause, and what the epoch would be without it.
func cause(c *Costs, v *Verdict) string {
	switch v.Cause {
	case Balanced:
		return c.balanced()
	case OfCompute:
		return c.compute()
	case OfCores:
		return "short of CPU: " + c.crowd() + "; with a core for each, " + c.gained(v)
	case OfStart:
		return fmt.Sprintf("slow start: each epoch waits %s for its first batch; without that, %s", seconds(c.Start), c.gained(v))
	case OfPython:
		return c.python(v)
	case OfLoading:
		return "loading-bound: without waiting for data, " + c.gained(v) + "; " + c.unknown()
	}
	what := map[Cause]string{
		OfStorage:  "storage-bound: without reading, ",
		OfDecode:   "decode-bound: without decoding, ",
		OfAugment:  "augment-bound: without augmentations, ",
		OfCollate:  "collate-bound: without collating batches and handing them over, ",
		OfTransfer: "transfer-bound: without waiting for copies to the device, ",
		OfSwap:     "swapping: without waiting for memory to be read back, ",
	}
	return what[v.Cause] + c.gained(v)
}

// gained says what the epoch would be without the cause.
func (c *Costs) gained(v *Verdict) string {
	now := c.measured()
	return fmt.Sprintf("an epoch would take %s instead of %s", seconds(now*(1-v.Gain)), seconds(now))
}

// measured is the measured epoch or, without one, the modelled.
func (c *Costs) measured() float64 {
	if epoch := finite(c.Epoch); epoch > 0 {
		return epoch
	}
	return c.modelled()
}

func (c *Costs) balanced() string {
	whole := c.modelled()
	switch {
	case whole == 0:
		return "nothing that takes time was measured"
	case len(c.Parts) == 0 && c.withoutData().seconds() < (1-balancedBelow)*whole:
		return "what the loader spends its time on was not measured"
	}
	return "balanced: removing any one cause would save less than " + figures.Percent(balancedBelow) + " of the epoch"
}

// compute says that the loop holds the epoch up, and how little faster data would change. That the loop waits for nothing is a
// fact; that a lighter loader, which leaves it more of the cores, does not help is none.
func (c *Costs) compute() string {
	const bound = "compute-bound: the loop's own step takes the time, and "
	saved := 1 - c.withoutData().seconds()/c.modelled()
	if saved = max(saved, min(finite(c.Starved), 1)); saved >= balancedBelow {
		return bound + "faster data would save at most " + figures.Percent(saved)
	}
	return bound + "it hardly waits for data"
}

// python names the transform or dataset and what could replace it.
func (c *Costs) python(v *Verdict) string {
	text := fmt.Sprintf("Python-bound: without the dataset's Python code, most of which is %s, %s", v.Part, c.gained(v))
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Name == v.Part && p.cause() == OfPython && p.Native != "" {
			return text + "; dsconv's equal is " + p.Native
		}
	}
	return text
}

// crowd says how many share the cores.
func (c *Costs) crowd() string {
	who := figures.Counted(c.Workers, "worker")
	if c.Workers == 0 {
		who = "the loop, which loads the data too,"
	} else if finite(c.StepCPU) > 0 && c.Loop {
		who += " and the loop"
	}
	if c.LocalRanks > 1 {
		who += fmt.Sprintf(" of each of %d ranks", c.LocalRanks)
	}
	verb := " share "
	if c.Workers < 2 && c.LocalRanks < 2 {
		verb = " has "
	}
	return who + verb + cores(c.Cores)
}

// cores is a number of cores.
func cores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%.3g cores", n)
}

func seconds(s float64) string {
	if s < 0.1 {
		return figures.Digits(1e3*s) + " ms"
	}
	return figures.Digits(s) + " s"
}

// perImage is a time per image.
func perImage(us float64) string {
	if us >= 1e3 {
		return figures.Digits(us/1e3) + " ms"
	}
	return figures.Digits(us) + " us"
}

// advise puts the recommendation into a sentence: the lossless candidates first, the one that takes less disk before
// the faster one, then the one that changes pixels.
func (a *Advice) advise(v Verdict, smaller, lossless, changing *Candidate) string {
	if a.Best == nil {
		return "do not convert: " + a.whyNot(v)
	}
	var list []string
	for _, c := range []*Candidate{smaller, lossless} {
		if c != nil {
			list = append(list, c.text())
		}
	}
	if changing != nil && (lossless == nil || changing.After < lossless.After) {
		list = append(list, changing.text())
	}
	packs := func(c Candidate) bool { return !c.Setting && c.After > 0 }
	helps := func(c Candidate) bool { return !c.Setting && c.isWorthwhile() }
	if a.Best.Setting && slices.ContainsFunc(a.Candidates, packs) && !slices.ContainsFunc(a.Candidates, helps) {
		list = append(list, "do not convert")
	}
	return strings.Join(list, "; ")
}

// text is the candidate with what it brings and costs.
func (c *Candidate) text() string {
	s := fmt.Sprintf("%s (%s): %s -> %s", c.Command, c.fidelity(), seconds(c.Before), seconds(c.After))
	if c.Extra != 0 {
		s += fmt.Sprintf(", %+.0f %% disk", 100*c.Extra)
	} else if c.Disk > 0 {
		s += fmt.Sprintf(", %s MB", figures.Digits(float64(c.Disk)/1e6))
	}
	if epochs := math.Ceil(c.BreakEven); epochs > 0 {
		s += ", packing pays after " + figures.Counted(int(min(epochs, math.MaxInt32)), "epoch")
	}
	return s
}

// fidelity says what happens to the pixels.
func (c *Candidate) fidelity() string {
	if c.Lossless {
		return "lossless"
	}
	return "changes pixels"
}

// whyNot says why nothing is recommended.
func (a *Advice) whyNot(v Verdict) string {
	var best *Candidate
	for i := range a.Candidates {
		if c := &a.Candidates[i]; c.After > 0 && c.Before > 0 && (best == nil || c.saved() > best.saved()) {
			best = c
		}
	}
	switch {
	case v.Cause == OfCompute:
		return v.Text
	case best == nil:
		return "nothing was measured that could be faster"
	case best.saved() <= 0:
		return fmt.Sprintf("none of %s is faster", figures.Counted(len(a.Candidates), "candidate"))
	}
	saves := fmt.Sprintf("the best of %s would save %s of the epoch", figures.Counted(len(a.Candidates), "candidate"), figures.Percent(best.saved()/best.Before))
	if best.isWorthwhile() { // a bulky one
		saves += fmt.Sprintf(", too little for %+.0f %% disk", 100*best.Extra)
	}
	return saves + ": " + best.Command
}

package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/figures"
)

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

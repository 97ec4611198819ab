package verdict

import (
	"cmp"
	"math"
	"slices"
)

const (
	// worthwhile is the share of the epoch that a change must save to be recommended.
	worthwhile = 0.1
	// pixelsFor is how many times what a lossless candidate saves one that changes pixels must save.
	pixelsFor = 1.25
	// settingFor is the share of a packing's saving from which a setting, which costs nothing, is preferred.
	settingFor = 0.8
	// bulky is the Extra above which a candidate is only recommended if it at least halves the epoch.
	bulky = 2.0
	// shortest is the shortest epoch that is predicted, in seconds: a round of so few images tells no more.
	shortest = 0.01
)

// Advise chooses the candidate to recommend for the subject, whose verdict is v. It fills in what a candidate with
// Costs leaves open: Before, After and BreakEven. None is recommended that saves less than 10 % of the epoch. One that
// changes pixels is only recommended if it saves over 25 % more than the best lossless one. One that needs over three
// times the source's disk is only recommended if it at least halves the epoch of the best of its kind that does not.
func Advise(subject *Costs, v Verdict, candidates []Candidate) Advice {
	if subject == nil {
		subject = &Costs{}
	}
	list := slices.Clone(candidates)
	for i := range list {
		list[i].complete(subject)
	}
	slices.SortStableFunc(list, before)
	a := Advice{Candidates: list}
	lossless, smaller := chosen(list, subject, true)
	changing, _ := chosen(list, subject, false)
	a.Best = lossless
	if changing != nil && (lossless == nil || changing.saved() > pixelsFor*lossless.saved()) {
		a.Best = changing
	}
	a.Text = a.advise(v, smaller, lossless, changing)
	return a
}

// before orders the lossless candidates before the others, and each by the predicted time; unknown times are last.
func before(a, b Candidate) int {
	rank := func(c *Candidate) int {
		if c.Lossless {
			return 0
		}
		return 1
	}
	after := func(c *Candidate) float64 {
		if c.After > 0 {
			return c.After
		}
		return math.Inf(1)
	}
	return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(after(&a), after(&b)))
}

// complete fills in what is computed from other fields.
func (c *Candidate) complete(subject *Costs) {
	if c.Before == 0 {
		c.Before = subject.Epoch
	}
	if c.After == 0 && c.Costs != nil && c.Costs.wall()+finite(c.Costs.Loader) > 0 {
		c.After = Predict(subject, c.Costs)
	}
	if c.After > 0 {
		c.After = max(c.After, shortest)
	}
	if c.BreakEven == 0 && c.PackSeconds > 0 && c.saved() > 0 {
		c.BreakEven = c.PackSeconds / c.saved()
	}
}

// saved is the seconds of an epoch that the candidate saves.
func (c *Candidate) saved() float64 { return c.Before - c.After }

// isWorthwhile reports whether the candidate is predicted, and saves enough to be recommended.
func (c *Candidate) isWorthwhile() bool {
	return c.After > 0 && c.Before > 0 && c.saved() >= worthwhile*c.Before
}

// chosen is the candidate of a kind to recommend, nil if there is none. If it is a bulky one, smaller is the best of
// those that are not, nil if none of them is worthwhile.
func chosen(list []Candidate, subject *Costs, lossless bool) (best, smaller *Candidate) {
	best = bestOf(list, func(c *Candidate) bool { return c.Lossless == lossless })
	if best == nil || best.Extra <= bulky {
		return best, nil
	}
	smaller = bestOf(list, func(c *Candidate) bool { return c.Lossless == lossless && c.Extra <= bulky })
	without := cmp.Or(subject.Epoch, best.Before)
	if smaller != nil {
		without = smaller.After
	}
	if 2*best.After > without {
		return smaller, nil
	}
	return best, smaller
}

// bestOf is the worthwhile candidate of a kind that saves most; nil if there is none. Settings, which cost
// nothing, are preferred to a packing that saves little more.
func bestOf(list []Candidate, kind func(*Candidate) bool) *Candidate {
	var best, setting *Candidate
	for i := range list {
		c := &list[i]
		if !kind(c) || !c.isWorthwhile() {
			continue
		}
		if best == nil || c.saved() > best.saved() {
			best = c
		}
		if c.Setting && (setting == nil || c.saved() > setting.saved()) {
			setting = c
		}
	}
	if setting != nil && setting.saved() >= settingFor*best.saved() {
		return setting
	}
	return best
}

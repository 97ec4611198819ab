package bench

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/figures"
)

// starvedFrom is the share of the epoch from which a loop that waited was starved.
const starvedFrom = 0.05

// Judge gives each dataset of r and of the reports merged into it that has none a verdict: by its costs, or by its stages and
// waiting times. Advice that has candidates and no text gets its text. So reports of loops in Python are
// judged by the same rules as those of Run.
func (r *Report) Judge() {
	for _, run := range r.runs() {
		for i := range run.Datasets {
			d := &run.Datasets[i]
			if d.Verdict != nil {
				continue
			}
			switch {
			case d.Costs != nil:
			case len(d.RankCosts) > 0:
				slowest := verdict.Join(d.RankCosts)
				d.Costs = &slowest
			case d.Diagnosis == "":
				d.Costs = run.costs(d)
			}
			d.completeCosts()
			run.diagnose(d)
		}
		run.advise()
	}
}

// completeCosts fills in what the costs of another program's row leave to the row.
func (d *Dataset) completeCosts() {
	c := d.Costs
	if c == nil {
		return
	}
	c.Samples = cmp.Or(c.Samples, d.Samples)
	c.Epoch = cmp.Or(c.Epoch, d.EpochSeconds)
	if c.Loop {
		c.Starved = cmp.Or(c.Starved, d.Starved)
	}
}

// advise completes advice of which only the candidates are known.
func (r *Report) advise() {
	if a := r.Advice; a != nil && a.Text == "" && len(r.Datasets) > 0 && r.Datasets[0].Costs != nil && r.Datasets[0].Verdict != nil {
		r.Advise(a.Candidates)
	}
}

// Advise chooses from the candidates for the first dataset, which must have costs, and sets Advice. It does nothing to a
// report without costs.
func (r *Report) Advise(candidates []verdict.Candidate) {
	if r == nil || len(r.Datasets) == 0 || r.Datasets[0].Costs == nil {
		return
	}
	d := &r.Datasets[0]
	if d.Verdict == nil {
		judged := verdict.Judge(d.Costs)
		d.Verdict = &judged
	}
	advice := verdict.Advise(d.Costs, *d.Verdict, candidates)
	r.Advice = &advice
}

// diagnose judges the costs of d, and says in one sentence what limits the epoch's speed.
func (r *Report) diagnose(d *Dataset) {
	if d.Costs != nil {
		v := verdict.Judge(d.Costs)
		d.Verdict = &v
	}
	switch {
	case d.Diagnosis != "": // somebody else's
	case d.Verdict == nil && r.Consumer == loaderAlone:
		d.Diagnosis = "no stage's time was measured"
	case d.Verdict == nil:
		d.Diagnosis = fmt.Sprintf("the loop waited for data for %s of the epoch; what its loader did meanwhile was not measured", figures.Percent(d.Starved))
	default:
		d.Diagnosis = d.Verdict.Text
	}
}

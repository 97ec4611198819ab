package page

import (
	"fmt"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/legible"
)

// recommendation is what to do, what else was considered, and what came of it.
func recommendation(r *bench.Report) section {
	s := section{ID: "advice", Short: "Advice", Title: "Recommendation"}
	for _, run := range runs(r) {
		if run.Advice == nil && run.Applied == nil {
			continue
		}
		if run != r { // that of the first is in the summary
			s.heading(setup(run))
			if run.Advice != nil {
				s.text(sentence(run.Advice.Text))
			}
		}
		s.advice(run.Advice)
		s.applied(run.Applied)
	}
	return s
}

func (s *section) advice(a *verdict.Advice) {
	if a == nil || len(a.Candidates) == 0 {
		return
	}
	s.chart(candidateBars(a))
	s.table(candidateTable(a))
}

// candidateBars shows the epoch as it is and as each candidate would make it, those that change pixels in another colour.
func candidateBars(a *verdict.Advice) *chart {
	same := series{Name: "same pixels", Role: "good"}
	other := series{Name: "changes pixels", Role: "swap"}
	now := series{Name: "as it is", Role: "other"}
	b := bars{Unit: inSeconds, Stacked: true, Wide: true}
	add := func(label string, values ...float64) {
		b.Labels = append(b.Labels, label)
		for i, s := range []*series{&now, &same, &other} {
			s.Values = append(s.Values, value(values[i]))
		}
	}
	add("as it is", a.Candidates[0].Before, 0, 0)
	for _, c := range a.Candidates {
		if name := legible.Line(c.Command); c.Lossless || c.Setting {
			add(name, 0, c.After, 0)
		} else {
			add(name, 0, 0, c.After)
		}
	}
	b.Series = []series{now, same, other}
	return &chart{Title: "Seconds of an epoch: as it is, and predicted", Data: b}
}

func candidateTable(a *verdict.Advice) *table {
	t := &table{Title: "What was considered", Columns: []column{
		{"command", code},
		{"pixels", words},
		{"epoch", number},
		{"saves", number},
		{"on disk", number},
		{"packing", number},
		{"pays after", number},
	}}
	t.add("(as it is)", pixels(&verdict.Candidate{Setting: true}), seconds(a.Candidates[0].Before), unknown, unknown, unknown, unknown)
	for _, c := range a.Candidates {
		t.add(
			legible.Line(c.Command), pixels(&c), seconds(c.After), share(ratio(c.Before-c.After, c.Before)),
			cell(!c.Setting, diskOf(&c)), cell(!c.Setting && c.PackSeconds > 0, seconds(c.PackSeconds)),
			cell(c.BreakEven > 0, fmt.Sprintf("%.1f epochs", finite(c.BreakEven))),
		)
		t.Rows[len(t.Rows)-1].Best = a.Best != nil && a.Best.Command == c.Command
	}
	return t
}

// pixels says what a candidate does to the pixels.
func pixels(c *verdict.Candidate) string {
	switch {
	case c.Lossless || c.Setting:
		return "the same"
	case c.PSNR > 0 && c.SSIM > 0:
		return fmt.Sprintf("changed: PSNR %s dB, SSIM %.3f", digits(c.PSNR), finite(c.SSIM))
	case c.PSNR > 0:
		return fmt.Sprintf("changed: PSNR %s dB", digits(c.PSNR))
	}
	return "changed"
}

// diskOf is a candidate's size, and how much more than the source's it is.
func diskOf(c *verdict.Candidate) string {
	if c.Extra == 0 {
		return size(c.Disk)
	}
	return size(c.Disk) + " (" + change(c.Extra) + ")"
}

func (s *section) applied(a *bench.Applied) {
	if a == nil {
		return
	}
	t := &table{Title: "The recommendation, carried out", Columns: []column{
		{"command", code}, {"before", number}, {"predicted", number}, {"measured", number}, {"off by", number},
	}}
	t.add(legible.Line(a.Command), seconds(a.Before), seconds(a.Predicted), seconds(a.Measured), change(ratio(a.Measured-a.Predicted, a.Predicted)))
	s.chart(&chart{Title: "Seconds of an epoch", Data: bars{
		Unit: inSeconds, Labels: []string{"before", "predicted", "measured"},
		Series: []series{{Name: "an epoch", Role: "step", Values: []value{value(a.Before), value(a.Predicted), value(a.Measured)}}},
	}})
	s.table(t)
}

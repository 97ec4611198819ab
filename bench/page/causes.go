package page

import (
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
)

// causes says for each dataset what holds its epoch back and what the other causes would save.
func causes(r *bench.Report) section {
	s := section{ID: "verdict", Short: "Verdict", Title: "What holds the epoch back"}
	list := subjects(r, func(d *bench.Dataset) bool { return d.Verdict != nil || d.Diagnosis != "" })
	for i, sub := range list {
		if len(list) > 1 {
			s.heading(sub.full)
		}
		v := sub.Verdict
		if v == nil {
			s.text(sentence(sub.Diagnosis))
			continue
		}
		if i > 0 { // that of the first is in the summary
			s.text(sentence(v.Text))
			s.list(sentences(v.Evidence))
		}
		s.savings(v)
	}
	return s
}

// sameAsTable is the title of a table that repeats a chart.
const sameAsTable = "The same as a table"

// savings shows how much shorter the epoch would be without each cause.
func (s *section) savings(v *verdict.Verdict) {
	all := append([]verdict.Other{{Cause: v.Cause, Part: v.Part, Gain: v.Gain}}, v.Others...)
	if v.Cause == verdict.Balanced { // it is no cause that could go
		all = all[1:]
	}
	if len(all) == 0 {
		return
	}
	b := bars{Unit: inShares, Series: []series{{Name: "of the epoch saved", Role: "other"}}}
	t := &table{Title: sameAsTable, Folded: true, Columns: []column{{"cause", words}, {"saves", number}}}
	for i, o := range all {
		name := causeThing(o.Cause, o.Part)
		b.Labels = append(b.Labels, ending(name))
		b.Series[0].Values = append(b.Series[0].Values, value(o.Gain))
		b.Roles = append(b.Roles, causeRole(o.Cause))
		t.add(name, share(o.Gain))
		t.Rows[i].Best = i == 0 && v.Cause != verdict.Balanced
	}
	s.chart(&chart{Title: "What the epoch would save if one cause cost nothing", Data: b})
	s.table(t)
}

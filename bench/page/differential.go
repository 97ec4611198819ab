package page

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/legible"
)

// rungNames say where a rung's samples come from.
var rungNames = map[string]string{
	"stored-cold":         "stored, nothing cached",
	"stored":              "stored, cached",
	"bytes":               "encoded images in memory",
	"pixels":              "pixels in memory",
	"batches":             "batches in memory",
	"batches-no-transfer": "batches in memory, no transfer",
	"decode-only":         "decoding alone, no loop",
	"augment-only":        "augmenting and collating alone, no loop",
}

// ladders shows how the epoch shrinks as one stage after another is replaced by memory.
func ladders(r *bench.Report) section {
	s := section{ID: "ladder", Short: "Ladder", Title: "One stage after another left out"}
	for _, sub := range subjects(r, func(d *bench.Dataset) bool { return len(d.Rungs) > 0 }) {
		s.heading(sub.full)
		s.ladder(sub.Rungs)
	}
	return s
}

func (s *section) ladder(rungs []bench.Rung) {
	left, saved := series{Name: "epoch", Role: "step"}, series{Name: "saved by leaving this stage out", Role: "good"}
	b := bars{Unit: inSeconds, Stacked: true, First: true}
	t := &table{Columns: []column{{"samples come from", words}, {"epoch", number}, {"images/s", number}, {"the stage took", number}, {"note", words}}}
	for _, rung := range rungs {
		name := cmp.Or(rungNames[rung.Name], sentence(rung.Name))
		measured := rung.EpochSeconds > 0
		t.add(name, cell(measured, seconds(rung.EpochSeconds)), cell(measured, count(int64(finite(rung.ImagesPerSecond)))),
			cell(measured && rung.Saved != 0, seconds(rung.Saved)), sentence(rung.Note))
		if measured {
			b.Labels = append(b.Labels, ending(name))
			left.Values = append(left.Values, value(rung.EpochSeconds))
			saved.Values = append(saved.Values, value(max(0, rung.Saved)))
		}
	}
	b.Series = []series{left, saved}
	if len(b.Labels) > 0 {
		s.chart(&chart{Title: "Seconds of an epoch, as its samples come from further up", Data: b})
	}
	s.table(t)
}

// sweeps shows the epoch and the memory for several values of a setting.
func sweeps(r *bench.Report) section {
	s := section{ID: "sweeps", Short: "Sweeps", Title: "Sweeps"}
	for _, run := range runs(r) {
		for i := range run.Sweeps {
			s.sweep(&run.Sweeps[i])
		}
	}
	return s
}

func (s *section) sweep(w *bench.Sweep) {
	setting := sentence(w.Setting)
	s.heading(setting + " of " + legible.Name(w.Dataset))
	s.text(fmt.Sprintf("The knee is %s %s: the smallest value whose epoch is within 5 %% of the fastest.", setting, plain(w.Knee)))
	epoch := line{Name: "epoch", Role: "step"}
	estimate, peak := line{Name: "estimated", Role: "other", Dashed: true}, line{Name: "measured", Role: "collate"}
	l := lines{Axis: setting, Mark: plain(w.Knee), Text: "knee"}
	t := &table{Columns: []column{{setting, number}, {"epoch", number}, {"images/s", number}, {"memory estimated", number}, {"memory measured", number}}}
	for i, p := range w.Points {
		x := value(i)
		l.Labels = append(l.Labels, plain(p.Value))
		epoch.Points = append(epoch.Points, [2]value{x, value(p.EpochSeconds)})
		if p.MemoryEstimate > 0 {
			estimate.Points = append(estimate.Points, [2]value{x, value(p.MemoryEstimate)})
		}
		if p.PeakMemory > 0 {
			peak.Points = append(peak.Points, [2]value{x, value(p.PeakMemory)})
		}
		t.add(plain(p.Value), seconds(p.EpochSeconds), count(int64(finite(p.ImagesPerSecond))), cell(p.MemoryEstimate > 0, size(p.MemoryEstimate)),
			cell(p.PeakMemory > 0, size(p.PeakMemory)))
		t.Rows[i].Best = p.Value == w.Knee
	}
	l.Panels = []panel{{Title: "epoch", Unit: inSeconds, Lines: []line{epoch}}}
	if len(estimate.Points)+len(peak.Points) > 0 {
		l.Panels = append(l.Panels, panel{Title: "memory", Unit: inBytes, Lines: withPoints(estimate, peak)})
	}
	if len(w.Points) > 0 {
		s.chart(&chart{Title: "Epoch and memory for each value of " + setting, Data: l})
	}
	s.table(t)
}

// withPoints are the lines that have points.
func withPoints(all ...line) (list []line) {
	for _, l := range all {
		if len(l.Points) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// plain is a setting's value: 16, 0.5.
func plain(x float64) string { return strconv.FormatFloat(finite(x), 'g', 6, 64) }

// rules are the rules of thumb as they are on this machine.
func rules(r *bench.Report) section {
	s := section{ID: "rules", Short: "Rules", Title: "Rules of thumb, tested here"}
	for _, run := range runs(r) {
		s.rules(run.Rules)
	}
	return s
}

func (s *section) rules(list []bench.Rule) {
	gain := series{Name: "of the epoch saved", Role: "good"}
	b := bars{Unit: inShares}
	t := &table{Columns: []column{{"rule", words}, {"dataset", code}, {"helps", words}, {"saves", number}, {"memory", number}, {"note", words}}}
	for _, rule := range list {
		name, helps := sentence(rule.Name), "not measured"
		if rule.Measured {
			helps = map[bool]string{true: "yes", false: "no"}[rule.Helps]
			if rule.Unclear {
				helps = "unclear"
			}
			b.Labels = append(b.Labels, ending(name))
			gain.Values = append(gain.Values, value(rule.Gain))
			b.Roles = append(b.Roles, map[bool]string{true: "good", false: "wait"}[rule.Gain >= 0])
		}
		t.add(name, legible.Name(rule.Dataset), helps, cell(rule.Measured, share(rule.Gain)), cell(rule.Memory != 0, signed(rule.Memory)), sentence(rule.Text))
		t.Rows[len(t.Rows)-1].Best = rule.Measured && rule.Helps
	}
	b.Series = []series{gain}
	if len(b.Labels) > 0 {
		s.chart(&chart{Title: "Share of the epoch that each rule saves; below zero it costs", Data: b})
	}
	s.table(t)
}

// signed is a difference of memory.
func signed(n int64) string {
	if n > 0 {
		return "+" + size(n)
	}
	return size(n)
}

package page

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/monitor"
	"github.com/dsconv/dsconv/internal/legible"
)

// maxPoints is how many points a line of the monitor has: more than a screen's pixels show nothing more.
const maxPoints = 1500

// gauge is a quantity of the monitor's samples.
type gauge struct {
	panel string
	name  string
	role  string
	unit  unit
	at    func(s *monitor.Sample) (x float64, ok bool)
}

// monitored shows the machine during the run.
func monitored(r *bench.Report) section {
	s := section{ID: "monitor", Short: "Monitor", Title: "The machine during the run"}
	for _, run := range runs(r) {
		if run.Monitor == nil || len(run.Monitor.Samples) == 0 {
			continue
		}
		if run != r {
			s.heading(setup(run))
		}
		s.monitor(run)
	}
	return s
}

func (s *section) monitor(run *bench.Report) {
	m := run.Monitor
	end := m.Samples[len(m.Samples)-1].At
	s.chart(&chart{Title: "Seconds since the run's begin; shaded: the rounds that were measured", Data: lines{
		Axis: "time", Unit: inSeconds, Panels: panels(gauges(m), m.Samples, 0), Bands: roundBands(run),
	}})
	t := &table{Title: fmt.Sprintf("%s samples in %s", count(int64(len(m.Samples))), seconds(end)), Columns: []column{
		{"", words}, {"least", number}, {"mean", number}, {"most", number},
	}}
	for _, g := range gauges(m) {
		if x := g.values(m.Samples); len(x) > 0 {
			t.add(g.panel+": "+g.name, g.text(slices.Min(x)), g.text(mean(x)), g.text(slices.Max(x)))
		}
	}
	s.table(t)
	s.list(sentences(m.Missing))
	if m.Sampling > 0 && end > 0 {
		s.text(fmt.Sprintf("Taking the samples took %.2f %% of one core.", 100*finite(m.Sampling/end)))
	}
}

// machineDuring is the machine in a part of the run, as panels below a timeline whose time 0 is begin.
func machineDuring(m *monitor.Record, begin, length float64) []panel {
	if m == nil {
		return nil
	}
	var part []monitor.Sample
	for _, s := range m.Samples {
		if begin <= s.At && s.At <= begin+length {
			part = append(part, s)
		}
	}
	if len(part) < 2 { // the epoch is shorter than the time between samples
		return nil
	}
	few := slices.DeleteFunc(gauges(m), func(g gauge) bool { return g.unit == inBytes }) // memory hardly changes in an epoch
	return panels(few, part, begin)
}

// gauges are the quantities that the record has.
func gauges(m *monitor.Record) []gauge {
	always := func(f func(s *monitor.Sample) float64) func(*monitor.Sample) (float64, bool) {
		return func(s *monitor.Sample) (float64, bool) { return f(s), true }
	}
	list := []gauge{
		{"CPU", "all programs", "other", inCores, always(func(s *monitor.Sample) float64 { return s.Cores })},
		{"CPU", "this run", "step", inCores, always(func(s *monitor.Sample) float64 { return s.OwnCores })},
		{"memory", "all programs", "other", inBytes, always(func(s *monitor.Sample) float64 { return float64(s.Memory) })},
		{"memory", "this run", "collate", inBytes, always(func(s *monitor.Sample) float64 { return float64(s.OwnMemory) })},
		{"memory", "swap in use", "swap", inBytes, always(func(s *monitor.Sample) float64 { return float64(s.Swap) })},
		{"swapping", "in", "swap", inBytesASecond, always(func(s *monitor.Sample) float64 { return s.SwapIn })},
		{"swapping", "out", "wait", inBytesASecond, always(func(s *monitor.Sample) float64 { return s.SwapOut })},
		{"disk", "read", "read", inBytesASecond, always(func(s *monitor.Sample) float64 { return s.DiskRead })},
		{"disk", "written", "decode", inBytesASecond, always(func(s *monitor.Sample) float64 { return s.DiskWrite })},
	}
	list = slices.DeleteFunc(list, func(g gauge) bool { return !slices.ContainsFunc(m.Samples, g.positive) })
	for i := range m.GPUs {
		list = append(list, gpuGauges(m, i)...)
	}
	return list
}

func gpuGauges(m *monitor.Record, i int) []gauge {
	name := fmt.Sprintf("GPU %d", i)
	if len(m.GPUs) == 1 {
		name = "GPU"
	}
	of := func(f func(g *monitor.GPUSample) float64) func(*monitor.Sample) (float64, bool) {
		return func(s *monitor.Sample) (float64, bool) {
			if i >= len(s.GPUs) {
				return 0, false
			}
			x := f(&s.GPUs[i])
			return x, x >= 0 // -1: the GPU does not say
		}
	}
	full := legible.Name(m.GPUs[i].Name)
	return []gauge{
		{name + " busy", full, "augment", inShares, of(func(g *monitor.GPUSample) float64 { return g.Busy })},
		{name + " memory", full, "python", inBytes, of(func(g *monitor.GPUSample) float64 { return float64(g.Memory) })},
	}
}

func (g gauge) positive(s monitor.Sample) bool {
	x, ok := g.at(&s)
	return ok && x > 0
}

// values are those of the samples that have it.
func (g gauge) values(samples []monitor.Sample) (list []float64) {
	for i := range samples {
		if x, ok := g.at(&samples[i]); ok {
			list = append(list, finite(x))
		}
	}
	return list
}

func (g gauge) text(x float64) string {
	switch g.unit {
	case inBytes:
		return size(int64(x))
	case inBytesASecond:
		return size(int64(x)) + "/s"
	case inShares:
		return share(x)
	}
	return digits(x) + " " + string(g.unit)
}

// panels has a panel for each group of gauges, with the time since begin.
func panels(list []gauge, samples []monitor.Sample, begin float64) (out []panel) {
	for _, g := range list {
		l := line{Name: g.name, Role: g.role, Points: points(g, samples, begin)}
		if len(l.Points) == 0 {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Title != g.panel {
			out = append(out, panel{Title: g.panel, Unit: g.unit})
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, l)
	}
	return out
}

// points are the samples, or the means of as many neighbours as it takes to have at most maxPoints.
func points(g gauge, samples []monitor.Sample, begin float64) (list [][2]value) {
	group := (len(samples) + maxPoints - 1) / maxPoints
	for part := range slices.Chunk(samples, max(group, 1)) {
		if x := g.values(part); len(x) > 0 {
			list = append(list, [2]value{value(part[len(part)-1].At - begin), value(mean(x))})
		}
	}
	return list
}

// roundBands are the rounds of the datasets in the time of the monitor.
func roundBands(run *bench.Report) (list []band) {
	for i := range run.Datasets {
		d := &run.Datasets[i]
		for _, r := range d.Rounds {
			if r.Begin > 0 && r.Seconds > 0 {
				list = append(list, band{ending(legible.Name(d.Path)), value(r.Begin), value(r.Begin + r.Seconds)})
			}
		}
	}
	return list
}

func mean(list []float64) float64 {
	var sum float64
	for _, x := range list {
		sum += x
	}
	return ratio(sum, float64(len(list)))
}

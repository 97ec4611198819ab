package page

import (
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/legible"
)

// stages shows what an image costs, by stage and by part.
func stages(r *bench.Report) section {
	s := section{ID: "stages", Short: "Stages", Title: "Stages"}
	list := subjects(r, func(d *bench.Dataset) bool { return d.Stages != bench.Stages{} })
	if len(list) > 0 {
		s.text("Microseconds that an image takes in each stage. The step is the loop's; the other stages are summed over the workers, which work at the same time.")
		s.chart(&chart{Title: "Microseconds per image, by stage", Data: bars{
			Unit: inMicroseconds, Labels: labels(list), Stacked: true, Series: []series{
				valuesOf(list, "read", "read", func(d subject) float64 { return d.Stages.Read }),
				valuesOf(list, "decode", "decode", func(d subject) float64 { return d.Stages.Decode }),
				valuesOf(list, "augment", "augment", func(d subject) float64 { return d.Stages.Augment }),
				valuesOf(list, "collate", "collate", func(d subject) float64 { return d.Stages.Collate }),
				valuesOf(list, "step", "step", func(d subject) float64 { return d.Stages.Step }),
			},
		}})
		s.table(bySubject(list, []column{{"read", number}, {"decode", number}, {"augment", number}, {"collate", number}, {"step", number}},
			func(d subject) []string {
				st := d.Stages
				loaded := st.Read+st.Decode+st.Augment+st.Collate > 0
				row := make([]string, 0, 5)
				for _, us := range []float64{st.Read, st.Decode, st.Augment, st.Collate} {
					row = append(row, cell(loaded, microseconds(us)))
				}
				return append(row, microseconds(st.Step))
			}))
	}
	for _, sub := range subjects(r, func(d *bench.Dataset) bool { return d.Costs != nil && len(d.Costs.Parts) > 0 }) {
		s.heading("Parts of " + sub.full)
		s.parts(sub.Costs)
	}
	return s
}

// parts shows what the workers do: on a core, ready without a core, or waiting.
func (s *section) parts(c *verdict.Costs) {
	cpu, queue, wait := series{Name: "on a core", Role: "step"}, series{Name: "ready, but no core was free", Role: "queue"},
		series{Name: "waits (disk, locks, sleep)", Role: "wait"}
	b := bars{Unit: inMicroseconds, Stacked: true}
	t := &table{Columns: []column{{"part", code}, {"stage", words}, {"time", number}, {"on a core", number}, {"no core free", number}, {"native equal", code}}}
	for _, p := range c.Parts {
		b.Labels = append(b.Labels, ending(legible.Name(p.Name)))
		cpu.Values = append(cpu.Values, value(max(0, p.CPU)))
		queue.Values = append(queue.Values, value(max(0, p.Queue)))
		wait.Values = append(wait.Values, value(max(0, p.Wall-p.CPU-p.Queue)))
		stage := sentence(string(p.Kind))
		if p.Python {
			stage += ", in Python"
		}
		t.add(legible.Name(p.Name), stage, microseconds(p.Wall), cell(p.CPU >= 0.005, microseconds(p.CPU)), cell(p.Queue >= 0.005, microseconds(p.Queue)), cell(p.Native != "", legible.Line(p.Native)))
	}
	b.Series = []series{cpu, queue, wait}
	s.chart(&chart{Title: "Microseconds per image, by part of the loader", Data: b})
	s.table(t)
	s.list(loopCosts(c))
}

// loopCosts are the costs that are not of a worker's part.
func loopCosts(c *verdict.Costs) (list []string) {
	add := func(measured bool, text string) {
		if measured {
			list = append(list, text)
		}
	}
	add(c.Loader > 0, "The loader alone takes "+microseconds(c.Loader)+" an image once it runs.")
	add(c.Step > 0, "The loop alone takes "+microseconds(c.Step)+" an image, on batches in memory.")
	add(c.Transfer > 0, "It waits "+microseconds(c.Transfer)+" an image for copies to the device.")
	add(c.Start > 0, "An epoch starts with "+seconds(c.Start)+" in which nothing is loaded yet.")
	add(c.SwapStall > 0 || c.SwapIn > 0, "Workers waited "+microseconds(c.SwapStall)+" an image for memory to be read back: "+size(c.SwapIn)+".")
	add(c.OtherCPU > 0, "Other programs kept "+digits(c.OtherCPU)+" cores busy.")
	add(c.Measurement >= 0.005, "Measuring itself took "+share(c.Measurement)+" of the epoch.")
	return list
}

package page

import (
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/bench"
)

// epochs compares the datasets: their epochs, and what training loops learned.
func epochs(r *bench.Report) section {
	s := section{ID: "epochs", Short: "Epochs", Title: "Before and after"}
	list := subjects(r, nil)
	if len(list) == 0 {
		return s
	}
	s.chart(&chart{Title: "Seconds of an epoch", Data: epochBars(list)})
	s.table(bySubject(list, []column{
		{"epoch", number}, {"images/s", number}, {"ratio", number}, {"loop waited", number}, {"CPU per image", number}, {"busy cores", number},
	}, func(d subject) []string {
		return []string{
			seconds(d.EpochSeconds), count(int64(finite(d.ImagesPerSecond))), fmt.Sprintf("%.2f", finite(d.Ratio)), cell(d.waits(), share(d.Starved)),
			cell(d.CPU > 0, microseconds(d.CPU)), cell(d.BusyCores > 0, digits(d.BusyCores)),
		}
	}))
	s.training(r)
	s.rounds(list)
	return s
}

// epochBars are the epochs, divided into waiting and working where a loop took the batches.
func epochBars(list []subject) bars {
	waited := func(d subject) float64 {
		if !d.waits() {
			return 0
		}
		return d.EpochSeconds * d.Starved
	}
	b := bars{Unit: inSeconds, Labels: labels(list), Stacked: true}
	for _, d := range list {
		if d.waits() {
			b.Series = []series{valuesOf(list, "the loop waits for data", "wait", waited)}
		}
	}
	name := "loading"
	if len(b.Series) > 0 {
		name = "the loop works"
	}
	b.Series = append(b.Series, valuesOf(list, name, "step", func(d subject) float64 { return d.EpochSeconds - waited(d) }))
	return b
}

// training is the table of training loops.
func (s *section) training(r *bench.Report) {
	list := subjects(r, func(d *bench.Dataset) bool { return d.Transfer > 0 || d.Accuracy != nil || d.Loss != nil })
	if len(list) == 0 {
		return
	}
	t := bySubject(list, []column{{"wait", number}, {"transfer", number}, {"loss", number}, {"accuracy", number}}, func(d subject) []string {
		loss, accuracy := unknown, unknown
		if d.Loss != nil {
			loss = fmt.Sprintf("%.4g", finite(*d.Loss))
		}
		if d.Accuracy != nil {
			accuracy = fmt.Sprintf("%.2f %%", 100*finite(*d.Accuracy))
		}
		return []string{cell(d.waits(), seconds(d.Starved*d.EpochSeconds)), cell(d.Transfer > 0, seconds(d.Transfer)), loss, accuracy}
	})
	t.Title = "The training loop, per epoch"
	s.table(t)
}

// rounds is the table of all rounds, from which the figures are medians.
func (s *section) rounds(list []subject) {
	t := &table{Title: "All rounds", Folded: true, Columns: []column{
		{"dataset", code},
		{"round", number},
		{"images", number},
		{"time", number},
		{"images/s", number},
		{"ratio", number},
		{"loop waited", number},
		{"CPU", number},
	}}
	for _, d := range list {
		for i, round := range d.Rounds {
			t.add(
				d.name, strconv.Itoa(i+1), count(round.Images), seconds(round.Seconds), count(int64(finite(ratio(float64(round.Images), round.Seconds)))),
				fmt.Sprintf("%.2f", finite(round.Ratio)), cell(d.waits(), seconds(round.WaitSeconds)), cell(round.CPUSeconds > 0, seconds(round.CPUSeconds)),
			)
		}
	}
	s.table(t)
}

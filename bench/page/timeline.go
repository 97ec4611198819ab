package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/bench"
)

// The page of a long epoch shows its begin: more would be slow to draw and to read.
const (
	maxBatches = 4000
	maxLoads   = 16000
	maxWorkers = 32
	// batchesShown is how many batches fill the width at first; the rest is reached by scrolling.
	batchesShown = 40
	batchesTable = 20 // rows of the table
)

// The roles of spans.
const (
	spanWait = iota
	spanStep
	spanLoad
)

// timelines shows what the loop and the workers did during an epoch.
func timelines(r *bench.Report) section {
	s := section{ID: "timeline", Short: "Timeline", Title: "Timeline of an epoch"}
	for _, sub := range subjects(r, func(d *bench.Dataset) bool { return d.Timeline != nil && len(d.Timeline.Batches) > 0 }) {
		s.heading(sub.full)
		s.timeline(sub)
	}
	return s
}

func (s *section) timeline(d subject) {
	t := d.Timeline
	batches := t.Batches[:min(len(t.Batches), maxBatches)]
	l, note := timelineLanes(t, batches)
	end := batches[len(batches)-1].Done
	l.Panels = machineDuring(d.run.Monitor, t.Begin, end)
	s.text("Each bar of the loop is a batch. Where the loop waits, no batch was ready; where workers have gaps, the loop had not yet taken what they had loaded." + note)
	s.chart(&chart{Title: "What the loop and the workers do, in seconds since the epoch's begin", Data: l})
	s.table(timelineShares(t))
	s.table(batchTable(t))
}

// timelineLanes has the loop in its first lane and a lane for each worker. The note says what is not shown.
func timelineLanes(t *bench.Timeline, batches []bench.BatchTimes) (l lanes, note string) {
	l = lanes{Lanes: []string{"loop"}, Roles: []role{{"loop waits for a batch", "wait"}, {"loop works", "step"}}}
	for i, b := range batches {
		if b.Ready > b.Asked {
			l.Spans = append(l.Spans, span{0, spanWait, i + 1, b.Asked, b.Ready})
		}
		l.Spans = append(l.Spans, span{0, spanStep, i + 1, b.Ready, b.Done})
	}
	l.Shown = value(batches[min(len(batches), batchesShown)-1].Done)
	loads, workers := shownLoads(t.Loads, batches[len(batches)-1].Done)
	if len(workers) > 0 {
		l.Roles = append(l.Roles, role{"worker loads", "decode"})
	}
	lane := map[int]int{}
	for i, w := range workers {
		lane[w] = i + 1
		l.Lanes = append(l.Lanes, "worker "+strconv.Itoa(w))
	}
	for _, load := range loads {
		if at, ok := lane[load.Worker]; ok {
			l.Spans = append(l.Spans, span{at, spanLoad, 0, load.Begin, load.End})
		}
	}
	if all := workersOf(t.Loads); len(all) > len(workers) {
		note += fmt.Sprintf(" Shown are %d of %d workers.", len(workers), len(all))
	}
	if len(batches) < len(t.Batches) {
		note += fmt.Sprintf(" Shown are the first %s batches.", count(int64(len(batches))))
	}
	return l, note
}

// shownLoads are the loads that begin before end, and the workers that have a lane.
func shownLoads(loads []bench.Load, end float64) ([]bench.Load, []int) {
	var list []bench.Load
	for _, l := range loads {
		if l.Begin <= end {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b bench.Load) int { return cmp.Compare(a.Begin, b.Begin) })
	list = list[:min(len(list), maxLoads)]
	workers := workersOf(list)
	return list, workers[:min(len(workers), maxWorkers)]
}

func workersOf(loads []bench.Load) []int {
	seen := map[int]bool{}
	var list []int
	for _, l := range loads {
		if !seen[l.Worker] {
			seen[l.Worker] = true
			list = append(list, l.Worker)
		}
	}
	slices.Sort(list)
	return list
}

// timelineShares says how busy the loop and the workers were.
func timelineShares(t *bench.Timeline) *table {
	out := &table{Title: "Busy and waiting", Columns: []column{{"", words}, {"", number}}}
	last := t.Batches[len(t.Batches)-1].Done
	var waited, loaded float64
	for _, b := range t.Batches {
		waited += b.Ready - b.Asked
	}
	for _, l := range t.Loads {
		loaded += min(l.End, last) - min(l.Begin, last)
	}
	out.add("epoch", seconds(t.Seconds))
	out.add("first batch after", seconds(t.Batches[0].Ready))
	out.add("the loop waited", share(ratio(waited, last)))
	out.add("the loop worked", share(1-ratio(waited, last)))
	if n := len(workersOf(t.Loads)); n > 0 {
		out.add(fmt.Sprintf("%d workers were loading", n), share(ratio(loaded, last*float64(n))))
	}
	return out
}

// batchTable has the first batches.
func batchTable(t *bench.Timeline) *table {
	list := t.Batches[:min(len(t.Batches), batchesTable)]
	out := &table{Folded: true, Title: fmt.Sprintf("The first %d batches", len(list)), Columns: []column{
		{"batch", number}, {"asked for at", number}, {"waited", number}, {"worked", number},
	}}
	for i, b := range list {
		out.add(strconv.Itoa(i+1), seconds(b.Asked), seconds(b.Ready-b.Asked), seconds(b.Done-b.Ready))
	}
	return out
}

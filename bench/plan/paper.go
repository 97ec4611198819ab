package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/bench/verdict"
)

// OnPaper is the training of Options.Paper as the model computes it from what was measured here. Cores are
// taken to be as fast as those here.
type OnPaper struct {
	Training Paper      `json:"training"` // with what is here where nothing was given
	Rows     []PaperRow `json:"rows"`     // the source as it is, then as in Plan.Rows, once for each size and encoding
	// Text says in a sentence what to pack and what to buy next.
	Text string `json:"text"`
}

// PaperRow is one way to pack the source, on paper.
type PaperRow struct {
	Flags           string  `json:"flags,omitempty"`
	Source          bool    `json:"source,omitempty"` // the source as it is
	Disk            int64   `json:"disk_bytes"`
	EpochSeconds    float64 `json:"epoch_seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
	// Bound is what the epoch takes its time for: cores, disk or gpu.
	Bound Resource `json:"bound"`
	// Buy are the resources whose doubling would shorten the epoch by 5 % or more, the best first.
	Buy []Purchase `json:"buy,omitempty"`
}

// Resource is something that can be bought.
type Resource string

// The resources. Disk is its speed.
const (
	Cores  Resource = "cores"
	Memory Resource = "memory"
	Disk   Resource = "disk"
	GPU    Resource = "gpu"
)

// Purchase is twice as much of a resource.
type Purchase struct {
	Resource Resource `json:"resource"`
	Gain     float64  `json:"gain"` // share of the epoch that it saves
}

// worthBuying is the share of the epoch that a purchase must save.
const worthBuying = 0.05

// sketch is a way to pack the source, as the model on paper sees it.
type sketch struct {
	costs verdict.Costs
	bytes float64 // of an image on the disk
	cold  float64 // microseconds of reading an image from the disk; 0 is unknown
}

// onPaper computes all ways to pack the source for the training on paper.
func (e *exploration) onPaper() *OnPaper {
	p := &OnPaper{Training: e.o.Paper}
	p.Training.Cores = cmp.Or(p.Training.Cores, float64(e.here.Cores))
	p.Training.Images = cmp.Or(p.Training.Images, len(e.src.loaded))
	p.Training.Consume = cmp.Or(p.Training.Consume, e.o.Bench.Consume)
	p.Training.Memory = cmp.Or(p.Training.Memory, e.here.Memory)
	add := func(t *trial, bytes int64) *PaperRow {
		each := float64(bytes) / float64(max(e.src.count, 1))
		row := p.Training.row(&sketch{costs: t.costs, bytes: each, cold: t.cold})
		row.Flags = t.flags
		p.Rows = append(p.Rows, row)
		return &p.Rows[len(p.Rows)-1]
	}
	e.as.cold = e.coldSource()
	add(e.as, e.src.bytes).Source = true
	for _, t := range e.trials {
		if t.why == "" {
			add(t, t.disk[t.smallest(e.o.Formats)])
		}
	}
	p.Text = p.text()
	return p
}

// row computes an epoch of s.
func (p Paper) row(s *sketch) PaperRow {
	seconds, bound := p.epoch(s)
	row := PaperRow{
		Disk: int64(s.bytes * float64(p.Images)), EpochSeconds: seconds, ImagesPerSecond: rate(p.Images, seconds), Bound: bound,
	}
	for _, resource := range []Resource{Cores, Memory, Disk, GPU} {
		more, _ := p.doubled(resource).epoch(s)
		if gain := 1 - more/seconds; seconds > 0 && gain >= worthBuying {
			row.Buy = append(row.Buy, Purchase{Resource: resource, Gain: gain})
		}
	}
	slices.SortStableFunc(row.Buy, func(a, b Purchase) int { return cmp.Compare(b.Gain, a.Gain) })
	return row
}

// doubled is the training with twice as much of a resource.
func (p Paper) doubled(r Resource) Paper {
	switch r {
	case Cores:
		p.Cores *= 2
	case Memory:
		p.Memory *= 2
	case Disk:
		p.diskTimes = 2 * max(p.diskTimes, 1)
	case GPU:
		p.Consume *= 2
	}
	return p
}

// epoch returns the seconds of an epoch and what it takes them for: the slowest of the cores, the disk and the GPU,
// which all work at the same time.
func (p Paper) epoch(s *sketch) (float64, Resource) {
	costs := p.costs(s)
	alone := costs
	alone.Loop, alone.Step = false, 0
	seconds, bound := costs.Modelled(), Cores
	if costs.Loop && float64(costs.Samples)*costs.Step/1e6 > alone.Modelled() {
		bound = GPU
	}
	if disk := p.fromDisk(s); disk > seconds {
		seconds, bound = disk, Disk
	}
	return seconds, bound
}

// costs are s's costs on paper, with a worker for each core.
func (p Paper) costs(s *sketch) verdict.Costs {
	c := s.costs.On(p.Cores, max(1, int(math.Round(p.Cores))))
	c.Samples = p.Images
	c.Loop, c.Step, c.StepCPU = p.Consume > 0, 0, 0
	if c.Loop {
		c.Step = 1e6 / p.Consume
	}
	return c
}

// fromDisk is the seconds that the disk reads in an epoch: what does not fit in memory. Images come in a random
// order, so that the page cache has each of them with the same probability.
func (p Paper) fromDisk(s *sketch) float64 {
	all := s.bytes * float64(p.Images)
	if p.Memory <= 0 || all <= float64(p.Memory) {
		return 0
	}
	missing := 1 - float64(p.Memory)/all
	each := s.cold / 1e6
	if p.Disk > 0 {
		each = s.bytes / p.Disk
	}
	return missing * float64(p.Images) * each / max(p.diskTimes, 1)
}

// text says what to pack and what to buy.
func (p *OnPaper) text() string {
	best := p.best()
	name := best.Flags
	switch {
	case best.Source:
		name = "the images as they are"
	case name == "":
		name = "unchanged images"
	}
	text := fmt.Sprintf("an epoch takes %s with %s, limited by the %s", seconds(best.EpochSeconds), name, best.Bound)
	if len(best.Buy) == 0 {
		return text + "; nothing to buy: twice the cores, memory, disk or GPU alone would save less than 5 %"
	}
	next := best.Buy[0]
	return fmt.Sprintf("%s; buy %s next: twice as much saves %.0f %% of it", text, next.Resource, 100*next.Gain)
}

// best is the first row within 5 % of the shortest epoch: what is listed later costs more, in pixels or disk.
func (p *OnPaper) best() PaperRow {
	shortest := slices.MinFunc(p.Rows, func(a, b PaperRow) int { return cmp.Compare(a.EpochSeconds, b.EpochSeconds) })
	for _, row := range p.Rows {
		if row.EpochSeconds*(1-worthBuying) <= shortest.EpochSeconds {
			return row
		}
	}
	return shortest
}

// seconds is a time for people to read.
func seconds(s float64) string {
	switch {
	case s >= 7200:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.3g s", s)
}

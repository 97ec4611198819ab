package sampleorder

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// Probe configures Measure.
type Probe struct {
	// Label returns a sample's label; nil if the dataset has none.
	Label func(sample int) int64
	// Batch is the number of entries of a batch.
	Batch int
	// entries limits the work: the number of entries that are measured, at least one batch, and
	// with labels as many again of a full shuffle. 0 is 100,000, which takes some 50 ms.
	entries int
	Seed    uint64
}

// epochsMeasured is how many epochs Measure takes batches of.
const epochsMeasured = 4

// Measure measures whole batches at random positions of a few epochs.
func Measure(p *Plan, probe Probe) order.ShuffleQuality {
	probe.Batch = min(probe.Batch, p.positions)
	if probe.Batch < 1 || p.samples < 1 {
		return order.ShuffleQuality{}
	}
	probe.entries = cmp.Or(probe.entries, 100_000)
	m := tally{probe: probe}
	m.sample(p)
	reference := tally{probe: probe}
	if probe.Label != nil {
		reference.sample(planFull(order.Spec{Kind: order.Full}, Data{Samples: p.samples}))
	}
	out := order.ShuffleQuality{
		Batches: m.batches,
		Classes: m.mean(m.classes), FullClasses: reference.mean(reference.classes),
		Entropy: m.mean(m.entropy), FullEntropy: reference.mean(reference.entropy),
	}
	if pairs := float64(probe.Batch * (probe.Batch - 1) / 2); pairs > 0 && p.samples > 1 {
		out.Neighbours = m.mean(m.near) / (pairs * nearShare(p.samples, probe.Batch))
	}
	return out
}

// nearShare is the fraction of all pairs of n storage indices that are less than a distance apart.
func nearShare(n, distance int) float64 {
	d := float64(min(distance, n) - 1)
	return d * (2*float64(n) - d - 1) / (float64(n) * float64(n-1))
}

// tally sums up the figures of batches.
type tally struct {
	probe   Probe
	batches int
	classes float64
	entropy float64
	near    float64 // pairs that lie less than a batch apart

	labels  []int64 // of one batch's samples
	samples []int
}

func (t *tally) mean(sum float64) float64 { return sum / float64(max(t.batches, 1)) }

// sample measures equally many batches of each epoch, each at a random position of its own stretch
// of the epoch.
func (t *tally) sample(p *Plan) {
	size := min(t.probe.Batch, p.positions)
	available, wanted := p.positions/size, max(t.probe.entries/size, 1)
	r := random.NewRand(t.probe.Seed, 0, measureKey)
	for epoch := range epochsMeasured {
		o := p.Epoch(t.probe.Seed, epoch)
		take := min(wanted*(epoch+1)/epochsMeasured-wanted*epoch/epochsMeasured, available)
		for k := range take {
			from, to := k*available/take, (k+1)*available/take
			t.add(o, (from+r.IntN(to-from))*size, size)
		}
	}
}

// add measures one batch.
func (t *tally) add(o Order, first, size int) {
	t.batches++
	t.labels, t.samples = t.labels[:0], t.samples[:0]
	for position := first; position < first+size; position++ {
		sample := o.At(position)
		if t.probe.Label != nil {
			t.labels = append(t.labels, t.probe.Label(sample))
		}
		t.samples = append(t.samples, sample)
	}
	t.countClasses()
	t.countNear(size)
}

func (t *tally) countClasses() {
	slices.Sort(t.labels)
	for from := 0; from < len(t.labels); {
		to := from + 1
		for to < len(t.labels) && t.labels[to] == t.labels[from] {
			to++
		}
		share := float64(to-from) / float64(len(t.labels))
		t.classes++
		t.entropy -= share * math.Log2(share)
		from = to
	}
}

func (t *tally) countNear(distance int) {
	slices.Sort(t.samples)
	from := 0
	for i, sample := range t.samples {
		for sample-t.samples[from] >= distance {
			from++
		}
		t.near += float64(i - from)
	}
}

package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/dsconv/dsconv/bench/internal/cputime"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/reader"
)

const (
	// leastBatches are loaded in a turn, however long they take.
	leastBatches = 4
	// mostRepeats is how often a sample comes in an epoch at most.
	mostRepeats = 4096
	// hadCore is the share of the computing time below which it lacked cores.
	hadCore = 0.8
)

// meter loads a dataset in turns and measures how fast.
type meter struct {
	loader  *reader.Loader
	seconds float64 // of a turn
	turns   []turn
}

// turn is what was measured in a turn, in which the loader ran for a while. Times are microseconds per image.
type turn struct {
	steady float64 // between batches, once it runs
	start  float64 // seconds until the first batch, less a steady batch's
	cpu    float64 // of the process
	parts  [4]float64
}

// stages are the names and kinds of turn.parts.
var stages = [4]struct {
	name string
	kind verdict.Kind
}{{"read", verdict.Read}, {"decode", verdict.Decode}, {"augment", verdict.Augment}, {"collate", verdict.Collate}}

// newMeter opens a loader of the samples of ds. Its epochs repeat them, so that one is long enough for a turn, and a turn's
// steady part does not depend on the start of epochs.
func newMeter(ctx context.Context, ds formats.Dataset, samples []int32, config reader.Config, seconds float64) (*meter, error) {
	m := &meter{seconds: seconds}
	config.Samples = samples
	once, err := reader.New(ds, config)
	if err != nil {
		return nil, err
	}
	defer once.Close()
	n, begin := 0, time.Now()
	for batch, err := range once.Epoch(ctx, 0) { // also warms up the page cache
		if err != nil {
			return nil, err
		}
		if n += batch.N; time.Since(begin).Seconds() > seconds {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	rate := float64(n) / max(time.Since(begin).Seconds(), 1e-6)
	wanted := max(2*rate*seconds, float64((leastBatches+2)*config.BatchSize))
	config.Samples = slices.Repeat(samples, min(int(wanted/float64(max(len(samples), 1)))+1, mostRepeats))
	m.loader, err = reader.New(ds, config)
	return m, err
}

func (m *meter) close() error {
	if m.loader == nil {
		return nil
	}
	return m.loader.Close()
}

// turn loads for a while.
func (m *meter) turn(ctx context.Context, epoch int) error {
	clock, cpu, begin := m.loader.Clock(), cputime.Own(), time.Now()
	var first, last time.Time
	var n, ahead, batches int
	for batch, err := range m.loader.Epoch(ctx, epoch) {
		if err != nil {
			return err
		}
		if last = time.Now(); batches == 0 {
			first, ahead = last, batch.N
		}
		n += batch.N
		if batches++; m.enough(batches, last.Sub(begin).Seconds()) {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if n == 0 {
		return errors.New("no images were loaded")
	}
	spent := m.loader.Clock().Sub(clock)
	used := (cputime.Own() - cpu).Seconds()
	t := turn{steady: 1e6 * last.Sub(begin).Seconds() / float64(n)}
	if n > ahead {
		t.steady = 1e6 * last.Sub(first).Seconds() / float64(n-ahead)
		t.start = max(0, first.Sub(begin).Seconds()-t.steady*float64(ahead)/1e6)
	}
	loaded := float64(max(spent.Images, int64(n)))
	t.cpu = 1e6 * used / loaded
	for i, d := range []time.Duration{spent.Read, spent.Decode, spent.Augment, spent.Collate} {
		t.parts[i] = 1e6 * d.Seconds() / loaded
	}
	m.turns = append(m.turns, t)
	return nil
}

// enough reports whether a turn may end. Huge images would take minutes for as many batches as others.
func (m *meter) enough(batches int, seconds float64) bool {
	return batches >= leastBatches && seconds >= m.seconds || batches > 1 && seconds >= 4*m.seconds
}

// median is the median of a figure over the turns.
func (m *meter) median(f func(t *turn) float64) float64 {
	values := make([]float64, len(m.turns))
	for i := range m.turns {
		values[i] = f(&m.turns[i])
	}
	return figures.Median(values)
}

// steady is the loader's time for an image: the first loader's, times the median of the ratios to its turns of the same
// round. So a machine that was slow for a while does not change what loaders are beside each other.
func (m *meter) steady(first *meter) float64 {
	base := first.median(func(t *turn) float64 { return t.steady })
	if m == first || len(m.turns) != len(first.turns) {
		return m.median(func(t *turn) float64 { return t.steady })
	}
	ratios := make([]float64, len(m.turns))
	for i := range ratios {
		ratios[i] = m.turns[i].beside(&first.turns[i])
	}
	return base * figures.Median(ratios)
}

// beside is how long t's loader takes for an image, in units of another one's. Where both computed with less than the
// cores that they asked for, because other programs or too many workers share them, that is their CPU time: how the
// cores were shared in two short turns is chance.
func (t *turn) beside(other *turn) float64 {
	if t.lackedCores() && other.lackedCores() {
		return t.cpu / other.cpu
	}
	return t.steady / max(other.steady, 1e-9)
}

// lackedCores reports whether computing, which waits for nothing but cores, took much longer than its CPU time.
func (t *turn) lackedCores() bool {
	return t.cpu > 0 && t.cpu < hadCore*(t.parts[1]+t.parts[2]+t.parts[3])
}

// start is that of the quickest turn: other programs can only add to it.
func (m *meter) start() float64 {
	quickest := math.Inf(1)
	for i := range m.turns {
		quickest = min(quickest, m.turns[i].start)
	}
	return quickest
}

// costs are what the loader was measured to cost, for an epoch of so many samples.
func (m *meter) costs(samples int, first *meter) verdict.Costs {
	c := m.loader.Config()
	costs := verdict.Costs{
		Samples: samples, Batch: c.BatchSize, Workers: c.Workers, Cores: float64(parallel.Cores()),
		Loader: m.steady(first),
		Start:  m.start(),
	}
	var wall float64
	for i := range stages {
		wall += m.median(func(t *turn) float64 { return t.parts[i] })
	}
	cpu := m.median(func(t *turn) float64 { return t.cpu })
	for i, stage := range stages {
		part := verdict.Part{Name: stage.name, Kind: stage.kind, Wall: m.median(func(t *turn) float64 { return t.parts[i] })}
		// The system tells the process's CPU time, not that of its stages: each gets its share of it. What the stages
		// took beyond that they waited for a core; reading waited for the disk.
		part.CPU = part.Wall * min(1, cpu/max(wall, 1e-9))
		if stage.kind != verdict.Read {
			part.Queue = part.Wall - part.CPU
		}
		costs.Parts = append(costs.Parts, part)
	}
	return costs
}

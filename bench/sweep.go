package bench

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/reader"
)

// nearBest is how much longer than the fastest an epoch may be at the knee of a sweep.
const nearBest = 0.05

// sweep measures the values of each sweep on s, in interleaved rounds.
func (b *bench) sweep(ctx context.Context, s *subject) error {
	for _, spec := range b.options.Sweeps {
		points := make([]point, len(spec.Values))
		for round := 1; round <= b.options.Rounds; round++ {
			for k, value := range spec.Values {
				if err := b.sweepTurn(ctx, s, &points[k], spec.Setting, value, round); err != nil {
					return fmt.Errorf("%s=%d: %w", spec.Setting, value, err)
				}
			}
		}
		b.sweeps = append(b.sweeps, summariseSweep(spec, s.result.Path, points))
	}
	return nil
}

// point is what was measured of a value.
type point struct {
	rounds []Round
	use    memoryUse // the most of all rounds
}

func (b *bench) sweepTurn(ctx context.Context, s *subject, p *point, setting string, value, round int) error {
	o := b.longEnough(s)
	t := trial{dataset: s.dataset, config: b.configOf(s), options: o}
	set(&t.config, setting, value)
	if setting == "batch" && o.LimitBatches > 0 { // as many images, so that epochs compare
		o.LimitBatches = max(1, o.LimitBatches*o.BatchSize/value)
	}
	m, use, err := t.turn(ctx, round)
	if err != nil {
		return err
	}
	p.rounds = append(p.rounds, m)
	p.use.estimate, p.use.peak = max(p.use.estimate, use.estimate), max(p.use.peak, use.peak)
	b.tell(s, fmt.Sprintf("%s=%d", setting, value), round, &m)
	return nil
}

// set changes a setting of a SweepSpec.
func set(c *reader.Config, setting string, value int) {
	switch {
	case setting == "workers" && value == 0:
		c.Synchronous, c.Workers, c.Prefetch = true, 0, 0
	case setting == "workers":
		c.Workers = value
	case setting == "batch":
		c.BatchSize = value
	case setting == "prefetch":
		c.Prefetch = value
	}
}

// summariseSweep takes the medians of the points, and finds the knee.
func summariseSweep(spec SweepSpec, path string, points []point) Sweep {
	w := Sweep{Setting: spec.Setting, Dataset: path}
	for k := range points {
		p := &points[k]
		w.Points = append(w.Points, Point{
			Value: float64(spec.Values[k]), EpochSeconds: epochOf(p.rounds), ImagesPerSecond: rateOf(p.rounds),
			MemoryEstimate: p.use.estimate, PeakMemory: p.use.peak,
		})
	}
	w.Knee = knee(w.Points)
	return w
}

// knee is the smallest value that is nearly as fast as the fastest.
func knee(points []Point) (value float64) {
	fastest := points[0].ImagesPerSecond
	for _, p := range points {
		fastest = max(fastest, p.ImagesPerSecond)
	}
	found := false
	for _, p := range points {
		if p.ImagesPerSecond*(1+nearBest) >= fastest && (!found || p.Value < value) {
			value, found = p.Value, true
		}
	}
	return value
}

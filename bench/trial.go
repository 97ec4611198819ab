package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// trial is a loader that differs from a subject's in one thing.
type trial struct {
	dataset formats.Dataset // stays open
	config  reader.Config
	options *Options // the loop and the length of its epochs
	whole   bool     // the warm-up is a whole epoch, which fills a cache
	fresh   bool     // each epoch that is measured has a loader of its own, which is opened in its time
}

// configOf is the configuration of s's loader.
func (b *bench) configOf(s *subject) reader.Config {
	c := b.options.Config
	c.Split = s.loader.Config().Split
	if filled, err := c.WithDefaults(); err == nil { // it is: a loader has it
		c = filled
	}
	return c
}

// open opens the trial and loads enough batches that all memory has been used once. With a trainer
// that is an epoch, since the trainer also compiles the shape of the last batch.
func (t *trial) open(ctx context.Context) (_ *subject, err error) {
	s := &subject{dataset: t.dataset, consumer: eager{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeLoader())
		}
	}()
	if s.loader, err = reader.New(t.dataset, t.config); err != nil {
		return nil, err
	}
	consumer, err := newConsumer(t.options, s.loader)
	if err != nil {
		return nil, err
	}
	s.consumer = consumer
	limit := t.options.LimitBatches
	if t.options.Train == "" && !t.whole {
		limit = t.config.Prefetch + 2
	}
	_, err = s.measure(ctx, 0, 1, limit)
	return s, err
}

// closeLoader closes what the trial opened.
func (s *subject) closeLoader() error {
	err := s.consumer.close()
	if s.loader != nil {
		err = errors.Join(err, s.loader.Close())
	}
	return err
}

// memoryUse is the process's memory in a turn, without pages of the dataset's files: as estimated before,
// and its peak; 0 is unknown.
type memoryUse struct {
	estimate, peak int64
	loader         int64  // the estimate of the loader alone, cache included
	uncached       string // why not all samples are in the cache, if it has one
}

// turn opens the trial for the epochs of one round, and also measures the memory.
func (t *trial) turn(ctx context.Context, round int) (m Round, use memoryUse, err error) {
	debug.FreeOSMemory() // what other loaders left
	before := residentNow()
	resettable := resetPeak()
	s, err := t.open(ctx)
	if err != nil {
		return m, use, err
	}
	defer func() { err = errors.Join(err, s.closeLoader()) }()
	if m, err = t.measure(ctx, s, 1+(round-1)*t.options.Epochs); err != nil {
		return m, use, err
	}
	after := residentNow()
	estimated, err := s.loader.Estimate(ctx)
	use.loader = estimated.Total()
	if before.now > 0 {
		use.estimate = before.now - before.mapped + estimated.Total() - estimated.Cache
	}
	if resettable {
		use.peak = after.peak - after.mapped
	}
	if cached := s.loader.CacheStats(); cached.Full != "" {
		use.uncached = fmt.Sprintf("only %d of %d samples are cached: %s", cached.Samples, s.loader.Samples(), cached.Full)
	}
	return m, use, err
}

// measure measures the epochs from first on.
func (t *trial) measure(ctx context.Context, s *subject, first int) (Round, error) {
	if !t.fresh {
		return s.measure(ctx, first, t.options.Epochs, t.options.LimitBatches)
	}
	m := Round{Epochs: t.options.Epochs}
	start := time.Now()
	for epoch := first; epoch < first+m.Epochs; epoch++ {
		if err := t.freshEpoch(ctx, s.consumer, epoch, &m); err != nil {
			return m, err
		}
	}
	m.Seconds = time.Since(start).Seconds()
	return m, nil
}

// freshEpoch is an epoch of a loader that is opened for it.
func (t *trial) freshEpoch(ctx context.Context, c consumer, epoch int, m *Round) (err error) {
	loader, err := reader.New(t.dataset, t.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loader.Close()) }()
	var wait, step time.Duration
	s := &subject{dataset: t.dataset, loader: loader, consumer: c}
	return s.epoch(ctx, epoch, t.options.LimitBatches, m, &wait, &step)
}

// tell reports the end of a turn of a dataset.
func (b *bench) tell(s *subject, what string, round int, m *Round) {
	if b.options.Progress != nil {
		b.options.Progress(Progress{
			Dataset: s.result.Path, What: what, Round: round, Rounds: b.options.Rounds, Turns: b.turns,
			Seconds: ratio(m.Seconds, float64(m.Epochs)), ImagesPerSecond: m.imagesPerSecond(),
		})
	}
}

// epochOf is the median of the seconds of an epoch.
func epochOf(rounds []Round) float64 {
	d := Dataset{Rounds: rounds}
	return d.median(func(r *Round) float64 { return ratio(r.Seconds, float64(r.Epochs)) })
}

// rateOf is the median of the images per second.
func rateOf(rounds []Round) float64 {
	d := Dataset{Rounds: rounds}
	return d.median((*Round).imagesPerSecond)
}

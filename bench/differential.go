package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// slowestRead is the least limit of reading: with fewer bytes a second, not even a small dataset is ever read.
const slowestRead = 1 << 10

// checkDifferential checks what is measured beside the epochs of the datasets.
func (o *Options) checkDifferential() error {
	if err := o.Delay.check(); err != nil {
		return err
	}
	if o.LimitRead < 0 || o.LimitRead > 0 && o.LimitRead < slowestRead {
		return fmt.Errorf("limit of reading %d: give bytes a second, at least %d, or 0 for no limit", o.LimitRead, slowestRead)
	}
	for i, s := range o.Sweeps {
		if err := s.check(); err != nil {
			return err
		}
		for _, earlier := range o.Sweeps[:i] {
			if earlier.Setting == s.Setting {
				return fmt.Errorf("sweep %q: %s is swept already: give all its values at once", s, s.Setting)
			}
		}
	}
	if o.Synchronous && len(o.Sweeps) > 0 {
		return errors.New("a sweep of a synchronous loader: it has no workers and prefetches nothing")
	}
	return nil
}

// differential measures the subjects again with something changed, as the options ask for. It is called after
// all rounds, so that it cannot disturb them.
func (b *bench) differential(ctx context.Context) error {
	for _, s := range b.subjects {
		for _, run := range []func(context.Context, *subject) error{b.loopAlone, b.isolate, b.sweep, b.rules, b.cold} {
			if err := run(ctx, s); err != nil {
				return fmt.Errorf("bench %s: %w", s.result.Path, err)
			}
		}
	}
	return nil
}

// turns is how many turns of all kinds Run takes on that many datasets.
func (o *Options) turns(datasets int) int {
	n := 1 + o.Rounds
	if o.Isolate {
		n += o.Rounds * rungsOf(o)
	}
	if o.Cold {
		n += o.coldRounds()
	}
	for _, s := range o.Sweeps {
		n += o.Rounds * len(s.Values)
	}
	if o.Rules {
		n += o.Rounds * len(rulesOf())
	}
	return n * datasets
}

const (
	// leastTurn is how long a turn of a differential run takes at least, where epochs are short.
	leastTurn = 300 * time.Millisecond
	maxEpochs = 16 // for that
)

// longEnough are the options for turns on s that are long enough to compare.
func (b *bench) longEnough(s *subject) *Options {
	o := b.options
	if epoch := epochOf(s.result.Rounds); epoch > 0 {
		o.Epochs = max(o.Epochs, min(maxEpochs, int(math.Ceil(leastTurn.Seconds()/epoch))))
	}
	return &o
}

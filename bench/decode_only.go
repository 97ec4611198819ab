package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/bench/internal/cputime"
	"github.com/dsconv/dsconv/bench/internal/inmemory"
	"github.com/dsconv/dsconv/bench/internal/slowed"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeOnly adds a rung in which as many goroutines as the loader has workers decode images from memory, whole, and
// do nothing else.
func (l *ladder) decodeOnly(held *inmemory.Dataset, o codec.DecodeOptions, note string) {
	o.Fast = l.options.FastDecode
	if note != "" {
		note = "; " + note
	}
	d := decoding{samples: held.Samples(), image: held.Meta().Schema.ImageIndex(), options: o, pause: slowed.NewPause(l.options.Delay.Decode)}
	n, workers := min(l.subject.result.Samples, l.batches()*l.options.BatchSize), max(1, l.config.Workers)
	l.rungs = append(l.rungs, &rung{
		name: decodeOnly, note: "whole images, without a loop" + note, alone: true,
		play: func(ctx context.Context, _ int) (Round, error) { return d.run(ctx, n, workers) },
	})
}

// decoding decodes samples in memory.
type decoding struct {
	samples []formats.Sample
	image   int
	options codec.DecodeOptions
	pause   *slowed.Pause
}

// run decodes n images on so many goroutines.
func (d *decoding) run(ctx context.Context, n, workers int) (Round, error) {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, workers)
	cpu, start := cputime.Own(), time.Now()
	for w := range workers {
		group.Go(func() { errs[w] = d.work(ctx, &next, int64(n)) })
	}
	group.Wait()
	return Round{
		Images: int64(n), Loaded: int64(n), Epochs: 1, Seconds: time.Since(start).Seconds(), CPUSeconds: (cputime.Own() - cpu).Seconds(),
	}, errors.Join(errs...)
}

// work decodes images until none is left.
func (d *decoding) work(ctx context.Context, next *atomic.Int64, n int64) error {
	decoder := codec.NewDecoder()
	defer decoder.Close()
	var m pixel.Image
	for {
		k := next.Add(1) - 1
		if k >= n {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := &d.samples[k%int64(len(d.samples))]
		if err := decoder.Decode(&m, &s.Values[d.image], d.options); err != nil {
			return err
		}
		d.pause.Wait(ctx.Done(), 1)
	}
}

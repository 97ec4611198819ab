package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/dsconv/dsconv/bench/internal/inmemory"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/reader"
)

// The rungs of the ladder: each one leaves out one more thing than that before it. What follows them
// is one stage alone, without a loop.
const (
	storedCold        = "stored-cold" // from the disk
	stored            = "stored"      // from the page cache
	bytesInMemory     = "bytes"       // nothing is read
	pixelsInMemory    = "pixels"      // nothing is decoded
	batchesInMemory   = "batches"     // nothing is loaded: the loop's ceiling
	withoutTransfer   = "batches-no-transfer"
	decodeOnly        = "decode-only"
	augmentOnly       = "augment-only" // and collate
	heldBytes         = 512 << 20      // at most, of pixels in memory
	shareOfTheMachine = 8              // of whose memory they take at most that part
)

// rung is a Rung to be measured.
type rung struct {
	name, note string
	alone      bool // not a part of the ladder
	play       func(ctx context.Context, round int) (Round, error)
	close      func() error
	rounds     []Round
}

// rungsOf is how many rungs Options.Isolate measures, without the cold one.
func rungsOf(o *Options) int {
	n := len([]string{stored, bytesInMemory, pixelsInMemory, batchesInMemory, decodeOnly})
	if o.Delay.Transfer > 0 {
		n++
	}
	if !o.alone() {
		n++ // augmentOnly, which pixelsInMemory is without a loop
	}
	return n
}

// isolate measures the rungs of s in interleaved rounds.
func (b *bench) isolate(ctx context.Context, s *subject) (err error) {
	if !b.options.Isolate {
		return nil
	}
	l := ladder{bench: b, options: b.longEnough(s), subject: s, config: b.configOf(s)}
	l.config.Cache = reader.Cache{} // which would stand in for the rungs
	defer func() { err = errors.Join(err, l.close()) }()
	if err := l.build(ctx); err != nil {
		return err
	}
	for round := 1; round <= b.options.Rounds; round++ {
		for _, r := range l.rungs {
			runtime.GC()
			m, err := r.play(ctx, round)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.rounds = append(r.rounds, m)
			b.tell(s, r.name, round, &m)
		}
	}
	s.result.Rungs = l.report()
	return nil
}

// ladder builds the rungs of a subject.
type ladder struct {
	*bench
	options *Options
	subject *subject
	config  reader.Config
	rungs   []*rung
}

func (l *ladder) close() error {
	var errs []error
	for _, r := range l.rungs {
		if r.close != nil {
			errs = append(errs, r.close())
		}
	}
	return errors.Join(errs...)
}

// build opens all rungs.
func (l *ladder) build(ctx context.Context) error {
	s, o := l.subject, l.options
	note := ""
	if o.Cache.Kind != reader.NoCache {
		note = "without --cache"
	}
	if err := l.load(ctx, stored, note, s.dataset, o); err != nil {
		return err
	}
	decoding := codec.DecodeOptions{
		Color: o.Color, Deep: o.DType == formats.Uint16, ApplyOrientation: o.ApplyOrientation, MaxPixels: o.MaxPixels,
	}
	bytes, err := inmemory.Hold(ctx, s.plain, inmemory.Options{Split: l.config.Split, Limit: heldLimit(), Decode: decoding})
	if err != nil {
		return fmt.Errorf("hold samples in memory: %w", err)
	}
	pixels, err := bytes.Decoded(ctx, decoding)
	if err != nil {
		return fmt.Errorf("hold pixels in memory: %w", err)
	}
	if note = ""; bytes.Held() < s.result.Samples {
		note = fmt.Sprintf("%d of the images, each in the place of several", bytes.Held())
	}
	slow := *o
	slow.Delay.Read, slow.LimitRead = 0, 0
	if err := l.load(ctx, bytesInMemory, note, slow.slow(ctx, bytes), o); err != nil {
		return err
	}
	slow.Delay.Decode = 0
	inMemory := slow.slow(ctx, pixels)
	if err := l.load(ctx, pixelsInMemory, note, inMemory, o); err != nil {
		return err
	}
	if err := l.replays(ctx); err != nil {
		return err
	}
	l.decodeOnly(bytes, decoding, note)
	if o.alone() {
		return nil
	}
	eager := *o
	eager.Train, eager.Consume, eager.Delay.Transfer = "", 0, 0
	return l.load(ctx, augmentOnly, note, inMemory, &eager)
}

// heldLimit is how many bytes of pixels are held.
func heldLimit() int64 {
	if all := totalMemory(); all > 0 {
		return min(heldBytes, all/shareOfTheMachine)
	}
	return heldBytes
}

// load adds a rung that loads ds.
func (l *ladder) load(ctx context.Context, name, note string, ds formats.Dataset, o *Options) error {
	t := trial{dataset: ds, config: l.config, options: o}
	s, err := t.open(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.rungs = append(l.rungs, &rung{
		name: name, note: note, alone: name == augmentOnly, close: s.closeLoader,
		play: func(ctx context.Context, round int) (Round, error) {
			return s.measure(ctx, 1+(round-1)*o.Epochs, o.Epochs, o.LimitBatches)
		},
	})
	return nil
}

// replays adds the rungs of batches in memory.
func (l *ladder) replays(ctx context.Context) error {
	batches, err := l.subject.copies(ctx)
	if err != nil {
		return err
	}
	o := *l.options
	if err := l.replay(batches, batchesInMemory, &o); err != nil || o.Delay.Transfer == 0 {
		return err
	}
	o.Delay.Transfer = 0
	return l.replay(batches, withoutTransfer, &o)
}

// replay adds a rung that gives the batches to the loop of o.
func (l *ladder) replay(batches []*reader.Batch, name string, o *Options) error {
	c, err := newConsumer(o, l.subject.loader)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n, note := l.batches(), ""
	if o.alone() {
		note = "nothing is done with the batches"
	}
	l.rungs = append(l.rungs, &rung{
		name: name, note: note, close: c.close,
		play: func(ctx context.Context, _ int) (Round, error) {
			if _, isTrainer := c.(training); isTrainer && n > 0 {
				if _, err := replay(ctx, batches[:1], c, 1); err != nil { // compiles
					return Round{}, err
				}
			}
			return replay(ctx, batches, c, n)
		},
	})
	return nil
}

// batches is how many batches an epoch has.
func (l *ladder) batches() int {
	n := l.subject.loader.Len()
	if limit := l.options.LimitBatches; limit > 0 {
		n = min(n, limit)
	}
	return n
}

// report sums up the rungs.
func (l *ladder) report() (list []Rung) {
	images := rateOf(l.rungs[0].rounds) * epochOf(l.rungs[0].rounds) // of an epoch
	before := 0.0
	for k, r := range l.rungs {
		g := Rung{Name: r.name, ImagesPerSecond: rateOf(r.rounds), Note: r.note}
		g.EpochSeconds = ratio(images, g.ImagesPerSecond)
		if k > 0 && !r.alone {
			g.Saved = before - g.EpochSeconds
		}
		before = g.EpochSeconds
		list = append(list, g)
		if r.name == withoutTransfer || r.name == batchesInMemory && !l.options.alone() {
			l.ofLoop(r)
		}
	}
	return list
}

// ofLoop takes what the rung tells of the loop.
func (l *ladder) ofLoop(r *rung) {
	var all Round
	for k := range r.rounds {
		all.add(&r.rounds[k])
	}
	a := &l.subject.loop
	transfer := a.transfer
	if a.take(&all); r.name == withoutTransfer {
		a.transfer = transfer
	}
}

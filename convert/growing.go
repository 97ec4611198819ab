package convert

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// A growing source is written as it comes: its plan has as many positions as there may be samples, and the run ends at the
// source's end.

// CheckGrowing returns an error if a pack with the options into f has to know all samples before the first is written, so that its
// source cannot be a formats.Growing.
func (o Options) CheckGrowing(f formats.WritableFormat) error {
	patterns := len(o.Patterns.Include)+len(o.Patterns.Exclude) > 0
	for _, one := range []struct {
		asked bool
		what  string
	}{
		{!o.Split.FromSource() && o.Split != NoSplits, "split " + string(o.Split)},
		{len(o.Only) > 0, "single splits"},
		{!f.Traits().Ordered && o.Order != KeyOrder, "order " + o.Order.recipe()},
		{o.Sample > 0, "a random sample"},
		{patterns, "patterns"},
		{o.Shards.Count > 0 || o.Shards.Min > 0, "a number of shards"},
	} {
		if one.asked {
			return fmt.Errorf("%s needs a source whose samples are known before they are packed: pack it without, and then the dataset with it", one.what)
		}
	}
	return nil
}

// selectGrowing is selectSamples for a growing source. The expected size of its first sample is that of all.
func (p *Plan) selectGrowing() error {
	in, err := p.src.Info(0)
	if err != nil {
		return err
	}
	h := newFingerprint()
	h.sample(&in, 0, "", false)
	p.fingerprint = h.sum()
	p.order.n = min(p.src.Len(), math.MaxInt32)
	if p.o.Limit > 0 {
		p.order.n = min(p.order.n, p.o.Limit)
	}
	p.unready = p.order.n
	n := int64(p.order.n)
	p.largest = min(max(in.Size, 1), math.MaxInt32)
	p.Bytes, p.expectedBytes = p.largest*n, min(p.estimate(p.largest), math.MaxInt32)*n
	return nil
}

// begin tells a growing source where the run begins.
func (r *run) begin() error {
	switch {
	case r.growing == nil:
		return nil
	case r.state.Next > 0 && !r.growing.Resumes():
		return fmt.Errorf("%s%s: %w: this source begins at its first sample; to start over, set Options.Discard", r.Path, sidecar.PartialSuffix, ErrCannotResume)
	}
	return r.growing.Begin(r.state.Next, r.state.Source)
}

// total returns the number of positions of the plan; those that were written if the others are not known.
func (r *run) total() int {
	if r.growing != nil {
		return r.state.Next
	}
	return r.Len()
}

// setLength ends the plan of a growing source where the source ended.
func (r *run) setLength() error {
	if r.growing == nil {
		return nil
	}
	if n := r.ended.Load(); n > 0 {
		r.order.n = int(n - 1)
	}
	if r.order.n == 0 {
		return optionError{fmt.Errorf("%s: the source has no samples", r.Path)}
	}
	if r.perFile > 0 {
		r.Shards = (r.order.n-1)/r.perFile + 1
		r.report.Shards = r.Shards
	}
	if r.state.skips == 0 {
		return nil
	}
	first := r.skipped()[0]
	return r.limit.Check(r.state.skips, r.order.n, first.Path+": "+first.Cause)
}

// wait waits until j is processed. If the source asks for it, what was written before j is made durable meanwhile.
func (r *run) wait(ctx context.Context, j *job) error {
	for {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		keep, ok := errors.AsType[*formats.Keep](j.err)
		if r.growing == nil || !ok {
			return nil
		}
		r.state.Source = keep.State
		if r.interval != neverKept {
			if err := r.timedWrite(func() error { return r.keepBy(r.checkpointer()) }); err != nil {
				return err
			}
		}
		if err := r.growing.Kept(r.state.Next); err != nil {
			return err
		}
		r.again <- struct{}{}
	}
}

// readAgain reads the sample of j until the source does not ask any more that what was written be made durable.
func (r *run) readAgain(ctx context.Context, j *job) {
	for r.growing != nil {
		if _, ok := errors.AsType[*formats.Keep](j.err); !ok {
			return
		}
		j.done <- struct{}{}
		select {
		case <-r.again:
		case <-ctx.Done():
		}
		r.readJob(ctx, j)
	}
}

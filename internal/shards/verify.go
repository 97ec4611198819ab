package shards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
)

// verify checks that each shard has what its process reported: the bytes by their checksums, and the samples by the listing.
// The error is a *missingError.
func (p *Plan) verify(ctx context.Context, f formats.WritableFormat, d *Dataset, s *convert.Stitching, o CommitOptions) error {
	bad := &missingError{plan: p.file, total: p.Shards}
	first, started := p.first(d), time.Now()
	for i, part := range s.Parts {
		if o.Progress != nil {
			o.Progress(convert.Progress{Path: d.Path, Step: convert.StepCompare, Done: i, Total: len(s.Parts), Elapsed: time.Since(started)})
		}
		switch err := p.verifyPart(ctx, f, first+i, part, s.Reports[i], o); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			bad.damaged = append(bad.damaged, fmt.Errorf("shard %d: %w: %s", first+i, err, p.again(first+i)))
		}
	}
	if len(bad.damaged) > 0 {
		return bad
	}
	return nil
}

func (p *Plan) verifyPart(ctx context.Context, f formats.WritableFormat, shard int, part string, r *convert.ShardReport, o CommitOptions) (err error) {
	ds, err := f.Open(part)
	if err != nil {
		return formats.WrapDamaged(err)
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	checker, ok := ds.(formats.Checker)
	if !ok {
		return fmt.Errorf("%s: a dataset of the format %s has no checksums", part, f.Name())
	}
	var damage []formats.Damage
	report := func(one formats.Damage) { damage = append(damage, one) }
	if o.Quick {
		err = checker.CheckQuick(ctx, report)
	} else {
		workers := o.Workers
		if workers <= 0 {
			workers = parallel.Cores()
		}
		err = checker.Check(ctx, formats.Portion{}, workers, report)
	}
	switch {
	case err != nil:
		return err
	case len(damage) > 0:
		return fmt.Errorf("%s: %w: %s, %d bytes from offset %d: %s", part, formats.ErrDamaged, damage[0].File, damage[0].Length, damage[0].Offset, damage[0].Cause)
	case ds.Len() != r.Written || r.Written+len(r.Skipped) != p.Listing[shard].Samples:
		return fmt.Errorf("%s: %w: it has %d samples; its process wrote %d and skipped %d of %d", part, formats.ErrDamaged, ds.Len(), r.Written, len(r.Skipped), p.Listing[shard].Samples)
	}
	return p.compareKeys(ctx, ds, shard, len(r.Skipped))
}

// compareKeys returns an error if the samples of a shard are not those of the listing, in its order, without skipped ones.
func (p *Plan) compareKeys(ctx context.Context, ds formats.Dataset, shard, skipped int) error {
	next, stop, err := storedKeys(ctx, ds)
	if err != nil {
		return err
	}
	defer stop()
	in, more := next()
	absent := 0
	err = p.eachRow(shard, func(one *row) error {
		if more && in.Key == one.Key {
			in, more = next()
		} else {
			absent++
		}
		return ctx.Err()
	})
	if err == nil && (more || absent != skipped) {
		err = fmt.Errorf("%w: its samples are not those of the plan", formats.ErrDamaged)
	}
	return err
}

// storedKeys returns what describes the samples of ds, one after another, in the order in which they are stored.
func storedKeys(ctx context.Context, ds formats.Dataset) (next func() (formats.Info, bool), stop func(), err error) {
	stored, ok := ds.(formats.StorageOrdered)
	if !ok {
		return nil, nil, fmt.Errorf("a dataset of the format %s has no order of its own", ds.Meta().Format)
	}
	errStop := errors.New("stop")
	seq := func(yield func(formats.Info) bool) {
		_ = stored.EachStored(func(i int32) error { // what is missing in the end is the error
			in, err := ds.Info(int(i))
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || !yield(in) {
				return errStop
			}
			return nil
		})
	}
	pull, stop := iter.Pull(seq)
	return pull, stop, nil
}

package shards

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
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

// committed reports on a dataset whose folder for shards is gone: it was published, or the error says why not.
func (p *Plan) committed(ctx context.Context, reg formats.Registry, d *Dataset) (*convert.Report, error) {
	r, same, err := p.compareWith(ctx, reg, d)
	why := ""
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		why = "is not there"
	case !same:
		why = "is not as they were: it was changed since, or is another dataset"
	default:
		return r, nil
	}
	return nil, fmt.Errorf("%s%s: %w, and %s %s: make the plan again with dsconv shards plan", d.Path, workSuffix, errNoWork, d.Path, why)
}

// sameJSON reports whether two values are equal, apart from nil and empty lists.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errors.Join(errX, errY) == nil && bytes.Equal(x, y)
}

// compareWith compares the dataset at d's path with the listing, and reports on it; nil if there is none that can be read.
// same is false if it has other samples, or another recipe or schema. Pixels are not compared.
func (p *Plan) compareWith(ctx context.Context, reg formats.Registry, d *Dataset) (r *convert.Report, same bool, err error) {
	f, err := writable(reg, d.Format)
	if err != nil {
		return nil, false, err
	}
	ds, err := f.Open(d.Path)
	if err != nil {
		return nil, false, ctx.Err()
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	m := ds.Meta()
	r = &convert.Report{Path: d.Path, Shards: max(1, len(m.Files)), Found: d.Samples, Resumed: d.Samples, PixelStats: m.PixelStats}
	r.Written, r.BytesOut = ds.Len(), m.Stats.Bytes
	if !maps.Equal(m.Recipe, d.Meta.Recipe) || !sameJSON(m.Schema, d.Meta.Schema) || ds.Len() > d.Samples {
		return r, false, nil
	}
	next, stop, err := storedKeys(ctx, ds)
	if err != nil {
		return r, false, err
	}
	defer stop()
	in, more := next()
	for i := range d.Shards {
		err := p.eachRow(p.first(d)+i, func(one *row) error {
			if more && in.Key == one.Key && in.Source.Size == one.Size && in.Source.ModTime == one.ModTime {
				r.BytesIn += one.Size
				in, more = next()
				return nil
			}
			r.Skipped = append(r.Skipped, convert.Problem{Path: cmp.Or(one.Path, one.Key), Cause: "skipped when " + d.Path + " was packed", Action: convert.ActionSkipped})
			return ctx.Err()
		})
		if err != nil {
			return r, false, err
		}
	}
	return r, !more && len(r.Skipped)+r.Written == d.Samples, nil
}

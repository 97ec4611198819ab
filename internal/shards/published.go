package shards

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

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

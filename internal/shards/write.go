package shards

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Write completes p, in which Version, ID, Source, Datasets, Shards and Listing are not set, from the plans of its
// datasets, whose source is src. It writes p to file and the listing beside it, and creates the folders for the shards. With
// discard, another plan for the same outputs, or in the file, is dropped with its shards.
func Write(ctx context.Context, p *Plan, file string, src formats.Dataset, plans []*convert.Plan, discard bool) (err error) {
	if p.file, err = filepath.Abs(file); err != nil {
		return err
	}
	p.Version = version
	for _, one := range plans {
		if err := checkOutput(one); err != nil {
			return err
		}
		p.Datasets = append(p.Datasets, Dataset{
			Path: one.Path, Format: one.Meta.Format, Meta: one.Meta, Samples: one.Len(), Shards: one.Shards, Fingerprint: fmt.Sprintf("%016x", one.Fingerprint()),
		})
		p.Shards += one.Shards
	}
	images, _ := src.(*folder.Dataset)
	if p.Root != "" {
		p.Source = &formats.Meta{Format: src.Meta().Format, Schema: src.Meta().Schema, Columns: src.Meta().Columns}
	} else {
		images = nil
	}
	rows := func(shard int, yield func(*row) error) error {
		d, i, err := p.locate(shard)
		if err != nil {
			return err
		}
		return eachPlanned(ctx, plans[p.number(d)], i, images, yield)
	}
	return p.write(rows, discard)
}

// CheckFormat returns an error if datasets of the format, such as the one at path, cannot be written shard by shard.
func CheckFormat(f formats.WritableFormat, path string) error {
	if f.Traits().Sharded {
		return nil
	}
	return badShard{fmt.Errorf("%s: a dataset of the format %s is one file, which only one process can write: plan tar shards, such as out/train-%%06d.tar, and when they are committed, dsconv pack 'out/train-%%06d.tar' %s on one machine, which copies them without decoding",
		path, f.Name(), filepath.Base(path))}
}

// checkOutput returns an error if the dataset cannot be written shard by shard, or if something is in its place.
func checkOutput(one *convert.Plan) error {
	f := one.Format()
	if err := errors.Join(CheckFormat(f, one.Path), durable.CheckParent(one.Path)); err != nil {
		return err
	}
	if durable.Exists(one.Path + sidecar.PartialSuffix) {
		return fmt.Errorf("%s: %w: finish it, or drop it with dsconv pack --discard, or choose another path", one.Path, formats.ErrPartial)
	}
	if ds, err := f.Open(one.Path); err == nil {
		if err := ds.Close(); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w: choose another path: shards replace no dataset", one.Path, formats.ErrExists)
	}
	return nil
}

// number returns the number of a dataset.
func (p *Plan) number(d *Dataset) int {
	for k := range p.Datasets {
		if &p.Datasets[k] == d {
			return k
		}
	}
	return 0
}

// eachPlanned calls yield with the samples of shard i of a plan. images is the source if it is described by its listing.
func eachPlanned(ctx context.Context, plan *convert.Plan, i int, images *folder.Dataset, yield func(*row) error) error {
	from, to := plan.ShardRange(i)
	for pos := from; pos < to; pos++ {
		index, in, err := plan.PlannedSample(pos)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		row := rowOf(&in)
		if images != nil {
			if row.Listed, err = images.Listed(index); err != nil {
				return err
			}
			row.Split = in.Split
		}
		if err := yield(&row); err != nil {
			return err
		}
	}
	return nil
}

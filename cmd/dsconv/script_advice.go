package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// waitsFor is the share of the epoch that a loop must wait for data before packing is tried.
const waitsFor = 0.1

// advisePacking adds to the advice of a DataLoader's report what packing its folder would bring to dsconv's loader, which was measured
// beside it. The first dataset of the report is the DataLoader. Nothing is tried if the transforms of dsconv's loader
// are not native, or if the loop does not wait for data.
func advisePacking(ctx context.Context, r *bench.Report, progress func(plan.Progress)) error {
	own := &r.Datasets[0]
	if own.Costs == nil || own.Verdict == nil || r.Advice == nil || own.Costs.Loop && own.Costs.Starved < waitsFor {
		return nil
	}
	ours := nativeRow(r)
	if ours == nil {
		return nil
	}
	o, err := packingOptions(ours)
	if err != nil {
		return fmt.Errorf("the advice on packing: %w", err)
	}
	o.Progress = progress
	list, err := plan.Candidates(ctx, ours.Settings["dataset"].(string), ours.Costs, o)
	if err != nil {
		return fmt.Errorf("the advice on packing: %w", err)
	}
	changed := ours.Settings["lossless"] == false // by other transforms
	for i := range list {
		c := &list[i]
		c.Command += ", then dsconv.Loader on it"
		// The rounds say how the two loaders compare; Candidates only compares with dsconv's.
		c.Before, c.After, c.BreakEven = own.EpochSeconds, c.After/c.Before*own.EpochSeconds/ours.Ratio, 0
		c.Lossless = c.Lossless && !changed
	}
	advice := verdict.Advise(own.Costs, *own.Verdict, slices.Concat(r.Advice.Candidates, list))
	r.Advice = &advice
	return nil
}

// nativeRow is the row of dsconv's loader on the folder with native transforms; nil if there is none.
func nativeRow(r *bench.Report) *bench.Dataset {
	for i := range r.Datasets[1:] {
		d := &r.Datasets[1+i]
		path, _ := d.Settings["dataset"].(string)
		words, _ := d.Settings["augment"].(string)
		if path != "" && words != "" && d.Costs != nil && d.EpochSeconds > 0 && d.Ratio > 0 {
			return d
		}
	}
	return nil
}

// packingOptions describe the loader of a row.
func packingOptions(d *bench.Dataset) (o plan.Options, err error) {
	ops, err := augment.Parse(d.Settings["augment"].(string))
	if err != nil {
		return o, err
	}
	o.Bench.Config = reader.Config{
		Transforms: ops, BatchSize: d.Costs.Batch, Workers: d.Costs.Workers, DType: formats.Float32, Layout: pixel.NCHW,
	}
	return o, nil
}

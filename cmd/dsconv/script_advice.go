package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

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
	if whyNoPackings(r) != "" {
		return nil
	}
	own, ours := &r.Datasets[0], nativeRow(r)
	o, err := packingOptions(ours)
	if err != nil {
		return err
	}
	o.Progress = progress
	list, err := plan.Candidates(ctx, ours.Settings["dataset"].(string), ours.Costs, o)
	if err != nil {
		return err
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

// tryPackings adds to the report of a DataLoader, name, what packing would bring, unless the flags refuse that. What was
// measured is not lost if it fails.
func (c *console) tryPackings(cc *cli.Context, r *bench.Report, name string) error {
	if cc.IsSet("advise") && !cc.Bool("advise") {
		return nil
	}
	if why := whyNoPackings(r); why != "" && cc.IsSet("advise") {
		r.Notes = append(r.Notes, "no ways to pack were tried: "+why)
	}
	show, err := c.planProgress(cc, name)
	if err != nil {
		return err
	}
	if err := advisePacking(cc.Context, r, show); err != nil {
		if cc.Err() != nil {
			return err
		}
		r.Notes = append(r.Notes, "no ways to pack were tried: "+err.Error())
	}
	return nil
}

// whyNoPackings says why no ways to pack are tried for the DataLoader of a report; "" if they are.
func whyNoPackings(r *bench.Report) string {
	switch {
	case len(r.Datasets) == 0 || r.Datasets[0].Costs == nil || r.Datasets[0].Verdict == nil || r.Advice == nil:
		return "the report does not say what loading costs"
	case r.Datasets[0].Costs.Loop && r.Datasets[0].Costs.Starved < waitsFor:
		return "the loop hardly waits for data"
	case nativeRow(r) == nil:
		return "it has no row of dsconv's loader on the same folder whose transforms all run natively"
	}
	return ""
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

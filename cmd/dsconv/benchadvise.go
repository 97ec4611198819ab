package main

import (
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
)

// advise sets the report's advice, if the flags ask for that.
func advise(cc *cli.Context, c *console, r *bench.Report) error {
	alone := len(r.Datasets) == 1 && r.Datasets[0].Format == "folder"
	switch asked := cc.IsSet("advise"); {
	case asked && !cc.Bool("advise"), !asked && !alone:
		return nil
	case !asked && slowBatches(r):
		r.Notes = append(r.Notes, "no ways to pack were tried, as each batch takes seconds: --advise tries them")
		return nil
	}
	show, err := c.planProgress(cc, r.Datasets[0].Path)
	if err != nil {
		return err
	}
	open, err := opener(cc, r.Datasets[0].Path)
	if err != nil {
		return err
	}
	err = plan.Advise(cc.Context, r, plan.Options{Progress: show, Open: open, Reading: readingWords(cc)})
	if err != nil && cc.Err() == nil { // what was measured is not lost for that
		r.Notes = append(r.Notes, "there is no advice: "+err.Error())
		return nil
	}
	return err
}

// slowBatches reports whether trying ways to pack would take minutes, which nobody asked for.
func slowBatches(r *bench.Report) bool {
	const most = 2 // seconds of a batch
	speed := r.Datasets[0].ImagesPerSecond
	return speed > 0 && float64(r.Options.BatchSize)/speed > most
}

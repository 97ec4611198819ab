package main

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/internal/durable"
)

func adviseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "advise", Usage: "try ways to pack some images of the first dataset, and recommend one with its predicted gain", DefaultText: "with a folder alone, or --script"},
		&cli.StringFlag{Name: "apply", Usage: "pack the first dataset as recommended into `DIR`, a new or empty folder, and measure it"},
	}
}

// checkAdvise returns an error if --advise and --apply cannot be done. It is called before anything is measured.
func checkAdvise(cc *cli.Context, paths []string) error {
	switch dir := cc.String("apply"); {
	case !cc.IsSet("apply"):
		return nil
	case dir == "":
		return usageErrorf("--apply: the name of the folder is empty")
	case cc.IsSet("advise") && !cc.Bool("advise"):
		return usageErrorf("--apply needs the advice: leave out --advise=false")
	default:
		if err := plan.CheckEmpty(dir, paths[0]); err != nil {
			return usageErrorf("--apply: %w", err)
		}
		if parent := filepath.Dir(dir); !durable.IsDir(parent) {
			return usageErrorf("--apply %s: there is no folder %s: make it first", dir, parent)
		}
		return nil
	}
}

// advise sets the report's advice and applies it, if the flags ask for that.
func advise(cc *cli.Context, c *console, r *bench.Report) error {
	wanted := len(r.Datasets) == 1 && r.Datasets[0].Format == "folder" || cc.IsSet("apply")
	switch asked := cc.IsSet("advise") || cc.IsSet("apply"); {
	case cc.IsSet("advise") && !cc.Bool("advise"), !asked && !wanted:
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
	advice, err := plan.Advise(cc.Context, r, plan.Options{Progress: show, Open: open, Reading: readingWords(cc)})
	if err != nil && cc.Err() == nil && !cc.IsSet("apply") { // what was measured is not lost for that
		r.Notes = append(r.Notes, "there is no advice: "+err.Error())
		return nil
	}
	if err != nil || !cc.IsSet("apply") {
		return err
	}
	err = advice.Apply(cc.Context, cc.String("apply"))
	if errors.Is(err, plan.ErrNothingToApply) {
		c.logf("nothing was packed: %s", r.Advice.Text)
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

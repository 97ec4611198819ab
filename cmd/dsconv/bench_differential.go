package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/legible"
)

// differentialFlags are the flags of bench that measure a dataset again with something changed.
func differentialFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "isolate", Usage: "also measure with one stage after another replaced by memory: what each stage costs"},
		&cli.BoolFlag{Name: "cold", Usage: "also measure with the dataset's files dropped from the page cache"},
		&cli.StringSliceFlag{Name: "delay", Usage: "delay a stage of each image by `STAGE=TIME`, such as read=1ms: read, decode, augment, collate or transfer"},
		&cli.StringFlag{Name: "limit-read", Usage: "read at most `RATE`, such as 200MB/s, by all workers together"},
		&cli.StringSliceFlag{Name: "sweep", Usage: "measure the values in `SETTING=VALUES`, such as workers=0,1,2,4: of workers, batch or prefetch"},
		&cli.BoolFlag{Name: "rules", Usage: "test rules of thumb: more workers, prefetch, dataset in RAM, small types, larger batches"},
	}
}

// differentialOptions reads differentialFlags.
func differentialOptions(cc *cli.Context, o *bench.Options) (err error) {
	o.Isolate, o.Cold, o.Rules = cc.Bool("isolate"), cc.Bool("cold"), cc.Bool("rules")
	if o.Delay, err = bench.ParseDelay(strings.Join(cc.StringSlice("delay"), ",")); err != nil {
		return fmt.Errorf("--delay: %w", err)
	}
	if cc.IsSet("limit-read") {
		if o.LimitRead, err = legible.ParseSize(strings.TrimSuffix(cc.String("limit-read"), "/s")); err != nil {
			return fmt.Errorf("--limit-read %q: write bytes a second, such as 200MB/s", cc.String("limit-read"))
		}
		if o.LimitRead < 1000 { // a unit that was forgotten: an epoch would take days
			return fmt.Errorf("--limit-read %q: write bytes a second with a unit, such as 200MB/s; 1kB/s is the least", cc.String("limit-read"))
		}
	}
	for _, text := range cc.StringSlice("sweep") {
		s, err := bench.ParseSweep(text)
		if err != nil {
			return fmt.Errorf("--sweep: %w", err)
		}
		o.Sweeps = append(o.Sweeps, s)
	}
	return nil
}

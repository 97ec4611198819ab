package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// damages is what verify found.
type damages struct {
	Blocks  []formats.Damage `json:"damaged_blocks"`
	Samples []badSample      `json:"damaged_samples"`
	Checked int              `json:"samples_checked"`
}

type badSample struct {
	Key   string `json:"key"`
	Cause string `json:"cause"`
}

func verifyCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check everything in a dataset against its checksums",
		ArgsUsage: "DATASET",
		Description: "Every block of every file and every sample is read and compared with the checksums that\n" +
			"were written with it. What is damaged is named, with file, place and key.\n\n" +
			"Example:\n   dsconv verify out.lmdb\n\n" +
			"Exit codes: 0 nothing is damaged, 1 something is, or the command failed, 2 wrong usage.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print what is damaged as JSON"},
			&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines that read", DefaultText: "the number of cores"},
		},
		Action: func(cc *cli.Context) error {
			ds, err := openOne(cc, "DATASET")
			if err != nil {
				return err
			}
			defer ds.Close()
			workers := cc.Int("workers")
			if workers < 1 {
				workers = runtime.GOMAXPROCS(0)
			}
			found, err := verify(cc.Context, ds, workers)
			if err != nil {
				return err
			}
			return found.print(c, cc.Bool("json"))
		},
	}
}

func verify(ctx context.Context, ds formats.Dataset, workers int) (*damages, error) {
	checker, ok := ds.(formats.Checker)
	if !ok {
		return nil, usage("a %s has no checksums to verify", ds.Meta().Format)
	}
	d := &damages{Blocks: []formats.Damage{}, Samples: []badSample{}}
	if err := checker.Check(ctx, workers, func(b formats.Damage) { d.Blocks = append(d.Blocks, b) }); err != nil {
		return nil, err
	}
	return d, d.samples(ctx, ds, workers)
}

// samples reads every sample and compares it with its own checksum.
func (d *damages) samples(ctx context.Context, ds formats.Dataset, workers int) error {
	var mu sync.Mutex
	d.Checked = ds.Len()
	return parallel(ctx, ds.Len(), workers, func() (func(int) error, func()) {
		var s formats.Sample
		return func(i int) error {
			wrong := checkSample(ds, i, &s)
			if wrong == nil {
				return nil
			}
			in, err := ds.Info(i)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			d.Samples = append(d.Samples, badSample{in.Key, wrong.Error()})
			return nil
		}, func() {}
	})
}

func checkSample(ds formats.Dataset, i int, s *formats.Sample) error {
	in, err := ds.Info(i)
	if err != nil {
		return err
	}
	if err := ds.Read(i, s); err != nil {
		return err
	}
	if atrest.Sum(ds.Meta().Schema, s) != in.Sum {
		return fmt.Errorf("%w: the bytes are not those that were written", formats.ErrDamaged)
	}
	return nil
}

func (d *damages) print(c *console, asJSON bool) error {
	if asJSON {
		if err := c.json(d); err != nil {
			return err
		}
	} else {
		for _, b := range d.Blocks {
			c.printf("damaged: %s, bytes %d to %d: %s\n", printable(b.File), b.Offset, b.Offset+b.Length, b.Cause)
		}
		for _, s := range d.Samples {
			c.printf("damaged sample: %s: %s\n", printable(s.Key), s.Cause)
		}
	}
	if len(d.Blocks)+len(d.Samples) > 0 {
		return errors.New("the dataset is damaged")
	}
	if !asJSON {
		c.printf("%d samples and all files are what was written\n", d.Checked)
	}
	return nil
}

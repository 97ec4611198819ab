package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/internal/synth"
)

func synthCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "synth",
		Usage:     "write a folder of synthetic photo-like images",
		ArgsUsage: "DIR",
		Description: "Writes class folders of JPEGs with the size, decoding cost and entropy of photos. A small network\n" +
			"can learn the classes, but no single pixel tells them apart.\n\n" +
			"Example:\n   dsconv synth images/ --n 2000 --classes 10 --split val=0.2\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Value: synth.DefaultN, Usage: "write `N` images"},
			&cli.IntFlag{Name: "classes", Value: synth.DefaultClasses, Usage: "write `N` classes"},
			&cli.StringFlag{Name: "size", Value: "500x375", Usage: "images of `WxH` pixels"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `N` gives other images of the same classes"},
			&cli.StringFlag{Name: "split", Usage: "write the folders of `SPLITS`: val=0.2 gives train/ and val/, stratified by class"},
			workersFlag("goroutines that draw and write"),
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
			quietFlag(),
		},
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DIR")
			if err != nil {
				return err
			}
			o, err := synthOptions(cc)
			if err != nil {
				return usageError{err}
			}
			return makeSamples(cc, c, args[0], o)
		},
	}
}

func synthOptions(cc *cli.Context) (o synth.Options, err error) {
	o = synth.Options{N: cc.Int("n"), Classes: cc.Int("classes"), Seed: cc.Uint64("seed"), Workers: cc.Int("workers")}
	if n, err := fmt.Sscanf(cc.String("size"), "%dx%d", &o.Width, &o.Height); n != 2 || err != nil {
		return o, fmt.Errorf("--size %s: write it as 500x375", cc.String("size"))
	}
	o.Splits, err = synth.ParseSplits(cc.String("split"))
	return o, err
}

// synthResult is the result of synth, for --json.
type synthResult struct {
	Path    string  `json:"path"`
	Images  int     `json:"images"`
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Classes int     `json:"classes"`
	Seconds float64 `json:"seconds"`
}

func makeSamples(cc *cli.Context, c *console, dir string, o synth.Options) error {
	progress := &runProgress{c: c, words: imageWords, quiet: cc.Bool("quiet")}
	start := time.Now()
	err := synth.Write(cc.Context, dir, o, func(done int) {
		progress.show(convert.Progress{Path: dir, Done: done, Total: o.N, Elapsed: time.Since(start)})
	})
	progress.end()
	if err != nil {
		return err
	}
	if cc.Bool("json") {
		return c.json(synthResult{dir, o.N, o.Width, o.Height, o.Classes, time.Since(start).Seconds()})
	}
	if !cc.Bool("quiet") {
		c.printf("%s: %d images of %dx%d in %d classes, %.1f s\n", dir, o.N, o.Width, o.Height, o.Classes, time.Since(start).Seconds())
	}
	return nil
}

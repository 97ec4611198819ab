package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// writeOptions are the options of the commands that write a dataset.
type writeOptions struct {
	src, format         string              // pack only
	folder              folder.Config       // pack only
	read                formats.ReadOptions // pack only
	convert             convert.Options
	dryRun, json, quiet bool
	report              string
	progress            *runProgress
}

// packOptions returns the options of a pack.
func (o *writeOptions) packOptions() dsconv.Options {
	return dsconv.Options{Options: o.convert, Format: o.format, Source: o.folder, Table: o.report, Read: o.read}
}

// writeFlags returns flags and the flags of every command that writes a dataset.
func writeFlags(flags ...cli.Flag) []cli.Flag {
	return append(append(flags,
		&cli.BoolFlag{Name: "discard", Usage: "drop the unfinished dataset of an interrupted command and start over"},
		&cli.StringFlag{Name: "checkpoint", Usage: "write about `SIZE` between two checkpoints", DefaultText: "256MiB"},
		memoryFlag(),
		workersFlag("goroutines that decode and encode"),
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"},
	), resultFlags()...)
}

// resultFlags say what a command prints.
func resultFlags() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"}, progressFlag(), quietFlag()}
}

// parseWriteFlags parses the flags of writeFlags.
func parseWriteFlags(cc *cli.Context, c *console) (*writeOptions, error) {
	show, err := newProgress(cc, c, imageWords)
	if err != nil {
		return nil, err
	}
	o := &writeOptions{
		dryRun: cc.Bool("dry-run"), json: cc.Bool("json"), quiet: cc.Bool("quiet"), progress: show,
		convert: convert.Options{Workers: cc.Int("workers"), Memory: memory(cc), Discard: cc.Bool("discard"), Progress: show.show, Command: c.commandLine()},
	}
	return o, parseSize(cc, "checkpoint", &o.convert.Checkpoint)
}

// parseSize sets to to the size in the flag, if it has one.
func parseSize(cc *cli.Context, flag string, to *int64) (err error) {
	if size := cc.String(flag); size != "" {
		if *to, err = legible.ParseSize(size); err != nil {
			return usageErrorf("--%s: %w", flag, err)
		}
	}
	return nil
}

// parseSkipping parses the flags --on-error and --max-skipped of pack and add.
func (o *writeOptions) parseSkipping(cc *cli.Context) error {
	on := cc.String("on-error")
	if on != "skip" && on != "fail" {
		return usageErrorf("--on-error %s: use skip or fail", on)
	}
	o.convert.OnError, o.convert.MaxSkipped = convert.OnError(on), cc.String("max-skipped")
	if _, err := doubts.ParseLimit(o.convert.MaxSkipped); err != nil {
		return usageErrorf("--max-skipped %w", err)
	}
	return nil
}

// maxSkippedFlag is the flag --max-skipped.
func maxSkippedFlag() cli.Flag {
	return &cli.StringFlag{Name: "max-skipped", Usage: "end with an error if more than `N` images, or P%, would be left out", DefaultText: "1%, and at least 10 images"}
}

func workersFlag(usage string) cli.Flag {
	return &cli.IntFlag{
		Name: "workers", Aliases: []string{"j"}, Usage: "`N` " + usage, DefaultText: "the number of cores",
		Action: func(_ *cli.Context, n int) error {
			if n < 0 {
				return usageErrorf("--workers %d: give the number of goroutines, or 0 for the number of cores", n)
			}
			return nil
		},
	}
}

// memoryFlag is the flag --memory, whose value memory returns.
func memoryFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "memory", DefaultText: "256MiB, and 512MiB to list a folder",
		Usage: "use about `SIZE` of memory for listing files and for each sort; what does not fit is sorted in temporary files",
		Action: func(_ *cli.Context, size string) error {
			if _, err := legible.ParseSize(size); err != nil {
				return usageErrorf("--memory: %w", err)
			}
			return nil
		},
	}
}

// memory returns the size in the flag --memory, 0 without it.
func memory(cc *cli.Context) int64 {
	n, err := legible.ParseSize(cc.String("memory"))
	if err != nil {
		return 0 // there is no flag: the flag itself refuses what is not a size
	}
	return n
}

func quietFlag() cli.Flag { return &cli.BoolFlag{Name: "quiet", Usage: "print errors only"} }

// loaderFlags are the flags of every command that loads batches. The arguments are the help's
// defaults of --batch, --size, --augment and --dtype, which each command chooses itself.
func loaderFlags(batch, size, ops, dtype string) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "batch", Usage: "`N` images per batch", DefaultText: batch},
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "`N` goroutines that read and decode", DefaultText: "the number of cores"},
		&cli.IntFlag{Name: "size", Usage: "images in a batch are `N` pixels wide and high", DefaultText: size},
		&cli.StringFlag{Name: "augment", Usage: "augment with `OPS`, such as rrc:224,flip,normalize", DefaultText: ops},
		&cli.StringFlag{Name: "dtype", Usage: "`TYPE` of the pixels: float32 or uint8; without a trainer also float16, bfloat16 or uint16", DefaultText: dtype},
		&cli.StringFlag{Name: "decode", Value: "exact", Usage: "`MODE` of decoding JPEGs: exact (Pillow's pixels), or fast (at a reduced size if that is enough; pixels close to Pillow's)"},
		&cli.StringFlag{Name: "split", Usage: "read this `SPLIT`", DefaultText: "train if there is one, else all"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` decides the order, the augmentation and the trainer's weights"},
		&cli.StringFlag{Name: "order", Value: string(order.Full), Usage: "`ORDER` of the images: none, full (shuffled), block:BLOCK:WINDOW or balanced"},
		&cli.IntFlag{Name: "prefetch", Usage: "prefetch `N` batches", DefaultText: fmt.Sprint(reader.DefaultPrefetch)},
		&cli.StringFlag{Name: "cache", Usage: "keep images in memory, shared by all processes of a machine: `KIND` is encoded or decoded, or with a limit encoded:SIZE", DefaultText: "none"},
		&cli.StringFlag{Name: "on-error", Value: string(reader.Fail), Usage: "`POLICY` for bad images: fail, skip or substitute"},
		&cli.IntFlag{Name: "max-pixels", Usage: "an image of more than `N` pixels is bad", DefaultText: "Pillow's limit"},
	}
}

// loaderConfig reads loaderFlags. Options that the user leaves out are zero.
func loaderConfig(cc *cli.Context) (c reader.Config, err error) {
	if err := positive(cc, "batch", "workers", "size", "prefetch", "max-pixels"); err != nil {
		return c, err
	}
	if cc.IsSet("size") && cc.IsSet("augment") {
		return c, errors.New("--size and --augment exclude each other: write the size into the ops")
	}
	c = reader.Config{
		BatchSize: cc.Int("batch"), Workers: cc.Int("workers"), Prefetch: cc.Int("prefetch"), Seed: cc.Uint64("seed"),
		Split: cc.String("split"), DType: formats.DType(cc.String("dtype")), MaxPixels: cc.Int("max-pixels"),
	}
	parseFlag(cc, "order", &c.Order, order.Parse, &err)
	if err == nil && c.Order.Kind == order.Weighted {
		return c, fmt.Errorf("--order %s: there are no weights; balanced goes by the classes", c.Order)
	}
	parseFlag(cc, "on-error", &c.OnError, reader.ParseOnError, &err)
	parseFlag(cc, "cache", &c.Cache, reader.ParseCache, &err)
	var mode codec.Mode
	parseText(cc, "decode", &mode, &err)
	c.FastDecode = mode == codec.Fast
	if err == nil {
		c.Transforms, err = augment.Parse(cc.String("augment"))
	}
	return c, err
}

// positive reports the first of the flags that is set and less than 1.
func positive(cc *cli.Context, flags ...string) error {
	for _, name := range flags {
		if cc.IsSet(name) && cc.Int(name) < 1 {
			return fmt.Errorf("--%s %d: it must be at least 1", name, cc.Int(name))
		}
	}
	return nil
}

package main

import (
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/legible"
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
	return append(flags,
		&cli.BoolFlag{Name: "discard", Usage: "drop the unfinished dataset of an interrupted command and start over"},
		&cli.StringFlag{Name: "checkpoint", Usage: "write about `SIZE` between two checkpoints", DefaultText: "256MiB"},
		memoryFlag(),
		workersFlag("goroutines that decode and encode"),
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		progressFlag(),
		quietFlag(),
	)
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

// parseOnError parses the flag --on-error of pack and add.
func (o *writeOptions) parseOnError(on string) error {
	if on != "skip" && on != "fail" {
		return usageErrorf("--on-error %s: use skip or fail", on)
	}
	o.convert.OnError = convert.OnError(on)
	return nil
}

// parseMaxSkipped parses the flag --max-skipped.
func (o *writeOptions) parseMaxSkipped(text string) error {
	o.convert.MaxSkipped = text
	if _, err := doubts.ParseLimit(text); err != nil {
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

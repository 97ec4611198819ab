package main

import (
	"fmt"

	"github.com/dsconv/dsconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
)

func mergeCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "merge several datasets into one",
		ArgsUsage: "DST SRC...",
		Description: "Samples are copied as they are stored. The sources must have the same fields. Classes are\n" +
			"merged by name, those of the first source first. A sample that several sources have with the same\n" +
			"bytes and labels is written once; samples with the same key that differ are an error.\n\n" +
			"Examples:\n   dsconv merge all.lmdb part1.lmdb part2.tar\n\n" + exitCodes,
		Flags: writeFlags(
			&cli.BoolFlag{Name: "force", Usage: "replace DST if it is a dataset that dsconv wrote"},
			&cli.StringFlag{Name: "compress", Usage: "compress tars; `METHOD` is zstd or zstd:LEVEL"},
			&cli.StringFlag{Name: "shard-size", Usage: "`SIZE` of a shard, such as 500MB", DefaultText: "1GB"},
			&cli.StringFlag{Name: "order", Usage: "`ORDER` of samples in tars and TFRecords: key or shuffle:SEED", DefaultText: "shuffle:0"},
		),
		Action: func(cc *cli.Context) error { return merge(cc, c) },
	}
}

func merge(cc *cli.Context, c *console) (failed error) {
	args, err := argumentsOrMore(cc, "DST", "SRC")
	if err != nil {
		return err
	}
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	if err := mergeOptions(cc, o); err != nil {
		return usageError{err}
	}
	if err := checkWritable(args[0]); err != nil {
		return err
	}
	paths := args[1:]
	if len(paths) < 2 {
		return usageErrorf("SRC is missing: give two datasets or more: see dsconv merge --help")
	}
	var sources []formats.Dataset
	for _, path := range paths {
		ds, err := openSource(cc, path, folder.Config{Memory: o.convert.Memory})
		if err != nil {
			return err
		}
		defer ds.Close()
		sources = append(sources, ds)
	}
	if !o.dryRun {
		discard, err := makeParents(args[0])
		if err != nil {
			return err
		}
		defer func() {
			if failed != nil {
				discard()
			}
		}()
	}
	r, err := edit.Merge(cc.Context, dsconv.Formats(), args[0], sources, edit.MergeOptions{
		Options: o.editing(), Paths: paths, Replace: o.convert.Create.Replace, Zstd: o.convert.Create.Zstd,
		Order: o.convert.Order, ShardSize: o.convert.Shards.Size,
	})
	o.progress.end()
	if err != nil {
		return editError(err, r != nil && !r.Published, args[0])
	}
	said := fmt.Sprintf("%d samples of %d datasets", r.Written, len(sources))
	if r.Twice > 0 {
		said += fmt.Sprintf(" (%d duplicates with the same bytes and labels left out)", r.Twice)
	}
	return printEdit(c, &r.Report, o, editOutcome{summary: said, details: r.Merged})
}

func mergeOptions(cc *cli.Context, o *writeOptions) (err error) {
	o.convert.Create.Replace = cc.Bool("force")
	parseText(cc, "compress", (*preprocess.Zstd)(&o.convert.Create.Zstd), &err)
	parseFlag(cc, "order", &o.convert.Order, parseOrder, &err)
	if err != nil {
		return err
	}
	return parseSize(cc, "shard-size", &o.convert.Shards.Size)
}

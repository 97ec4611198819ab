package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

func packCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "convert a folder of images, or a dataset, into a dataset",
		ArgsUsage: "SRC DST",
		Description: `SRC is a folder of images or any dataset that dsconv wrote. The suffix of DST is the
format: .lmdb, .h5 or .hdf5, .tar or .tar.zst, .tfrecord. A pattern such as
train-%06d.tar writes shards. With --format and a folder OUT/ each split becomes a
separate dataset: OUT/train.lmdb, OUT/val.lmdb.

Labels from a table (--labels): white space around a cell is ignored. An empty cell and -1
mean no label. Whole numbers are class indices if every number from 0 to n-1 occurs.
Other numbers are an error unless --label-type says what they are:

   index    class indices, which may have gaps
   name     each number is the name of a class, also -1
   float    numbers to predict, float32; an empty cell is NaN

All other cells are names of classes. Names are sorted as ImageFolder sorts folders; names
that are numbers are sorted by value. The summary says how each column was interpreted.

--encode keep       copy the bytes
         jpeg-tiled[:MCUS]  add restart markers to JPEGs and improve their Huffman tables;
                    their coefficients, and so their pixels, do not change. A region
                    can then be decoded alone, so random crops are faster. Images that
                    cannot be tiled are copied and counted. MCUS is the number of MCUs
                    between two markers (default: 8)
         jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS]
                    default: quality 90, 4:2:0, and restart markers as in jpeg-tiled;
                    progressive JPEGs and --no-tile have none
         png, raw   lossless

An interrupted pack leaves DST.partial. Repeat the command to resume from its last
checkpoint, or add --discard to drop it and start over. --dry-run packs a few hundred
images into the folder for temporary files, to estimate the size.

` + patternHelp + `

Examples:
   dsconv pack images/ out.lmdb
   dsconv pack images/ 'out/train-%06d.tar' --resize shorter:256 --encode jpeg:90
   dsconv pack images/ tiled.lmdb --encode jpeg-tiled
   dsconv pack images/ out/ --format hdf5 --resize cover:224x224 --encode raw

Exit codes: 0 all written, 3 some skipped, 1 failed, 2 wrong usage.`,
		Flags:  packFlags(),
		Action: func(cc *cli.Context) error { return pack(cc, c) },
	}
}

func pack(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "SRC", "DST")
	if err != nil {
		return err
	}
	o, err := parsePackFlags(cc, c)
	if err != nil {
		return err
	}
	src, err := openSource(cc.Context, args[0], o.folder)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := checkOutside(args[1], args[0]); err != nil {
		return err
	}
	if err := checkOutside(o.convert.Quarantine, args[0]); err != nil {
		return err
	}
	plans, err := makePlans(src, args[1], o)
	if err != nil {
		return err
	}
	if o.dryRun {
		return packDryRun(cc.Context, c, src, plans, o)
	}
	return packAll(cc.Context, c, src, plans, o)
}

// makePlans returns one plan for a single DST, or one for each split.
func makePlans(src formats.Dataset, dst string, o *writeOptions) ([]*convert.Plan, error) {
	splits, err := o.convert.Split.Assign(src)
	if err != nil {
		return nil, usageError{err}
	}
	outs, err := outputs(dst, o.format, convert.SplitNames(splits))
	if err != nil {
		return nil, err
	}
	plans := make([]*convert.Plan, 0, len(outs))
	for _, out := range outs {
		o.convert.Only = out.only
		p, err := convert.New(context.Background(), src, out.format, out.path, o.convert)
		if err != nil {
			return nil, usageError{err}
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// packAll runs the plans one after another, and prints the summary and writes the report.
func packAll(ctx context.Context, c *console, src formats.Dataset, plans []*convert.Plan, o *writeOptions) error {
	s, err := newSummary(src, o.convert.Patterns)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(plans[0].Path), 0o755); err != nil {
		return err
	}
	if err := s.run(ctx, c, plans[0].Path, plans, finishedReports(plans, o), o); err != nil {
		return err
	}
	if err := s.print(c, o); err != nil {
		return err
	}
	if len(s.Skipped) > 0 {
		return errSkipped
	}
	return nil
}

// finishedReports returns the reports of the plans that an interrupted run of the same command
// finished, nil for the other plans. It is a new run, without such reports, if all plans are finished,
// or with --force if none is unfinished.
func finishedReports(plans []*convert.Plan, o *writeOptions) []*convert.Report {
	done := make([]*convert.Report, len(plans))
	interrupted := false
	for i, p := range plans {
		unfinished := isDir(p.Path + sidecar.PartialSuffix)
		if r, ok := p.Finished(); ok && !unfinished {
			done[i] = r
			continue
		}
		interrupted = interrupted || unfinished || !o.convert.Create.Replace
	}
	if !interrupted {
		clear(done)
	}
	return done
}

// output is one dataset that pack writes.
type output struct {
	format formats.WritableFormat
	path   string
	only   []string // the splits that it has; all if empty
}

// outputSuffixes are the suffixes of datasets in a folder OUT/, by format.
var outputSuffixes = map[string]string{"lmdb": ".lmdb", "hdf5": ".h5", "shard": "-%06d.tar", "tfrecord": "-%06d.tfrecord"}

// outputs returns the datasets that DST stands for: one by its name, or with a format and a folder one
// for each split.
func outputs(dst, format string, splits []string) ([]output, error) {
	if err := formats.CheckLocal(dst); err != nil {
		return nil, err
	}
	f, err := writableFormat(dst, format)
	if err != nil {
		return nil, err
	}
	if f.Match(dst) {
		return []output{{format: f, path: filepath.Clean(dst)}}, nil
	}
	if format == "" || filepath.Ext(dst) != "" && !isDir(dst) && !strings.HasSuffix(dst, "/") {
		return nil, usageErrorf("%s: the name does not match the format %s; use for example %s", dst, f.Name(), "data"+outputSuffixes[f.Name()])
	}
	outs := make([]output, 0, len(splits))
	for _, split := range splits {
		if err := formats.CheckSplit(split); err != nil {
			return nil, usageError{err}
		}
		outs = append(outs, output{format: f, path: filepath.Join(dst, cmp.Or(split, "data")+outputSuffixes[f.Name()]), only: []string{split}})
	}
	return outs, nil
}

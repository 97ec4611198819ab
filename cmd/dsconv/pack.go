package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

func packCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "convert a folder of images, or a dataset, into a dataset",
		ArgsUsage: "SRC DST",
		Description: `SRC is a folder of images or any dataset that dsconv wrote. DST's suffix says the
format: .lmdb, .h5 or .hdf5, .tar or .tar.zst, .tfrecord; a pattern such as
train-%06d.tar makes shards. With --format and a folder OUT/ each split becomes a
dataset of its own, OUT/train.lmdb, OUT/val.lmdb.

The labels of a table (--labels): cells count without white space around them; an empty
one and -1 are no label. Whole numbers of which all of 0 to n-1 occur are class indices.
Other numbers are an error until --label-type says what they are:

   index    class indices, also with gaps
   name     the name of a class each, -1 too
   float    numbers to predict, float32; an empty cell is NaN

Everything else is the name of a class. Names are sorted as ImageFolder sorts folders, the
numbers among them by value. The summary says what was made of each column.

--encode keep       the bytes as they are
         jpeg-tiled[:MCUS]  JPEGs get restart markers and better Huffman tables; their
                    coefficients, and so their pixels, stay. A part of one is then
                    decoded alone, so random crops are faster. What cannot be tiled
                    is kept as it is and counted. MCUS between two markers: 8
         jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS]
                    quality 90, 4:2:0; tiled too, unless progressive or --no-tile
         png, raw   lossless

An interrupted pack leaves DST.partial; the same command goes on from its last
checkpoint, and --discard drops it and starts anew.

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
	o, err := parsePackFlags(cc)
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
	if dir := o.convert.Quarantine; dir != "" {
		if err := checkOutside(dir, args[0]); err != nil {
			return err
		}
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

// plansOf makes one plan for a single DST, or one for each split.
func makePlans(src formats.Dataset, dst string, o *packOptions) ([]*convert.Plan, error) {
	splits, err := o.convert.Split.Assign(src)
	if err == nil {
		err = convert.CheckSplits(src, splits)
	}
	if err != nil {
		return nil, usageError{err}
	}
	outs, err := outputs(dst, o.format, convert.SplitNames(splits))
	if err != nil {
		return nil, err
	}
	plans := make([]*convert.Plan, 0, len(outs))
	for _, out := range outs {
		p, err := convert.New(src, splits, out.only, out.format, out.path, o.convert)
		if err != nil {
			return nil, usageError{err}
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// packAll runs the plans one after another and sums them up.
func packAll(ctx context.Context, c *console, src formats.Dataset, plans []*convert.Plan, o *packOptions) error {
	s, err := newSummary(src, o.convert.Patterns)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(plans[0].Path), 0o755); err != nil {
		return err
	}
	if err := checkReportPath(o.report, plans[0].Path); err != nil {
		return err
	}
	done := finishedReports(plans, o)
	for i, p := range plans {
		if done[i] != nil {
			s.add(done[i])
			continue
		}
		show, end := func(convert.Progress) {}, func() {}
		if !o.quiet {
			show, end = c.progress(p.Path, p.Len(), o.progressJSON)
		}
		r, err := p.OnProgress(show).WithCommand(commandLine(ctx)).Run(ctx)
		end()
		s.add(r)
		if err != nil {
			return errors.Join(withHint(err, p.Path), s.writePartialTable(o.report, plans[0].Path))
		}
	}
	if err := s.writeTable(o.report, plans[0].Path); err != nil {
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

// doneBefore are the reports of the plans that an interrupted run of the same command had
// finished, nil for the others. With all of them finished, or with --force and nothing
// unfinished, it is a new run.
func finishedReports(plans []*convert.Plan, o *packOptions) []*convert.Report {
	done := make([]*convert.Report, len(plans))
	interrupted := false
	for i, p := range plans {
		unfinished := isDir(p.Path + atrest.Suffix)
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

// partialError says how to go on after a failure.
type resumableError struct {
	error
	path string
}

func (e resumableError) Unwrap() error { return e.error }

func withHint(err error, path string) error {
	switch {
	case errors.Is(err, formats.ErrExists):
		return fmt.Errorf("%w: choose another name, or --force to replace a dataset of dsconv's", err)
	case errors.Is(err, convert.ErrCannotResume):
		return fmt.Errorf("%w; --discard drops it and starts anew", err)
	case errors.Is(err, formats.ErrPartial), errors.Is(err, formats.ErrLocked), errors.Is(err, formats.ErrNotBuilt),
		errors.Is(err, formats.ErrForeign):
		return err
	case errors.Is(err, context.Canceled):
		return resumableError{err, path}
	}
	return fmt.Errorf("%w%s", err, hint(resumableError{err, path}))
}

// hint is what to do about an unfinished pack or unpack, if err is about one.
func hint(err error) string {
	var u incompleteUnpackError
	if errors.As(err, &u) {
		return u.hint()
	}
	var p resumableError
	if !errors.As(err, &p) || !isDir(p.path+atrest.Suffix) {
		return ""
	}
	return fmt.Sprintf("\n%s%s has what was done: the same command goes on from its last checkpoint; --discard drops that",
		p.path, atrest.Suffix)
}

package main

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

func diffCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two datasets or folders, of any formats",
		ArgsUsage: "A... B",
		Description: "Prints a line for each key that differs: + if only B has it, - if only A has it, ~ if both have it, and\n" +
			"what differs: bytes (as stored), pixels (as decoded), label, split, column; or unreadable, and which file. If\n" +
			"bytes differ and pixels do not, the image is encoded differently. Labels are compared by name. Samples with equal checksums are not\n" +
			"read.\n\n" +
			"A folder, an archive or a list of images is read by the flags below, without them as the dataset beside\n" +
			"it was packed: with its tables of labels and its fields. What --include, --exclude, --limit or --sample\n" +
			"left out of that dataset is listed with a - all the same. Several folders and archives A are one folder, and\n" +
			"NAME=A puts one below the folder NAME, as in dsconv pack.\n\n" +
			"Examples:\n   dsconv diff images/ out.lmdb\n   dsconv diff train=train.tar val=val/ out.lmdb\n\n" +
			"Exit codes: 0 no difference, 1 differences, 2 wrong usage, 4 they could not be compared.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object per line; the last one is the summary"},
			progressFlag(),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only the summary"},
			workersFlag("goroutines that read"),
		}, append(readFlags("A"), sourceFlags("dsconv pack --help", "as packed")...)...),
		Action: func(cc *cli.Context) error { return asCheck(diffSources(cc, c)) },
	}
}

var errDiffer error = foundError{errors.New("the datasets differ")}

func diffSources(cc *cli.Context, c *console) error {
	show, err := newProgress(cc, c, progressWords{unit: "samples"})
	if err != nil {
		return err
	}
	args, err := argumentsOrMore(cc, "A", "B")
	if err != nil {
		return err
	}
	last := len(args) - 1
	a, b, err := openPair(cc, c, args[:last], args[last])
	if err != nil {
		return err
	}
	defer a.Close()
	defer b.Close()
	w, start := bufio.NewWriter(c.out), time.Now()
	d := &differences{console: console{out: w}, asJSON: cc.Bool("json"), quiet: cc.Bool("quiet")}
	err = compare(cc, d, a, b, func(done, total int) {
		show.show(convert.Progress{Path: args[last], Done: done, Total: total, Elapsed: time.Since(start)})
	})
	show.end()
	if failed := w.Flush(); failed != nil {
		return failed
	}
	return err
}

func compare(cc *cli.Context, d *differences, a, b formats.Dataset, progress func(done, total int)) error {
	r, err := diff.Run(cc.Context, a, b, diff.Options{Workers: cc.Int("workers"), Progress: progress, OnChange: d.change, OnStart: func(onlyA, onlyB diff.OneSided) {
		d.oneSided("-", onlyA)
		d.oneSided("+", onlyB)
	}})
	if err != nil {
		return err
	}
	d.summary(r)
	if !r.Same() {
		return errDiffer
	}
	return nil
}

// differences writes the differences as lines of text or of JSON. Its output is buffered; flushing it
// returns the error of an earlier write.
type differences struct {
	console
	asJSON, quiet bool
}

func (d *differences) object(v any) { _ = writeJSON(d.out, v, "") }

// oneSided writes the fields and columns that only one side has. JSON has them in the summary.
func (d *differences) oneSided(sign string, l diff.OneSided) {
	if d.asJSON {
		return
	}
	for _, name := range l.Fields {
		d.printf("%s field %s\n", sign, printable(name))
	}
	for _, name := range l.Columns {
		d.printf("%s column %s\n", sign, printable(name))
	}
}

func (d *differences) change(c diff.Change) {
	switch {
	case d.quiet:
	case d.asJSON:
		d.object(c)
	case c.Kind == diff.ChangeAdded:
		d.printf("+ %s\n", printable(c.Key))
	case c.Kind == diff.ChangeRemoved:
		d.printf("- %s\n", printable(c.Key))
	default:
		what := make([]string, len(c.What))
		for i := range c.What {
			what[i] = differenceText(&c.What[i])
		}
		d.printf("~ %s: %s\n", printable(c.Key), strings.Join(what, ", "))
	}
}

func differenceText(d *diff.Difference) string {
	text := string(d.Aspect)
	if d.Aspect == diff.AspectUnreadable {
		for i, side := range [][]string{d.From, d.To} {
			if len(side) > 0 {
				text += " in " + "AB"[i:i+1] + " (" + printable(strings.Join(side, "; ")) + ")"
			}
		}
		return text
	}
	if d.Aspect == diff.AspectBytes || d.Aspect == diff.AspectPixels {
		if d.Field != "" {
			text += " of " + printable(d.Field)
		}
		return text
	}
	if d.Field != "" {
		text += " " + printable(d.Field)
	}
	return text + " " + listText(d.From) + " -> " + listText(d.To)
}

func listText(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return printable(strings.Join(values, ";"))
}

func (d *differences) summary(r *diff.Report) {
	if d.asJSON {
		d.object(map[string]any{"summary": r, "only_a": r.OnlyA, "only_b": r.OnlyB})
		return
	}
	d.printf("%d keys in both; %d added, %d removed, %d changed", r.Common, r.Added, r.Removed, r.Changed)
	sep := ": "
	for _, a := range []diff.Aspect{diff.AspectBytes, diff.AspectPixels, diff.AspectLabel, diff.AspectSplit, diff.AspectColumn, diff.AspectUnreadable} {
		if n := r.Aspects[a]; n > 0 {
			d.printf("%s%d %s", sep, n, a)
			sep = ", "
		}
	}
	d.printf("\n")
}

// side is one of two datasets that are compared.
type side struct {
	sources []string
	own     bool // dsconv wrote it
	formats.Dataset
}

func newSide(ctx context.Context, sources ...string) *side {
	s := &side{sources: sources}
	if len(sources) == 1 {
		f, err := detectFormat(ctx, sources[0])
		_, writable := f.(formats.WritableFormat)
		s.own = err == nil && writable // opening it returns the error
	}
	return s
}

// openPair opens two datasets; of sources is made one. Folders and datasets of other programs are read by the flags, else as the
// dataset beside them was packed.
func openPair(cc *cli.Context, c *console, sources []string, other string) (a, b *side, err error) {
	a, b = newSide(cc.Context, sources...), newSide(cc.Context, other)
	first, second := b, a
	if a.own {
		first, second = a, b
	}
	if err := first.open(cc, c, nil); err != nil {
		return nil, nil, err
	}
	if err := second.open(cc, c, first); err != nil {
		return nil, nil, errors.Join(err, first.Close())
	}
	return a, b, nil
}

// open opens s beside the dataset that is compared with it; nil if that is not open yet.
func (s *side) open(cc *cli.Context, c *console, beside *side) (err error) {
	var cfg folder.Config
	var read formats.ReadOptions
	switch {
	case s.own:
	case beside != nil && beside.own:
		if cfg, err = packedConfig(cc, beside.sources[0], beside.Meta(), s.sources...); err != nil {
			return err
		}
		cfg.Patterns = parsePatterns(cc)
		read, err = packedReadOptions(cc, beside.Meta().Recipe)
	default:
		if cfg, err = sourceConfig(cc, s.sources[0]); err != nil {
			return err
		}
		read, err = readOptions(cc)
	}
	if err != nil {
		return err
	}
	cfg.Stdin = c.in
	s.Dataset, err = openSources(cc.Context, s.sources, cfg, read)
	return err
}

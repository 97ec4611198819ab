package main

import (
	"bufio"
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
		ArgsUsage: "A B",
		Description: "Prints a line for each key that differs: + if only B has it, - if only A has it, ~ if both have it, and\n" +
			"what differs: bytes (as stored), pixels (as decoded), label, split, column. If bytes differ and pixels do\n" +
			"not, the image is encoded differently. Labels are compared by name. Samples with equal checksums are not\n" +
			"read.\n\n" +
			"Example:\n   dsconv diff images/ out.lmdb\n\n" +
			"Exit codes: 0 no difference, 1 differences or the command failed, 2 wrong usage.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object per line; the last one is the summary"},
			progressFlag(),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only the summary"},
			workersFlag("goroutines that read"),
		},
		Action: func(cc *cli.Context) error {
			show, err := newProgress(cc, c, progressWords{unit: "samples"})
			if err != nil {
				return err
			}
			a, args, err := openFirst(cc, "A", "B")
			if err != nil {
				return err
			}
			defer a.Close()
			b, err := openSource(cc.Context, args[1], folder.Config{})
			if err != nil {
				return err
			}
			defer b.Close()
			w := bufio.NewWriter(c.out)
			start := time.Now()
			err = compare(cc, &differences{console{out: w}, cc.Bool("json"), cc.Bool("quiet")}, a, b, func(done, total int) {
				show.show(convert.Progress{Path: args[1], Done: done, Total: total, Elapsed: time.Since(start)})
			})
			show.end()
			return errors.Join(err, w.Flush())
		},
	}
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
		return errors.New("the datasets differ")
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
	for _, a := range []diff.Aspect{diff.AspectBytes, diff.AspectPixels, diff.AspectLabel, diff.AspectSplit, diff.AspectColumn} {
		if n := r.Aspects[a]; n > 0 {
			d.printf("%s%d %s", sep, n, a)
			sep = ", "
		}
	}
	d.printf("\n")
}

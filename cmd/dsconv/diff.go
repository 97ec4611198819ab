package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

func diffCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two datasets, of any formats, or folders",
		ArgsUsage: "A B",
		Description: "A line for each key that differs: + only B has it, - only A has it, ~ both have it, and what differs:\n" +
			"bytes (as stored), pixels (as decoded), label, split, column. Bytes without pixels are another encoding\n" +
			"of the same image. Labels are compared by name. What has equal checksums is not read.\n\n" +
			"Example:\n   dsconv diff images/ out.lmdb\n\n" +
			"Exit codes: 0 nothing differs, 1 something does, or the command failed, 2 wrong usage.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "a JSON object a line; the last one sums up"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no lines for keys"},
			&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines that read", DefaultText: "the number of cores"},
		},
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "A", "B")
			if err != nil {
				return err
			}
			a, err := openSource(cc.Context, args[0], folder.Config{})
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
			err = compare(cc, &differences{w: w, json: cc.Bool("json"), quiet: cc.Bool("quiet")}, a, b)
			return errors.Join(err, w.Flush())
		},
	}
}

func compare(cc *cli.Context, d *differences, a, b formats.Dataset) error {
	onlyA, onlyB := diff.Layouts(a.Meta(), b.Meta())
	d.layout("-", onlyA)
	d.layout("+", onlyB)
	sum, err := diff.Compare(cc.Context, a, b, cc.Int("workers"), d.change)
	if err != nil {
		return err
	}
	d.summary(&sum, onlyA, onlyB)
	if d.err == nil && (!sum.Empty() || !onlyA.Empty() || !onlyB.Empty()) {
		return errors.New("the datasets differ")
	}
	return d.err
}

// differences writes what was found, as lines of text or of JSON.
type differences struct {
	w           io.Writer
	json, quiet bool
	err         error
}

func (d *differences) printf(format string, args ...any) {
	if d.err == nil {
		d.err = printTo(d.w, format, args...)
	}
}

func (d *differences) object(v any) {
	if d.err == nil {
		d.err = writeJSON(d.w, v, "")
	}
}

// layout writes the fields and columns that only one side has; the JSON has them at the end.
func (d *differences) layout(sign string, l diff.Layout) {
	if d.json {
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
	case d.json:
		d.object(c)
	case c.Kind == diff.Added:
		d.printf("+ %s\n", printable(c.Key))
	case c.Kind == diff.Removed:
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
	if d.Aspect == diff.Bytes || d.Aspect == diff.Pixels {
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

func listText(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return printable(strings.Join(words, ";"))
}

func (d *differences) summary(s *diff.Summary, onlyA, onlyB diff.Layout) {
	if d.json {
		d.object(map[string]any{"summary": s, "only_a": onlyA, "only_b": onlyB})
		return
	}
	d.printf("%d keys in both; %d added, %d removed, %d changed", s.Common, s.Added, s.Removed, s.Changed)
	sep := ": "
	for _, a := range []diff.Aspect{diff.Bytes, diff.Pixels, diff.Label, diff.Split, diff.Column} {
		if n := s.Aspects[a]; n > 0 {
			d.printf("%s%d %s", sep, n, a)
			sep = ", "
		}
	}
	d.printf("\n")
}

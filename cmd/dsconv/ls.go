package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// lsRow is a line of ls --json.
type lsRow struct {
	Index    int      `json:"index"`
	Key      string   `json:"key"`
	Split    string   `json:"split,omitempty"`
	Label    int64    `json:"label"`
	Class    string   `json:"class,omitempty"`
	Number   *float32 `json:"number,omitempty"` // the label if it is a number to predict
	Bytes    int64    `json:"bytes"`
	Encoding string   `json:"encoding,omitempty"`
	Shape    []int    `json:"shape,omitempty"`
	Source   string   `json:"source,omitempty"`
	Columns  []string `json:"columns,omitempty"`

	numbers bool // labels are numbers to predict; this one may be missing
}

func lsCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "ls",
		Usage:     "list the keys of a dataset",
		ArgsUsage: "DATASET",
		Description: "Names with unprintable characters are printed quoted, with --json as escapes. The \"index\" of\n" +
			"--json is a sample's index among the listed ones, from 0; with --split that is the index in the split,\n" +
			"as loaders use it.\n\n" +
			"Example:\n   dsconv ls out.lmdb --long --split val\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "long", Aliases: []string{"l"}, Usage: "also print label, class, split, encoding, shape and size"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"},
			&cli.StringFlag{Name: "split", Usage: "list only this `SPLIT`"},
		},
		Action: func(cc *cli.Context) error {
			ds, _, err := openFirst(cc, "DATASET")
			if err != nil {
				return err
			}
			defer ds.Close()
			if err := checkSplit(cc, ds); err != nil {
				return err
			}
			w := bufio.NewWriter(c.out)
			if err := list(w, ds, cc); err != nil {
				return err
			}
			return w.Flush()
		},
	}
}

func list(w io.Writer, ds formats.Dataset, cc *cli.Context) error {
	classes, asJSON, long := ds.Meta().Classes(), cc.Bool("json"), cc.Bool("long")
	numbers := ds.Meta().Schema.LabelIndex()
	if numbers >= 0 && ds.Meta().Schema[numbers].Kind != formats.Number {
		numbers = -1
	}
	var s formats.Sample
	var line []byte
	lines := newJSONWriter(w, "")
	index := 0 // in the split, with --split
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err != nil {
			return err
		}
		if cc.IsSet("split") && in.Split != cc.String("split") {
			continue
		}
		row := newLsRow(index, &in, classes)
		if numbers >= 0 && (asJSON || long) {
			row.numbers = true
			if row.Number, err = numberAt(ds, i, numbers, &s); err != nil {
				return err
			}
		}
		index++
		if asJSON {
			err = lines.write(&row)
		} else {
			line = append(row.appendText(line[:0], long), '\n')
			_, err = w.Write(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numberAt reads the number in field k of sample i; nil if it has none.
func numberAt(ds formats.Dataset, i, k int, s *formats.Sample) (*float32, error) {
	if err := ds.Read(i, s); err != nil {
		return nil, err
	}
	x, ok := s.Values[k].Float32()
	if !ok || math.IsNaN(float64(x)) {
		return nil, nil
	}
	return &x, nil
}

func newLsRow(index int, in *formats.Info, classes []string) lsRow {
	r := lsRow{
		Index: index, Key: in.Key, Split: in.Split, Label: in.Label, Bytes: in.Size, Encoding: string(in.Encoding),
		Source: in.Source.Path, Columns: in.Columns,
	}
	if in.Label >= 0 && in.Label < int64(len(classes)) {
		r.Class = classes[in.Label]
	}
	if in.Shape != [3]int{} {
		r.Shape = in.Shape[:]
	}
	return r
}

// appendText appends the row as a line of text: the key, and with long the other columns.
func (r *lsRow) appendText(to []byte, long bool) []byte {
	to = appendPrintable(to, r.Key)
	if !long {
		return to
	}
	switch to = append(to, '\t'); {
	case r.Number != nil:
		to = append(to, labels.FormatFloat(*r.Number)...)
	case r.numbers:
		to = append(to, "nan"...)
	default:
		to = strconv.AppendInt(to, r.Label, 10)
	}
	for _, name := range []string{r.Class, r.Split, r.Encoding} {
		to = appendPrintable(append(to, '\t'), name)
	}
	return fmt.Appendf(to, "\t%v\t%d", r.Shape, r.Bytes)
}

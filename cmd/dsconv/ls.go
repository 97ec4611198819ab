package main

import (
	"bufio"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
)

// lsRow is a line of ls --json.
type lsRow struct {
	Index    int      `json:"index"`
	Key      string   `json:"key"`
	Split    string   `json:"split,omitempty"`
	Label    int64    `json:"label"`
	Class    string   `json:"class,omitempty"`
	Bytes    int64    `json:"bytes"`
	Encoding string   `json:"encoding,omitempty"`
	Shape    []int    `json:"shape,omitempty"`
	Source   string   `json:"source,omitempty"`
	Columns  []string `json:"columns,omitempty"`
}

func lsCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "ls",
		Usage:     "list the keys of a dataset",
		ArgsUsage: "DATASET",
		Description: "A name with unprintable characters is shown quoted, and with escapes by --json.\n\n" +
			"Example:\n   dsconv ls out.lmdb --long --split val\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "long", Aliases: []string{"l"}, Usage: "label, class, split, size and shape too"},
			&cli.BoolFlag{Name: "json", Usage: "a JSON object a line"},
			&cli.StringFlag{Name: "split", Usage: "only this `SPLIT`"},
		},
		Action: func(cc *cli.Context) error {
			ds, err := openOne(cc, "DATASET")
			if err != nil {
				return err
			}
			defer ds.Close()
			w := bufio.NewWriter(c.out)
			if err := list(w, ds, cc); err != nil {
				return err
			}
			return w.Flush()
		},
	}
}

func list(w io.Writer, ds formats.Dataset, cc *cli.Context) error {
	classes := ds.Meta().Classes()
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err != nil {
			return err
		}
		if cc.IsSet("split") && in.Split != cc.String("split") {
			continue
		}
		row := rowOf(i, &in, classes)
		switch {
		case cc.Bool("json"):
			err = writeJSON(w, row, "")
		case cc.Bool("long"):
			err = printTo(w, "%s\t%d\t%s\t%s\t%s\t%v\t%d\n", printable(row.Key), row.Label, printable(row.Class),
				printable(row.Split), printable(row.Encoding), row.Shape, row.Bytes)
		default:
			err = printTo(w, "%s\n", printable(row.Key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func rowOf(i int, in *formats.Info, classes []string) lsRow {
	r := lsRow{
		Index: i, Key: in.Key, Split: in.Split, Label: in.Label, Bytes: in.Size, Encoding: string(in.Encoding),
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

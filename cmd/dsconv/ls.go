package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/guard"
)

// lsRow is a line of ls --json.
type lsRow struct {
	Index  int      `json:"index"`
	Key    string   `json:"key"`
	Split  string   `json:"split,omitempty"`
	Label  int64    `json:"label"`
	Class  string   `json:"class,omitempty"`
	Number *float32 `json:"number,omitempty"` // the label if it is a number to predict
	// Labels has the value of each label field if there are several, or several labels of one image: the
	// name of a class, a list of names, a number, or null without a label.
	Labels   map[string]any `json:"labels,omitempty"`
	Bytes    int64          `json:"bytes"`
	Encoding string         `json:"encoding,omitempty"`
	Shape    []int          `json:"shape,omitempty"`
	Source   string         `json:"source,omitempty"`
	Columns  []string       `json:"columns,omitempty"`

	numbers bool     // labels are numbers to predict; this one may be missing
	names   []any    // the labels, if an image may have several
	indices []int    // of these labels
	more    []string // the other label fields, as text
}

func lsCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "ls",
		Usage:     "list the keys of a dataset",
		ArgsUsage: "DATASET [KEY...]",
		Description: "Names with unprintable characters are printed quoted, with --json as escapes. The \"index\" of --json is\n" +
			"a sample's index in the dataset, from 0; with --split that is the index in the split, as loaders use it.\n" +
			"Several labels of an image are separated by semicolons.\n\n" + selectionHelp + "\n\n" +
			"Examples:\n   dsconv ls out.lmdb --long --split val\n   dsconv ls out.lmdb --class cat | dsconv rm out.lmdb --keys-from -\n\n" + exitCodes,
		Flags: append(readFlags("DATASET"), selectionFlags(
			&cli.BoolFlag{Name: "long", Aliases: []string{"l"}, Usage: "also print labels, classes, split, encoding, shape and size"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"},
		)...),
		Action: func(cc *cli.Context) error { return ls(cc, c) },
	}
}

func ls(cc *cli.Context, c *console) error {
	args, err := argumentsOrMore(cc, "DATASET")
	if err != nil {
		return err
	}
	s, err := parseSelection(cc, c, args[1:])
	if err != nil {
		return err
	}
	ds, err := openSource(cc, args[0], folder.Config{})
	if err != nil {
		return err
	}
	defer ds.Close()
	only, err := s.choose(ds)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(c.out)
	if err := newLister(w, ds, s.splits, cc.Bool("json"), cc.Bool("long")).list(cc.Context, only); err != nil {
		return err
	}
	return w.Flush()
}

// lister lists the samples of a dataset.
type lister struct {
	w            io.Writer
	ds           formats.Dataset
	splits       []string
	asJSON, long bool
	labels       *labelReader
	fields       []int // the label fields
	json         *jsonWriter
	line         []byte
}

func newLister(w io.Writer, ds formats.Dataset, splits []string, asJSON, long bool) *lister {
	l := &lister{w: w, ds: ds, splits: splits, asJSON: asJSON, long: long, labels: newLabelReader(ds), json: newJSONWriter(w, "")}
	l.fields = l.labels.fields()
	return l
}

func (l *lister) list(ctx context.Context, only *chosenSamples) error {
	index := 0 // in the splits, if they are named
	for i := range l.ds.Len() {
		if len(l.splits) == 0 {
			index = i
			if !only.has(i) {
				continue
			}
		}
		in, err := l.ds.Info(i)
		if err != nil {
			return err
		}
		if len(l.splits) > 0 && !slices.Contains(l.splits, in.Split) {
			continue
		}
		if only.has(i) {
			if err := errors.Join(ctx.Err(), l.row(index, i, &in)); err != nil {
				return err
			}
		}
		index++
	}
	return nil
}

// row writes the row of sample i, described by in.
func (l *lister) row(index, i int, in *formats.Info) error {
	row := newLsRow(index, in, l.ds.Meta().Classes())
	if (l.asJSON || l.long) && (len(l.fields) > 1 || !l.labels.inInfo()) {
		if err := l.labels.use(i, func(values []formats.Value) { row.setLabels(l.labels, l.fields, values) }); err != nil {
			return err
		}
	}
	if l.asJSON {
		return l.json.write(&row)
	}
	l.line = append(row.appendText(l.line[:0], l.long), '\n')
	_, err := l.w.Write(l.line)
	return err
}

// setLabels sets the labels that are not in Info.
func (r *lsRow) setLabels(labels *labelReader, fields []int, values []formats.Value) {
	main := &labels.schema[labels.main]
	r.numbers = main.Kind == formats.Number
	if len(fields) > 1 || main.Kind == formats.MultiHot {
		r.Labels = map[string]any{}
	}
	for _, k := range fields {
		f := &labels.schema[k]
		label := labelOf(f, &values[k])
		if r.Labels != nil {
			r.Labels[f.Name] = label
		}
		if k != labels.main {
			r.more = append(r.more, f.Name+"="+labelText(label))
			continue
		}
		switch label := label.(type) {
		case float32:
			r.Number = &label
		case []any:
			r.names = label
			for x, set := range values[k].Data {
				if set != 0 {
					r.indices = append(r.indices, x)
				}
			}
		}
	}
}

// labelText returns a label of labelOf for a line of text.
func labelText(label any) string {
	switch label := label.(type) {
	case nil:
		return ""
	case float32:
		return labels.FormatFloat(label)
	case []any:
		return joinedText(label)
	}
	return fmt.Sprint(label)
}

func joinedText[T any](list []T) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = fmt.Sprint(x)
	}
	return strings.Join(texts, ";")
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
	case len(r.indices) > 0:
		to = append(to, joinedText(r.indices)...)
	default:
		to = strconv.AppendInt(to, r.Label, 10)
	}
	class := r.Class
	if r.names != nil {
		class = joinedText(r.names)
	}
	for _, name := range []string{class, r.Split, r.Encoding} {
		to = appendPrintable(append(to, '\t'), name)
	}
	to = fmt.Appendf(to, "\t%v\t%d", r.Shape, r.Bytes)
	for _, text := range r.more {
		to = appendPrintable(append(to, '\t'), text)
	}
	return to
}

// labelReader reads the labels of samples, also those that are not in Info. It belongs to one goroutine.
type labelReader struct {
	ds     formats.Dataset
	schema formats.Schema
	main   int // the designated label, or -1
	viewer formats.Viewer
	sample formats.Sample
}

func newLabelReader(ds formats.Dataset) *labelReader {
	r := &labelReader{ds: ds, schema: ds.Meta().Schema, main: ds.Meta().Schema.LabelIndex()}
	r.viewer, _ = ds.(formats.Viewer) // it copies no image
	return r
}

// inInfo reports whether the designated label is an index, which Info has.
func (r *labelReader) inInfo() bool { return r.main < 0 || r.schema[r.main].Kind == formats.Label }

// fields returns the label fields.
func (r *labelReader) fields() (list []int) {
	for k, f := range r.schema {
		if f.Kind.IsLabel() {
			list = append(list, k)
		}
	}
	return list
}

// use calls do with the values of sample i.
func (r *labelReader) use(i int, do func(values []formats.Value)) error {
	if r.viewer == nil {
		if err := r.ds.Read(i, &r.sample); err != nil {
			return err
		}
		do(r.sample.Values)
		return nil
	}
	if err := r.viewer.View(i, &r.sample); err != nil {
		return err
	}
	err := guard.Use(&r.sample, func() error {
		do(r.sample.Values)
		return nil
	})
	if err != nil {
		return fmt.Errorf("key %q: %w", r.sample.Key, err)
	}
	return nil
}

// classIndex returns the index of a class of the designated label. A class without a name is named by its index.
func (r *labelReader) classIndex(name string) (int64, bool) {
	if r.main < 0 || r.schema[r.main].Kind == formats.Number {
		return 0, false
	}
	classes := r.schema[r.main].Classes
	if len(classes) > 0 {
		x := slices.Index(classes, name)
		return int64(x), x >= 0
	}
	x, err := strconv.ParseInt(name, 10, 64)
	return x, err == nil && x >= 0
}

// hasAny reports whether sample i, described by in, has a label of those indices.
func (r *labelReader) hasAny(i int, in *formats.Info, wanted map[int64]bool) (any bool, err error) {
	if r.inInfo() {
		return wanted[in.Label], nil
	}
	err = r.use(i, func(values []formats.Value) {
		for x, set := range values[r.main].Data {
			any = any || set != 0 && wanted[int64(x)]
		}
	})
	return any, err
}

// labelOf returns the label v of field f for people and for JSON: the name of a class, a list of names, or a
// number; nil is no label.
func labelOf(f *formats.Field, v *formats.Value) any {
	switch f.Kind {
	case formats.Number:
		if x, ok := v.Float32(); ok && !math.IsNaN(float64(x)) {
			return x
		}
	case formats.MultiHot:
		names := []any{}
		for x, set := range v.Data {
			if set != 0 {
				names = append(names, className(f, int64(x)))
			}
		}
		return names
	default:
		if x, ok := v.Int64(); ok && x >= 0 {
			return className(f, x)
		}
	}
	return nil
}

// className returns the name of class x, or x if it has none.
func className(f *formats.Field, x int64) any {
	if x < int64(len(f.Classes)) {
		return f.Classes[x]
	}
	return x
}

package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// Labels is a table of new labels.
type Labels struct {
	// Name is that of the table in errors, such as its file; "" is none.
	Name    string
	ByPath  bool     // rows are found by the sample's source path, else by its key
	Columns []string // names of label fields ("label" is the designated one), of the user's columns, or "split"
	// Rows are the cells of each sample, one for each column, by its key or path.
	Rows map[string][]string
	// Choose, if not nil, is called with the dataset, and returns whether the sample of an index gets Cells. Then
	// there are no Rows.
	Choose func(formats.Dataset) (func(i int) bool, error)
	Cells  []string
	// Sep is between several labels of a multi-hot field; "" is what the dataset was packed with.
	Sep string
	// Type says what numbers are that are not yet classes of the dataset: "index" or "name", or
	// "COLUMN=TYPE,COLUMN=TYPE" for some columns; "" is as the dataset was packed.
	Type string
	// KnownClasses refuses labels that would be new classes, and KnownSplits splits that the dataset has not: they may be typing
	// errors. A dataset without splits may get those with usual names (formats.SplitWords).
	KnownClasses, KnownSplits bool
}

// RelabelReport is the result of Relabel.
type RelabelReport struct {
	Report
	Relabelled `json:"what"`
}

// Relabelled counts what Relabel found. With Options.DryRun nothing was changed.
type Relabelled struct {
	Changed    int      `json:"changed"`
	Unchanged  int      `json:"unchanged"`     // rows that change nothing
	Without    int      `json:"without_label"` // cells without a label
	NewClasses []string `json:"new_classes,omitempty"`
}

// Relabel sets the labels, splits and columns of a table in the dataset at path. The dataset records what
// was changed, so that Add keeps it. New classes come after the old ones; samples that are not in
// the table keep their labels. No image is decoded.
//
// A row without a sample is an error (formats.ErrKey), and nothing is changed. With an error of the run
// comes a report.
func Relabel(ctx context.Context, reg formats.Registry, path string, table Labels, o Options) (*RelabelReport, error) {
	if err := o.check(ctx, "edit.Relabel", path); err != nil {
		return nil, err
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	r := &relabeler{target: t, table: &table, meta: *t.Meta(), labels: map[int]*labels.Column{}}
	p, err := r.plan(ctx, o.converting())
	if err != nil {
		if table.Name != "" {
			err = fmt.Errorf("%s: %w", table.Name, err)
		}
		return nil, err
	}
	done, err := finish(ctx, p, t.format, path, t.Len(), &o)
	return &RelabelReport{Report: *done, Relabelled: r.found}, err
}

// plan plans the new version. The plan is nil if there is nothing to do.
func (r *relabeler) plan(ctx context.Context, o convert.Options) (*convert.Plan, error) {
	if err := r.asPacked(); err != nil {
		return nil, err
	}
	if err := r.columns(); err != nil {
		return nil, err
	}
	rows, err := r.rows()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.readLabels(rows), r.checkSplits(rows)); err != nil {
		return nil, err
	}
	t := r.target
	v := t.subset(func(int) bool { return true })
	v.union.meta = r.meta
	v.union.sources[0] = newUnionSource(t.Dataset, true, &r.meta)
	if v.union.removed, err = t.Removed(); err != nil {
		return nil, err
	}
	if err := r.changes(ctx, v, rows); err != nil {
		return nil, err
	}
	if r.found.Changed == 0 {
		return nil, nil
	}
	if l := t.Meta().Schema.LabelIndex(); l >= 0 {
		r.found.NewClasses = r.meta.Classes()[len(t.Meta().Classes()):]
	}
	return v.plan(ctx, o)
}

// asPacked sets what the table leaves open to what the dataset was packed with.
func (r *relabeler) asPacked() (err error) {
	recipe := r.target.Meta().Recipe
	if r.table.Sep == "" {
		r.table.Sep = recipe["label-sep"]
	}
	r.types, err = labels.ParseTypes(cmp.Or(r.table.Type, recipe["label-type"]))
	return err
}

// changes sets the change of each sample of v that has a row.
func (r *relabeler) changes(ctx context.Context, v *version, rows [][]string) error {
	for i, row := range rows {
		if row == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := r.change(i, row)
		if err != nil {
			return err
		}
		v.union.samples[i].change = c
		if c == nil {
			r.found.Unchanged++
		} else {
			r.found.Changed++
		}
	}
	return nil
}

type relabeler struct {
	target *target
	table  *Labels
	types  labels.Types
	meta   formats.Meta           // of the new version
	field  []int                  // by column of the table: its field, or -1
	column []int                  // by column of the table: the user's column, or -1
	labels map[int]*labels.Column // by label field of the table
	found  Relabelled
}

const splitColumn = "split"

// columns finds the field or column of each column of the table.
func (r *relabeler) columns() error {
	schema := slices.Clone(r.meta.Schema)
	for i := range schema {
		schema[i].Classes = slices.Clone(schema[i].Classes)
	}
	r.meta.Schema = schema
	for _, name := range r.table.Columns {
		field := schema.Index(name)
		if field >= 0 && !schema[field].Kind.IsLabel() {
			field = -1
		}
		if field < 0 && name == "label" {
			field = schema.LabelIndex()
		}
		column := slices.Index(r.meta.Columns, name)
		if field < 0 && column < 0 && name != splitColumn {
			return fmt.Errorf("unknown column %q; the dataset has: %s",
				name, strings.Join(r.validColumns(), ", "))
		}
		r.field, r.column = append(r.field, field), append(r.column, column)
	}
	if len(r.table.Columns) == 0 {
		return errors.New("the table has no columns besides the samples' keys or paths")
	}
	return nil
}

func (r *relabeler) validColumns() []string {
	var names []string
	for _, f := range r.meta.Schema {
		if f.Kind.IsLabel() {
			names = append(names, f.Name)
		}
	}
	return append(append(names, r.meta.Columns...), splitColumn)
}

// rows returns the table's row of each sample, nil if it has none. A row without a sample is an error.
func (r *relabeler) rows() ([][]string, error) {
	if r.table.Choose != nil {
		return r.sameRows()
	}
	rows := make([][]string, r.target.Len())
	unused := maps.Clone(r.table.Rows)
	for i := range rows {
		in, err := r.target.Info(i)
		if err != nil {
			return nil, err
		}
		name := in.Key
		if r.table.ByPath {
			name = in.Source.Path
		}
		row, ok := r.table.Rows[name]
		if _, first := unused[name]; ok && !first {
			return nil, fmt.Errorf("%w: the dataset has several samples of the path %q: name them by key", formats.ErrKey, name)
		}
		if ok && len(row) != len(r.table.Columns) {
			return nil, fmt.Errorf("%w: the row of %q has %d cells, the table has %d columns besides the key or path",
				formats.ErrKey, name, len(row), len(r.table.Columns))
		}
		rows[i] = row
		delete(unused, name)
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("%w: the table has %d keys or paths that are not in the dataset, such as %q",
			formats.ErrKey, len(unused), slices.Min(slices.Collect(maps.Keys(unused))))
	}
	return rows, nil
}

// sameRows returns the one row of all chosen samples.
func (r *relabeler) sameRows() ([][]string, error) {
	if len(r.table.Rows) > 0 || len(r.table.Cells) != len(r.table.Columns) {
		return nil, fmt.Errorf("edit.Relabel: with Choose give one cell in Cells for each of Columns, and no Rows; there are %d cells for %d columns",
			len(r.table.Cells), len(r.table.Columns))
	}
	chosen, err := r.target.choose(r.table.Choose)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, r.target.Len())
	for i := range rows {
		if chosen(i) {
			rows[i] = r.table.Cells
		}
	}
	return rows, nil
}

// readLabels parses the table's labels. The dataset's classes keep their indices; new classes come
// after them.
func (r *relabeler) readLabels(rows [][]string) error {
	for c, k := range r.field {
		if k < 0 {
			continue
		}
		f := &r.meta.Schema[k]
		src := labels.Source{Column: r.table.Columns[c], Type: r.types.For(f.Name), Like: f}
		if f.Kind == formats.MultiHot {
			src.Sep = r.table.Sep
		}
		var samples []int
		for i, row := range rows {
			if row != nil {
				samples, src.Cells = append(samples, i), append(src.Cells, row[c])
			}
		}
		src.Where = func(i int) string { return r.where(samples[i]) }
		column, err := src.Read()
		if err != nil {
			return err
		}
		r.labels[k] = column
		if more := column.Classes[len(f.Classes):]; r.table.KnownClasses && len(more) > 0 {
			return fmt.Errorf("column %q: the class %s: %w; it has %s", src.Column, shortened(more), ErrNewName, shortened(f.Classes))
		}
		for _, cell := range src.Cells {
			if !column.Has(cell) {
				r.found.Without++
			}
		}
		if f.Classes = column.Classes; f.Kind == formats.MultiHot && f.Shape != nil {
			f.Shape = []int{len(f.Classes)}
		}
	}
	return nil
}

// ErrNewName is returned by Relabel for a class or a split that the dataset has not, with Labels.KnownClasses or KnownSplits.
var ErrNewName = errors.New("the dataset has no such name")

// shortened lists the first names.
func shortened(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// checkSplits returns an error if a row has a new split and none is expected.
func (r *relabeler) checkSplits(rows [][]string) error {
	var names []string
	for _, s := range r.meta.Splits {
		names = append(names, s.Name)
	}
	for c, name := range r.table.Columns {
		if !r.table.KnownSplits || name != splitColumn || r.field[c] >= 0 || r.column[c] >= 0 {
			continue
		}
		for i, row := range rows {
			if row == nil || row[c] == "" || slices.Contains(names, row[c]) || len(names) == 0 && formats.IsSplitWord(row[c]) {
				continue
			}
			return fmt.Errorf("%s: the split %q: %w; it has %s", r.where(i), row[c], ErrNewName, shortened(names))
		}
	}
	return nil
}

// where names sample i by its key or path, as the table does.
func (r *relabeler) where(i int) string {
	in, err := r.target.Info(i)
	if err != nil {
		return err.Error()
	}
	if r.table.ByPath {
		return fmt.Sprintf("path %q", in.Source.Path)
	}
	return fmt.Sprintf("key %q", in.Key)
}

// change returns what the row changes of sample i, nil if nothing.
func (r *relabeler) change(i int, row []string) (*change, error) {
	in, err := r.target.Info(i)
	if err != nil {
		return nil, err
	}
	var c change
	var s formats.Sample // read only for labels that are not in Info
	for k, cell := range row {
		switch field, column := r.field[k], r.column[k]; {
		case field >= 0:
			if err := r.changeLabel(&c, field, cell, i, &in, &s); err != nil {
				return nil, err
			}
		case column >= 0:
			if in.Columns[column] != cell {
				c.setColumn(column, cell)
			}
		case in.Split != cell:
			if err := formats.CheckSplit(cell); err != nil {
				return nil, fmt.Errorf("key %q: %w", in.Key, err)
			}
			c.split = &cell
		}
	}
	if c.sourceOnly() {
		return nil, nil
	}
	mark := in.Provenance
	mark.Edited |= c.edited(&r.meta)
	c.mark = &mark
	return &c, nil
}

func (r *relabeler) changeLabel(c *change, k int, cell string, i int, in *formats.Info, s *formats.Sample) error {
	f, column := &r.meta.Schema[k], r.labels[k]
	var v formats.Value
	switch f.Kind {
	case formats.Label:
		x := int64(formats.NoLabel)
		if list := column.Indices(cell); len(list) > 0 {
			x = list[0]
		}
		if k == r.meta.Schema.LabelIndex() {
			if x != in.Label {
				c.setLabel(k, x)
			}
			return nil
		}
		v.SetInt64(x)
	case formats.Number:
		v.SetFloat32(column.Number(cell))
	default:
		hot := make([]byte, len(f.Classes))
		for _, x := range column.Indices(cell) {
			hot[x] = 1
		}
		v = formats.Value{Data: hot, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(hot)}}
	}
	if len(s.Values) == 0 {
		if err := r.target.Read(i, s); err != nil {
			return err
		}
	}
	if string(s.Values[k].Data) != string(v.Data) {
		c.set(k, v)
	}
	return nil
}

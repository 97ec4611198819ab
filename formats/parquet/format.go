package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// Format opens images in Parquet files.
type Format struct{}

var (
	_ formats.Format        = Format{}
	_ formats.OptionsOpener = Format{}
)

// Name is "parquet".
func (Format) Name() string { return "parquet" }

// Aliases are what such datasets are called.
func (Format) Aliases() []string { return []string{"huggingface", "hf"} }

// Match reports whether path is a Parquet file with a column of images, or a folder whose first Parquet file has one.
// Tables of labels and dsconv's own manifests have none.
func (Format) Match(path string) bool {
	files, err := find(path)
	if err != nil || len(files) == 0 {
		return false
	}
	f, err := parquetfile.Open(files[0].path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return len(outlineOf(f).images) > 0
}

// Open opens the files at path.
func (f Format) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the files at path. The map's image and label are names of columns; its other entries are more fields,
// and then no others are.
func (Format) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	files, err := find(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, formats.NotFound(path)
	}
	if err == nil {
		err = checkSplits(path, files)
	}
	if err != nil {
		return nil, err
	}
	d := &dataset{path: path, cache: parquetfile.NewCache(cacheBytes)}
	if err := d.open(ctx, files, o); err != nil {
		return nil, errors.Join(err, d.closeFiles())
	}
	parts := d.parts
	d.gate.Open(path, func() error { return (&dataset{parts: parts}).closeFiles() })
	return d, nil
}

// cacheBytes is how much of decoded pages is kept.
const cacheBytes = 128 << 20

// open opens the files and finds what their columns are.
func (d *dataset) open(ctx context.Context, files []located, o formats.ReadOptions) error {
	var first *outline
	for _, at := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := parquetfile.Open(at.path)
		if err != nil {
			return err
		}
		d.parts = append(d.parts, part{File: f, split: at.split, from: d.meta.Count})
		outline := outlineOf(f)
		if first == nil {
			first = outline
			if d.roles, err = outline.roles(o.Map); err != nil {
				return err
			}
		}
		if err := d.place(&d.parts[len(d.parts)-1], outline, first); err != nil {
			return err
		}
		if f.Rows() > math.MaxInt32-d.meta.Count {
			return fmt.Errorf("%s: %w: it has more than %d samples", d.path, formats.ErrSchema, math.MaxInt32)
		}
		d.meta.Count += f.Rows()
	}
	if d.meta.Count == 0 {
		return fmt.Errorf("%s: its files have no rows", d.path)
	}
	_, mapped := o.Map["label"]
	if err := d.nameClasses(ctx, mapped); err != nil {
		return err
	}
	return d.describe(o)
}

// place finds the columns in a file, which must be those of the first one.
func (d *dataset) place(p *part, o, first *outline) error {
	index := map[string]int{}
	for i, c := range p.Columns() {
		index[c.Name()] = i
	}
	at := func(column string) (int, error) {
		c, ok := o.columns[column]
		if !ok || c.Type != first.columns[column].Type {
			return 0, fmt.Errorf("%s: %w: it has not the column %s of %s, or with another type", o.path, formats.ErrSchema, column, first.path)
		}
		return index[column], nil
	}
	for _, r := range slices.Concat(d.roles.fields, d.roles.columns) {
		pl := placed{path: -1}
		var err error
		if pl.column, err = at(r.column); err != nil {
			return err
		}
		if r.path != "" {
			if pl.path, err = at(r.path); err != nil {
				return err
			}
		}
		if !sameNames(o.features, first.features, r.column) {
			return fmt.Errorf("%s: %w: the classes of %s are not those of %s", o.path, formats.ErrSchema, r.column, first.path)
		}
		p.placed = append(p.placed, pl)
	}
	return nil
}

// describe sets the description, which no sample is read for.
func (d *dataset) describe(o formats.ReadOptions) error {
	m := &d.meta
	m.Format, m.Schema, m.Columns, m.Recipe = Format{}.Name(), d.roles.schema(), d.roles.columnNames(), o.Recipe()
	if err := m.Schema.Validate(); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	m.Version = 1
	m.Version = m.RequiredVersion()
	for i := 0; i < len(d.parts); {
		from, n := i, 0
		for ; i < len(d.parts) && d.parts[i].split == d.parts[from].split; i++ {
			n += d.parts[i].Rows()
		}
		for k := from; k < i; k++ {
			d.parts[k].splitFrom, d.parts[k].digits = d.parts[from].from, max(5, len(strconv.Itoa(max(n-1, 0))))
		}
		if name := d.parts[from].split; name != "" && n > 0 {
			m.Splits = append(m.Splits, formats.Split{Name: name, Count: n})
		}
	}
	for i := range d.parts {
		p := &d.parts[i]
		m.Stats.Bytes += p.Plain(p.placed[0].column)
	}
	return nil
}

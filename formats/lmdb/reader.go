package lmdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dataset is an open LMDB dataset.
type dataset struct {
	description.ValueReader
	extra   []int        // positions in the schema
	headers []npy.Parser // of each field's raw values
	images  *environment
	fields  *environment // nil without extra fields
}

var (
	_ formats.Dataset  = (*dataset)(nil)
	_ formats.Viewer   = (*dataset)(nil)
	_ formats.Checker  = (*dataset)(nil)
	_ formats.Salvager = Format{}
	_ formats.Removals = (*dataset)(nil)

	_ formats.Prefetcher = (*dataset)(nil)
)

// Open implements formats.Format.
func (Format) Open(path string) (formats.Dataset, error) {
	d, damage, err := open(path, false)
	if err != nil {
		return nil, err
	}
	if damage == nil {
		damage = d.checkSizes()
	}
	if damage != nil {
		return nil, errors.Join(damage, d.Close())
	}
	return d, nil
}

// Salvage implements formats.Salvager.
func (Format) Salvage(path string) (formats.Dataset, error) {
	d, _, err := open(path, true) // reads of damaged samples report the damage
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens the dataset at path as far as possible; damage is about the data files, err about
// the files that describe the dataset.
func open(path string, salvage bool) (d *dataset, damage, err error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, nil, err
	}
	path = filepath.Clean(path)
	meta, sums, err := sidecar.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if meta.Format != (Format{}).Name() {
		return nil, nil, fmt.Errorf("%s: %w: its %s says that the format is %q, not lmdb", path, formats.ErrNotDataset, manifest.MetaName, meta.Format)
	}
	d = &dataset{extra: extraFields(meta.Schema), headers: make([]npy.Parser, len(meta.Schema))}
	environments, damage := openEnvironments(path, meta.Schema)
	if d.images = environments[0]; len(d.extra) > 0 {
		d.fields = environments[1]
	}
	index, err := sidecar.Describe(path, meta, sums, places(environments, len(d.extra)), salvage)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll(environments))
	}
	d.ValueReader = description.ValueReader{Description: index, Path: path, Lend: d.lend}
	d.Gate.Open(path, func() error { return errors.Join(closeAll(environments), index.CloseIndex()) })
	return d, damage, nil
}

// openEnvironments opens the environment of images and, if there are extra fields, that of fields.
func openEnvironments(path string, schema formats.Schema) (list []*environment, damage error) {
	images, damage := openEnvironment(path, dataName, nil)
	list = []*environment{images}
	if extra := extraFields(schema); len(extra) > 0 {
		fields, more := openEnvironment(path, fieldsName+"/"+dataName, fieldNames(schema, extra))
		list, damage = append(list, fields), errors.Join(damage, more)
	}
	return list, damage
}

func closeAll(environments []*environment) (err error) {
	for _, e := range environments {
		err = errors.Join(err, e.close())
	}
	return err
}

// places are the locations of the values in the environments, whose extra fields are in that many databases.
func places(environments []*environment, fields int) sidecar.Places {
	p := sidecar.Places{Fields: fields, Locate: func(rows sampleindex.Rows) sampleindex.Rows {
		return func(yield func(r *sampleindex.Row) error) error {
			l, err := newLocator(environments, func(*environment, error) error { return nil })
			if err != nil {
				return err
			}
			return rows(func(r *sampleindex.Row) error {
				if err := l.locate(r); err != nil {
					return err
				}
				return yield(r)
			})
		}
	}}
	for _, e := range environments {
		p.Stamp = append(p.Stamp, e.stamp()...)
	}
	return p
}

func (d *dataset) environments() []*environment {
	if d.fields == nil {
		return []*environment{d.images}
	}
	return []*environment{d.images, d.fields}
}

// checkSizes compares the lengths of the data files with the table of checksums.
func (d *dataset) checkSizes() error {
	sums, err := checksum.ReadChecksums(d.Path)
	if err != nil {
		return err
	}
	for _, e := range d.environments() {
		i := slices.IndexFunc(sums, func(fs checksum.FileChecksums) bool { return fs.Name == e.name })
		if i < 0 {
			return fmt.Errorf("%s: %w: %s is not in the table of checksums", d.Path, formats.ErrDamaged, e.name)
		}
		if got := int64(len(e.data)); got != sums[i].Size {
			return fmt.Errorf("%s: %s: %w: it has %d bytes, but %d were written", d.Path, e.name, formats.ErrDamaged, got, sums[i].Size)
		}
	}
	return nil
}

// Removed implements formats.Removals.
func (d *dataset) Removed() ([]formats.RemovedSample, error) {
	if err := d.Gate.Check(); err != nil {
		return nil, err
	}
	return sidecar.ReadRemoved(d.Path, d.Meta())
}

// lend returns a value in the mapped file; see description.ValueReader.
func (d *dataset) lend(i int, e sampleindex.Entry, k int, shape []int) (v formats.Value, err error) {
	mark := guard.Now()
	field := &d.Meta().Schema[k]
	var b []byte
	if db := slices.Index(d.extra, k); db >= 0 {
		if b, err = d.fields.getAt(db, e.Field(db), d.Index().Key(i)); err != nil {
			return v, err
		}
		v, err = parseField(field, b, shape, &d.headers[k])
	} else {
		in, missing := d.Index().Info(i)
		if missing != nil {
			return v, missing
		}
		if b, err = d.images.getAt(0, e.Location(), in.Key); err != nil {
			return v, err
		}
		v, err = parseImage(field, &in, b, shape, &d.headers[k])
	}
	return v, guard.Since(mark, b, err)
}

package lmdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dataset is an open LMDB dataset.
type dataset struct {
	manifest.ValueReader
	extra   []int        // positions in the schema
	headers []npy.Parser // of each field's raw values
	images  *environment
	fields  *environment // nil without extra fields
	rows    []sampleindex.Row
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
	d, damage, err := open(path)
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
	d, _, err := open(path) // reads of damaged samples report the damage
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens the dataset at path as far as possible; damage is about the data files, err about
// the files that describe the dataset.
func open(path string) (d *dataset, damage, err error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, nil, err
	}
	path = filepath.Clean(path)
	description, err := sidecar.Read(path)
	if err != nil {
		return nil, nil, err
	}
	meta := description.Meta()
	if meta.Format != (Format{}).Name() {
		return nil, nil, fmt.Errorf("%s: %w: its %s says that the format is %q, not lmdb", path, formats.ErrNotDataset, manifest.MetaName, meta.Format)
	}
	d = &dataset{extra: extraFields(meta.Schema), headers: make([]npy.Parser, len(meta.Schema))}
	d.ValueReader = manifest.ValueReader{Description: description, Path: path, Lend: d.lend}
	d.images, damage = openEnvironment(path, dataName, nil)
	if len(d.extra) > 0 {
		var more error
		d.fields, more = openEnvironment(path, fieldsName+"/"+dataName, fieldNames(meta.Schema, d.extra))
		damage = errors.Join(damage, more)
	}
	environments := d.environments()
	d.Gate.Open(path, func() (err error) {
		for _, e := range environments {
			err = errors.Join(err, e.close())
		}
		return err
	})
	if err := d.findValues(); err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, damage, nil
}

// findValues finds where the values are.
func (d *dataset) findValues() error {
	return guard.Do(func() error {
		l, err := newLocator(d.environments(), func(*environment, error) error { return nil })
		if err != nil {
			return err
		}
		d.rows = make([]sampleindex.Row, d.Len())
		for i := range d.rows {
			d.rows[i].Key = d.Manifest.Key(i)
			if err := l.locate(&d.rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// locations sets r to the locations of the values of sample i.
func (d *dataset) locations(i int, r *sampleindex.Row) error {
	if err := d.Manifest.CheckIndex(i); err != nil {
		return err
	}
	r.Location, r.Fields = d.rows[i].Location, append(r.Fields[:0], d.rows[i].Fields...)
	return nil
}
func (d *dataset) key(i int) (string, error) { return d.Manifest.Key(i), nil }

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

// lend returns a value in the mapped file; see manifest.ValueReader.
func (d *dataset) lend(i, k int, shape []int) (v formats.Value, err error) {
	mark := guard.Now()
	field := &d.Meta().Schema[k]
	var b []byte
	if db := slices.Index(d.extra, k); db >= 0 {
		if b, err = d.fields.getAt(db, d.rows[i].Fields[db], d.Manifest.Key(i)); err != nil {
			return v, err
		}
		v, err = parseField(field, b, shape, &d.headers[k])
	} else {
		in, missing := d.Manifest.Info(i)
		if missing != nil {
			return v, missing
		}
		if b, err = d.images.getAt(0, d.rows[i].Location, in.Key); err != nil {
			return v, err
		}
		v, err = parseImage(field, &in, b, shape, &d.headers[k])
	}
	return v, guard.Since(mark, b, err)
}

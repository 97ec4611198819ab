//go:build cgo

package lmdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmatsuo/lmdb-go/lmdb"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// dataset is an open LMDB dataset.
type dataset struct {
	atrest.Reader
	sums    atrest.Sums
	further []int // places in the schema
	images  *environment
	fields  *environment // nil without further fields
}

var (
	_ formats.Dataset = (*dataset)(nil)
	_ formats.Viewer  = (*dataset)(nil)
	_ formats.Checker = (*dataset)(nil)
)

// Open implements formats.Format.
func (Format) Open(path string) (formats.Dataset, error) {
	path = filepath.Clean(path)
	catalog, err := atrest.ReadSidecar(path)
	if err != nil {
		return nil, err
	}
	meta := catalog.Meta()
	if meta.Format != (Format{}).Name() {
		return nil, fmt.Errorf("%s: %w: %s says that its format is %q", path, formats.ErrNotDataset, atrest.MetaName, meta.Format)
	}
	d := &dataset{further: furtherFields(meta.Schema)}
	d.Reader = atrest.Reader{Catalog: catalog, Path: path, Lend: d.lend}
	if d.sums, err = atrest.ReadSums(path); err != nil {
		return nil, err
	}
	if err := d.checkHeads(); err != nil {
		return nil, err
	}
	if d.images, err = openEnvironment(path, nil); err != nil {
		return nil, err
	}
	if len(d.further) == 0 {
		return d, nil
	}
	if d.fields, err = openEnvironment(filepath.Join(path, fieldsName), namesOf(meta.Schema, d.further)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// checkHeads looks at the length and the first block of each data file: LMDB believes its
// meta pages, and a page beyond the end of its map kills the process.
func (d *dataset) checkHeads() error {
	want := map[string]bool{dataName: true}
	if len(d.further) > 0 {
		want[fieldsName+"/"+dataName] = true
	}
	for _, fs := range d.sums {
		if !want[fs.Name] {
			continue
		}
		delete(want, fs.Name)
		path := filepath.Join(d.Path, filepath.FromSlash(fs.Name))
		st, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
		}
		if st.Size() != fs.Size {
			return fmt.Errorf("%s: %w: it has %d bytes, %d were written", path, formats.ErrDamaged, st.Size(), fs.Size)
		}
		head, err := atrest.SumFile(path, fs.Name, atrest.BlockSize)
		if err != nil {
			return err
		}
		if len(head.Blocks) == 0 || head.Blocks[0] != fs.Blocks[0] {
			return fmt.Errorf("%s: %w: the checksum of its first block differs", path, formats.ErrDamaged)
		}
	}
	for name := range want {
		return fmt.Errorf("%s: %w: %s is not in the table of checksums", d.Path, formats.ErrDamaged, name)
	}
	return nil
}

// lend gives a value in LMDB's memory map; see atrest.Reader.
func (d *dataset) lend(i, k int, shape []int) (v formats.Value, err error) {
	field := &d.Meta().Schema[k]
	var b []byte
	if db := slices.Index(d.further, k); db >= 0 {
		if b, err = d.fields.get(db, d.Table.Key(i)); err == nil {
			v, err = parseField(field, b, shape)
		}
		return v, damaged(err)
	}
	in, err := d.Info(i)
	if err != nil {
		return v, err
	}
	if b, err = d.images.get(0, in.Key); err == nil {
		v, err = parseImage(field, &in, b, shape)
	}
	return v, damaged(err)
}

// damaged adds formats.ErrDamaged to LMDB's own errors: a key of the manifest that is not
// there, a page that is none.
func damaged(err error) error {
	if err != nil && errors.As(err, new(*lmdb.OpError)) {
		return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	return err
}

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	return d.sums.Check(ctx, d.Path, 0, workers, report)
}

// CheckQuick implements formats.Checker.
func (d *dataset) CheckQuick(_ context.Context, report func(formats.Damage)) error {
	return d.sums.CheckSizes(d.Path, 0, report)
}

// Close implements formats.Dataset.
func (d *dataset) Close() error {
	var err error
	for _, e := range []*environment{d.images, d.fields} {
		if e != nil {
			err = errors.Join(err, e.close())
		}
	}
	d.images, d.fields = nil, nil
	return err
}

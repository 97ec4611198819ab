//go:build cgo

package lmdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bmatsuo/lmdb-go/lmdb"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// dataset is an open LMDB dataset.
type dataset struct {
	path    string
	meta    *formats.Meta
	table   *atrest.Table
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

func open(path string) (*dataset, error) {
	meta, table, err := atrest.ReadSidecar(path)
	if err != nil {
		return nil, err
	}
	if meta.Format != (Format{}).Name() {
		return nil, fmt.Errorf("%s: %w: %s says that its format is %q", path, formats.ErrNotDataset, atrest.MetaName, meta.Format)
	}
	d := &dataset{path: path, meta: meta, table: table, further: furtherFields(meta.Schema)}
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
	var names []string
	for _, i := range d.further {
		names = append(names, meta.Schema[i].Name)
	}
	if d.fields, err = openEnvironment(filepath.Join(path, fieldsName), names); err != nil {
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
		path := filepath.Join(d.path, filepath.FromSlash(fs.Name))
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
		return fmt.Errorf("%s: %w: %s is not in the table of checksums", d.path, formats.ErrDamaged, name)
	}
	return nil
}

// Meta implements formats.Dataset.
func (d *dataset) Meta() *formats.Meta { return d.meta }

// Len implements formats.Dataset.
func (d *dataset) Len() int { return d.table.Len() }

// Info implements formats.Dataset.
func (d *dataset) Info(i int) (formats.Info, error) { return d.table.Info(i) }

// Read implements formats.Dataset. The sample is compared with its checksum.
func (d *dataset) Read(i int, s *formats.Sample) error {
	if err := d.fill(i, s, false); err != nil {
		return fmt.Errorf("read %s: %w", d.path, err)
	}
	if s.Sum != [16]byte{} && atrest.Sum(d.meta.Schema, s) != s.Sum {
		return fmt.Errorf("read %s: key %q: %w: the checksum differs", d.path, s.Key, formats.ErrDamaged)
	}
	return nil
}

// View implements formats.Viewer.
func (d *dataset) View(i int, s *formats.Sample) error {
	if err := d.fill(i, s, true); err != nil {
		return fmt.Errorf("view %s: %w", d.path, err)
	}
	return nil
}

// fill sets s to sample i; lend says that Data points into mapped memory.
func (d *dataset) fill(i int, s *formats.Sample, lend bool) error {
	in, err := d.table.Info(i)
	if err != nil {
		return err
	}
	s.Resize(len(d.meta.Schema))
	d.table.Fill(i, s)
	image, label := d.meta.Schema.ImageIndex(), d.meta.Schema.LabelIndex()
	if label >= 0 && d.meta.Schema[label].Kind == formats.Label {
		v := &s.Values[label]
		if lend {
			v.Data = nil
		}
		v.SetInt64(in.Label)
	}
	dst := &s.Values[image]
	b, err := d.images.get(0, in.Key)
	if err == nil {
		var v formats.Value
		v, err = parseImage(&d.meta.Schema[image], &in, b, dst.Shape)
		assign(dst, v, lend)
	}
	if err != nil {
		return fmt.Errorf("key %q: %w", in.Key, damaged(err))
	}
	for db, i := range d.further {
		if err := d.fillField(db, i, s, lend); err != nil {
			return fmt.Errorf("key %q: field %s: %w", in.Key, d.meta.Schema[i].Name, damaged(err))
		}
	}
	return nil
}

func (d *dataset) fillField(db, i int, s *formats.Sample, lend bool) error {
	b, err := d.fields.get(db, s.Key)
	if err != nil {
		return err
	}
	dst := &s.Values[i]
	v, err := parseField(&d.meta.Schema[i], b, dst.Shape)
	assign(dst, v, lend)
	return err
}

// assign sets dst to v; the shape's memory is dst's already where it fits.
func assign(dst *formats.Value, v formats.Value, lend bool) {
	if !lend {
		v.Data = append(dst.Data[:0], v.Data...)
	}
	*dst = v
}

// damaged adds formats.ErrDamaged to LMDB's own errors: a key of the manifest that is not
// there, a page that is none.
func damaged(err error) error {
	if errors.As(err, new(*lmdb.OpError)) {
		return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	return err
}

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	return d.sums.Check(ctx, d.path, 0, workers, report)
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

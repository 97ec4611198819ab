//go:build cgo

package hdf5

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// dataset is an open HDF5 dataset. The library's file is closed again: all that is read
// lies in the mapping.
type dataset struct {
	path    string
	mapping *atrest.Mapping
	sums    atrest.FileSums
	tail    int64 // bytes behind HDF5's end of file
	meta    *formats.Meta
	rows    *atrest.Table
	images  *column
	fields  []*column // by place in the schema; nil for image and single label
}

var (
	_ formats.Dataset = (*dataset)(nil)
	_ formats.Viewer  = (*dataset)(nil)
	_ formats.Checker = (*dataset)(nil)
)

// Meta implements formats.Dataset.
func (d *dataset) Meta() *formats.Meta { return d.meta }

// Len implements formats.Dataset.
func (d *dataset) Len() int { return d.rows.Len() }

// Info implements formats.Dataset.
func (d *dataset) Info(i int) (formats.Info, error) { return d.rows.Info(i) }

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
	if i < 0 || i >= d.Len() {
		_, err := d.rows.Info(i)
		return err
	}
	s.Resize(len(d.meta.Schema))
	d.rows.Fill(i, s)
	if label := d.meta.Schema.LabelIndex(); hasLabels(d.meta.Schema) {
		if lend {
			s.Values[label].Data = nil
		}
		s.Values[label].SetInt64(d.rows.Label(i))
	}
	dst := &s.Values[d.meta.Schema.ImageIndex()]
	v, err := d.image(i, dst.Shape)
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	assign(dst, v, lend)
	for k, c := range d.fields {
		if c == nil {
			continue
		}
		dst := &s.Values[k]
		v, err := c.value(i, dst.Shape)
		if err != nil {
			return fmt.Errorf("key %q: field %s: %w", s.Key, d.meta.Schema[k].Name, err)
		}
		assign(dst, v, lend)
	}
	return nil
}

// image is the designated image of sample i. Data is lent, Shape is appended to shape[:0].
func (d *dataset) image(i int, shape []int) (formats.Value, error) {
	b, err := d.images.bytes(i)
	if err != nil {
		return formats.Value{}, err
	}
	in, err := d.rows.Info(i)
	if err != nil {
		return formats.Value{}, err
	}
	if int64(len(b)) != in.Size {
		return formats.Value{}, fmt.Errorf("%w: it has %d bytes, %d were written", formats.ErrDamaged, len(b), in.Size)
	}
	f := &d.meta.Schema[d.meta.Schema.ImageIndex()]
	v := formats.Value{Data: b, Encoding: in.Encoding, DType: f.DType, Shape: shape[:0]}
	if in.Shape != [3]int{} || in.Encoding == formats.Raw {
		v.Shape = append(v.Shape, in.Shape[:]...)
	}
	switch {
	case v.DType != "":
	case v.Encoding == formats.Raw:
		v.DType = atrest.ElementType(v.Shape, uint64(len(b)))
	case v.Encoding == formats.RawZstd:
		v.DType = atrest.FrameType(v.Shape, b)
	}
	return v, nil
}

// assign sets dst to v; the shape's memory is dst's already where it fits.
func assign(dst *formats.Value, v formats.Value, lend bool) {
	if !lend {
		v.Data = append(dst.Data[:0], v.Data...)
	}
	*dst = v
}

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	if _, err := parseFooter(d.mapping.Data); err != nil {
		return fmt.Errorf("check %s: %w", d.path, err)
	}
	return d.relative().Check(ctx, filepath.Dir(d.path), d.tail, workers, report)
}

// Close implements formats.Dataset.
func (d *dataset) Close() error { return d.mapping.Close() }

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
	atrest.Reader
	mapping *atrest.Mapping
	sums    atrest.FileSums
	tail    int64 // bytes behind HDF5's end of file
	images  *column
	fields  []*column // by place in the schema; nil for image and single label
}

var (
	_ formats.Dataset = (*dataset)(nil)
	_ formats.Viewer  = (*dataset)(nil)
	_ formats.Checker = (*dataset)(nil)
)

// lend gives a value in the mapping; see atrest.Reader.
func (d *dataset) lend(i, k int, shape []int) (formats.Value, error) {
	if c := d.fields[k]; c != nil {
		return c.value(i, shape)
	}
	return d.image(i, shape)
}

// image is the designated image of sample i. Data is lent, Shape is appended to shape[:0].
func (d *dataset) image(i int, shape []int) (formats.Value, error) {
	b, err := d.images.bytes(i)
	if err != nil {
		return formats.Value{}, err
	}
	in, err := d.Info(i)
	if err != nil {
		return formats.Value{}, err
	}
	if int64(len(b)) != in.Size {
		return formats.Value{}, fmt.Errorf("%w: it has %d bytes, %d were written", formats.ErrDamaged, len(b), in.Size)
	}
	schema := d.Meta().Schema
	f := &schema[schema.ImageIndex()]
	v := formats.Value{Data: b, Encoding: in.Encoding, DType: f.DType, Shape: shape[:0]}
	if in.Shape != [3]int{} || in.Encoding == formats.Raw {
		v.Shape = append(v.Shape, in.Shape[:]...)
	}
	switch v.Encoding {
	case formats.Raw:
		v.DType = imageType(f, &in)
	case formats.RawZstd:
		v.DType = atrest.FrameType(f, v.Shape, b)
	}
	return v, nil
}

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	if _, err := parseFooter(d.mapping.Data); err != nil {
		return fmt.Errorf("check %s: %w", d.Path, err)
	}
	sums := d.sums
	sums.Name = filepath.Base(d.Path) // the one that the file has now
	return atrest.Sums{sums}.Check(ctx, filepath.Dir(d.Path), d.tail, workers, report)
}

// CheckQuick implements formats.Checker.
func (d *dataset) CheckQuick(_ context.Context, report func(formats.Damage)) error {
	sums := d.sums
	sums.Name = filepath.Base(d.Path)
	return atrest.Sums{sums}.CheckSizes(filepath.Dir(d.Path), d.tail, report)
}

// Close implements formats.Dataset.
func (d *dataset) Close() error { return d.mapping.Close() }

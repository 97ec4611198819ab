package hdf5

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// dataset is an open HDF5 dataset.
type dataset struct {
	description.ValueReader
	mapping   *mapped.Mapping
	checksums checksum.FileChecksums
	extents   extents
	removed   func() ([]byte, error) // reads the list of samples removed by hand
	images    *column
	fields    []*column // by position in the schema; nil for the image and a class index
}

var (
	_ formats.Dataset  = (*dataset)(nil)
	_ formats.Viewer   = (*dataset)(nil)
	_ formats.Checker  = (*dataset)(nil)
	_ formats.Salvager = Format{}
	_ formats.Removals = (*dataset)(nil)

	_ formats.Prefetcher = (*dataset)(nil)
)

// Removed implements formats.Removals.
func (d *dataset) Removed() ([]formats.RemovedSample, error) {
	if err := d.Gate.Enter(0); err != nil {
		return nil, err
	}
	defer d.Gate.Leave(0)
	list, err := manifest.DecodeRemoved(d.Meta(), d.removed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	return list, nil
}

// lend returns a value in the mapping; see description.ValueReader.
func (d *dataset) lend(i int, _ sampleindex.Entry, k int, shape []int) (formats.Value, error) {
	c := d.fields[k]
	if c == nil {
		return d.image(i, shape)
	}
	mark := guard.Now()
	v, err := c.value(i, shape)
	if unreadable := c.unreadable(mark, i); unreadable != nil {
		return v, unreadable
	}
	return v, err
}

// Prefetch implements formats.Prefetcher.
func (d *dataset) Prefetch(indices []int32) {
	if d.Gate.Enter(0) != nil {
		return
	}
	defer d.Gate.Leave(0)
	var locations []sampleindex.Location
	// If a page cannot be read here, reading its values reports it.
	_ = guard.Do(func() error {
		for _, c := range append([]*column{d.images}, d.fields...) {
			if c != nil {
				locations = d.appendLocations(locations, c, indices)
			}
		}
		return nil
	})
	sharded.Prefetch([]*mapped.Mapping{d.mapping}, locations)
}

// appendLocations appends the locations in the file of the column's values of those indices.
func (d *dataset) appendLocations(locations []sampleindex.Location, c *column, indices []int32) []sampleindex.Location {
	for _, i := range indices {
		if i < 0 || int(i) >= d.Len() {
			continue
		}
		if b, err := c.bytes(int(i)); err == nil && len(b) > 0 {
			locations = append(locations, sampleindex.Location{Offset: d.mapping.Offset(b), Length: int64(len(b))})
		}
	}
	return locations
}

// image returns the designated image of sample i. Data is lent, Shape is appended to shape[:0].
func (d *dataset) image(i int, shape []int) (formats.Value, error) {
	b, err := d.images.bytes(i)
	if err != nil {
		return formats.Value{}, err
	}
	in, err := d.Index().Info(i)
	if err != nil {
		return formats.Value{}, err
	}
	if int64(len(b)) != in.Size {
		return formats.Value{}, fmt.Errorf("%w: the image has %d bytes, but %d were written", formats.ErrDamaged, len(b), in.Size)
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
		v.DType = value.FrameDType(f, v.Shape, b)
	}
	return v, checkShape(&v)
}

// imageType returns the element type of a raw image, "" for other images.
func imageType(f *formats.Field, in *formats.Info) formats.DType {
	switch {
	case in.Encoding != formats.Raw:
		return ""
	case f.DType != "":
		return f.DType
	}
	return value.InferDType(in.Shape[:], uint64(in.Size))
}

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, p formats.Portion, workers int, report func(formats.Damage)) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := checksum.Arguments(ctx, d.Path, p, report); err != nil {
		return err
	}
	if whole, err := d.checkFooter(report); err != nil || !whole {
		return err
	}
	sums := d.checksums
	sums.Name = filepath.Base(d.Path) // the file's current name
	return checksum.Checksums{sums}.Check(ctx, filepath.Dir(d.Path), int64(len(d.mapping.Data))-sums.Size, p, workers, report)
}

// CheckQuick implements formats.Checker: it verifies all datasets but the values.
func (d *dataset) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := checksum.Arguments(ctx, d.Path, formats.Portion{}, report); err != nil {
		return err
	}
	if whole, err := d.checkFooter(report); err != nil || !whole {
		return err
	}
	for i := range d.extents {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := &d.extents[i]
		b, err := d.mapping.Slice(p.offset, p.length())
		if err != nil {
			return fmt.Errorf("check %s: dataset %s: %w", d.Path, p.name, err)
		}
		if !p.hasChecksum {
			continue
		}
		err = guard.Read(b, func() error {
			if crc32.Checksum(b, castagnoli) != p.checksum {
				return fmt.Errorf("the checksum of dataset %s differs", p.name)
			}
			return nil
		})
		if err != nil {
			report(formats.Damage{File: filepath.Base(d.Path), Offset: p.offset, Length: p.length(), Cause: err.Error()})
		}
	}
	return nil
}

// checkFooter reads the footer again. If the file has another size than when it was opened,
// checkFooter reports that, whole is false, and the mapping must not be used.
func (d *dataset) checkFooter(report func(formats.Damage)) (whole bool, err error) {
	was, is := int64(len(d.mapping.Data)), int64(0)
	st, err := os.Stat(d.Path)
	switch {
	case err == nil:
		is = st.Size()
	case !errors.Is(err, os.ErrNotExist):
		return false, fmt.Errorf("check: %w", err)
	}
	if is != was {
		report(formats.Damage{
			File: filepath.Base(d.Path), Offset: min(is, was), Length: max(is, was) - min(is, was),
			Cause: fmt.Sprintf("the file has %d bytes, but had %d when it was opened", is, was),
		})
		return false, nil
	}
	err = guard.Read(d.mapping.Data, func() error {
		f, err := findFooter(d.mapping.Data)
		if err == nil {
			_, err = f.readChecksums()
		}
		if err == nil {
			_, err = f.readExtents()
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("check %s: %w", d.Path, err)
	}
	return true, nil
}

package hdf5

import (
	"fmt"

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
	in        loader
	mapping   *mapped.Mapping
	checksums checksum.FileChecksums
	images    []byte    // the designated images, in the mapping
	imagesAt  int64     // their offset in the file
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
	list, err := manifest.DecodeRemoved(d.Meta(), d.in.removed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	return list, nil
}

// lend returns a value in the mapping; see description.ValueReader.
func (d *dataset) lend(i int, e sampleindex.Entry, k int, shape []int) (formats.Value, error) {
	c := d.fields[k]
	if c == nil {
		return d.image(e, shape)
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
		for _, i := range indices {
			if e, err := d.Index().At(int(i)); err == nil {
				locations = d.appendLocations(locations, int(i), e)
			}
		}
		return nil
	})
	sharded.Prefetch([]*mapped.Mapping{d.mapping}, locations)
}

// appendLocations appends the locations in the file of the values of sample i, whose row is e.
func (d *dataset) appendLocations(locations []sampleindex.Location, i int, e sampleindex.Entry) []sampleindex.Location {
	at := e.Location()
	locations = append(locations, sampleindex.Location{Offset: d.imagesAt + at.Offset, Length: at.Length})
	for _, c := range d.fields {
		if c == nil {
			continue
		}
		if b, err := c.bytes(i); err == nil && len(b) > 0 {
			locations = append(locations, sampleindex.Location{Offset: d.mapping.Offset(b), Length: int64(len(b))})
		}
	}
	return locations
}

// image returns the designated image of the sample with the row e. Data is lent, Shape is appended to
// shape[:0].
func (d *dataset) image(e sampleindex.Entry, shape []int) (formats.Value, error) {
	at, n := e.Location(), int64(len(d.images))
	if at.Offset < 0 || at.Length < 0 || at.Offset > n || at.Length > n-at.Offset {
		return formats.Value{}, fmt.Errorf("%w: the image would be %d bytes at byte %d of %d", formats.ErrDamaged, at.Length, at.Offset, n)
	}
	end := at.Offset + at.Length
	schema := d.Meta().Schema
	f := &schema[schema.ImageIndex()]
	in := formats.Info{Size: at.Length, Encoding: e.Encoding(), Shape: e.Shape()}
	v := formats.Value{Data: d.images[at.Offset:end:end], Encoding: in.Encoding, DType: f.DType, Shape: shape[:0]}
	if in.Shape != [3]int{} || in.Encoding == formats.Raw {
		v.Shape = append(v.Shape, in.Shape[:]...)
	}
	switch v.Encoding {
	case formats.Raw:
		v.DType = imageType(f, &in)
	case formats.RawZstd:
		v.DType = value.FrameDType(f, v.Shape, v.Data)
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

package hdf5

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// loader finds the datasets in a mapped file.
type loader struct {
	extents extents
	*blocks
}

// bytes returns the bytes of the dataset at p, which decodeExtents has checked to lie in the file.
func (l *loader) bytes(p *extent) []byte {
	end := p.offset + p.length()
	return l.file[p.offset:end:end]
}

// find returns the extent of a dataset of n rows; n is -1 for any number.
func (l *loader) find(name string, t formats.DType, n int) (*extent, error) {
	p := l.extents.find(name)
	switch {
	case p == nil:
		return nil, fmt.Errorf("%w: dataset %s is not in the footer's table", formats.ErrDamaged, name)
	case t != "" && p.dtype != t || n >= 0 && p.dims[0] != n:
		return nil, fmt.Errorf("%w: dataset %s has the type %s and the shape %v for %d rows", formats.ErrDamaged, name, p.dtype, p.dims, n)
	}
	return p, nil
}

// verified returns the bytes of a small dataset after it has compared them with their checksum.
func (l *loader) verified(name string) ([]byte, error) {
	p, err := l.find(name, formats.Uint8, -1)
	if err != nil {
		return nil, err
	}
	r := rows{extent: p, bytes: l.bytes(p)}
	return r.bytes, r.checkWhole()
}

// description reads dataset.json and opens the index of the file at path.
func (l *loader) description(path string, salvage bool) (description.Description, error) {
	b, err := l.verified(metaName)
	if err != nil {
		return description.Description{}, err
	}
	m, err := manifest.DecodeMeta(b)
	if err != nil {
		return description.Description{}, err
	}
	x, err := l.index(path, m, salvage)
	if err != nil {
		return description.Description{}, err
	}
	return description.New(m, x), nil
}

// index returns the index in the file. If it is damaged and salvage is set, one is made from the manifest.
func (l *loader) index(path string, m *formats.Meta, salvage bool) (*indexfile.File, error) {
	rows, err := l.find(manifestName, formats.Uint8, -1)
	if err != nil {
		return nil, err
	}
	s := indexfile.Source{ID: idOf(rows.length(), rows.checksum), Columns: m.Columns, Count: m.Count, Rows: located(l.manifestRows(m))}
	p, err := l.find(indexName, formats.Uint8, -1)
	if err != nil {
		return nil, err
	}
	name := path + ": " + indexName
	x, err := sampleindex.Open(l.bytes(p), name)
	if err == nil {
		err = s.Check(x, name)
	}
	if salvage {
		// A page of it may be damaged too.
		if _, damage := l.verified(indexName); damage != nil {
			if made, failed := indexfile.Salvage("", nil, &s); failed == nil {
				return made, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return indexfile.Inside(x), nil
}

// manifestRows are the rows of the manifest in the file.
func (l *loader) manifestRows(m *formats.Meta) sampleindex.Rows {
	return func(yield func(r *sampleindex.Row) error) error {
		b, err := l.verified(manifestName)
		if err != nil {
			return err
		}
		n := 0
		if err := manifest.Read(b, m.Columns, func(r *sampleindex.Row) error { n++; return yield(r) }); err != nil {
			return err
		}
		if n != m.Count {
			return fmt.Errorf("%w: %s has %d rows, %s says %d samples", formats.ErrDamaged, manifestName, n, metaName, m.Count)
		}
		return nil
	}
}

// places are those of the images.
var places = sidecar.Places{Locate: located, Stamp: []byte("hdf5")}

// idOf is the ID of the index that is made from a manifest of that size and checksum.
func idOf(size int64, crc uint32) sampleindex.ID {
	return places.IDOf(checksum.FileChecksums{Size: size, Blocks: []uint32{crc}})
}

// located returns rows with the locations of the images: they lie one after another, in key order.
func located(rows sampleindex.Rows) sampleindex.Rows {
	return func(yield func(r *sampleindex.Row) error) error {
		at := int64(0)
		return rows(func(r *sampleindex.Row) error {
			r.Location = sampleindex.Location{Offset: at, Length: r.Size}
			at += r.Size
			return yield(r)
		})
	}
}

// removed reads the list of samples removed by hand.
func (l *loader) removed() ([]byte, error) {
	b, err := l.verified(removedName)
	return slices.Clone(b), err
}

// columns finds the values of all fields.
func (l *loader) columns(d *dataset) error {
	images := l.extents.find(imagesName)
	if images == nil {
		images = l.extents.find(bytesName)
	}
	if images == nil {
		return fmt.Errorf("%w: neither dataset %s nor %s is in the footer's table", formats.ErrDamaged, imagesName, bytesName)
	}
	d.images, d.imagesAt = l.bytes(images), images.offset
	schema := d.Meta().Schema
	d.fields = make([]*column, len(schema))
	for i, name := range fieldNames(schema) {
		var err error
		if l.extents.find(name+"/"+bytesName) != nil {
			d.fields[i], err = l.varying(name+"/", d.Len())
		} else {
			d.fields[i], err = l.uniform(name, d.Len())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) uniform(name string, n int) (*column, error) {
	p, err := l.find(name, "", n)
	if err != nil {
		return nil, err
	}
	c := &column{data: l.bytes(p), shape: p.dims[1:], dtype: p.dtype}
	if n > 0 {
		c.size = len(c.data) / n
	}
	return c, nil
}

// varying returns the column of an extra field whose values are in prefix+"bytes".
func (l *loader) varying(prefix string, n int) (*column, error) {
	data, err := l.find(prefix+bytesName, formats.Uint8, -1)
	if err != nil {
		return nil, err
	}
	c := &column{data: l.bytes(data)}
	if c.offsets, err = l.rows(prefix+offsetsName, formats.Int64, 1, n+1); err != nil {
		return nil, err
	}
	if c.shapes, err = l.rows(prefix+shapesName, formats.Int64, 2, n); err != nil {
		return nil, err
	}
	if c.encodings, err = l.rows(prefix+encodingsName, formats.Uint8, 1, n); err != nil {
		return nil, err
	}
	c.types, err = l.rows(prefix+typesName, formats.Uint8, 1, n)
	return c, err
}

// rows returns a dataset of n rows that describe values: numbers or, if it has two dimensions, lists
// of numbers.
func (l *loader) rows(name string, t formats.DType, dims, n int) (*rows, error) {
	p, err := l.find(name, t, n)
	if err != nil {
		return nil, err
	}
	if len(p.dims) != dims {
		return nil, fmt.Errorf("%w: dataset %s has the impossible shape %v", formats.ErrDamaged, p.name, p.dims)
	}
	size := t.Size()
	if dims == 2 {
		size *= p.dims[1]
	}
	return &rows{extent: p, bytes: l.bytes(p), size: size, blocks: l.blocks}, nil
}

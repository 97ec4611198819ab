package hdf5

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// loader loads the columns from the datasets in a mapped file.
type loader struct {
	extents        extents
	file           []byte   // what HDF5 wrote
	blockChecksums []uint32 // nil if unknown
	damaged        map[string]bool
}

// bytes returns the bytes of the dataset at p, which decodeExtents has checked to lie in the file.
func (l *loader) bytes(p *extent) []byte {
	end := p.offset + p.length()
	return l.file[p.offset:end:end]
}

// check compares all datasets but values with their checksums. A difference is an
// error or, if tolerated, recorded in l.damaged.
func (l *loader) check(tolerated bool) error {
	for i := range l.extents {
		p := &l.extents[i]
		if !p.hasChecksum || crc32.Checksum(l.bytes(p), castagnoli) == p.checksum {
			continue
		}
		if !tolerated {
			return fmt.Errorf("%w: the checksum of dataset %s differs", formats.ErrDamaged, p.name)
		}
		l.damaged[p.name] = true
	}
	return nil
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

func (l *loader) description() (manifest.Description, error) {
	var data [2][]byte
	for i, name := range []string{metaName, manifestName} {
		p, err := l.find(name, formats.Uint8, -1)
		if err == nil && l.damaged[name] {
			err = fmt.Errorf("%w: the checksum of dataset %s differs; without it the samples cannot be read", formats.ErrDamaged, name)
		}
		if err != nil {
			return manifest.Description{}, err
		}
		data[i] = l.bytes(p)
	}
	m, err := manifest.DecodeMeta(data[0])
	if err != nil {
		return manifest.Description{}, err
	}
	return manifest.NewDescription(m, data[1])
}

// removed returns a function that reads the list of samples removed by hand.
func (l *loader) removed() func() ([]byte, error) {
	return func() ([]byte, error) {
		p, err := l.find(removedName, formats.Uint8, -1)
		if err == nil && l.damaged[removedName] {
			err = fmt.Errorf("%w: the checksum of dataset %s differs", formats.ErrDamaged, removedName)
		}
		if err != nil {
			return nil, err
		}
		return slices.Clone(l.bytes(p)), nil
	}
}

func (l *loader) columns(d *dataset) (err error) {
	if d.images, err = l.images(d.Description); err != nil {
		return err
	}
	schema := d.Meta().Schema
	d.fields = make([]*column, len(schema))
	for i, name := range fieldNames(schema) {
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

// images returns the column of designated images. Their sizes are in the manifest too, so
// damaged offsets can be restored.
func (l *loader) images(c manifest.Description) (*column, error) {
	n := c.Len()
	if l.extents.find(imagesName) != nil {
		return l.uniform(imagesName, n)
	}
	data, err := l.find(bytesName, formats.Uint8, -1)
	if err != nil {
		return nil, err
	}
	offsets, err := l.find(offsetsName, formats.Int64, n+1)
	if err != nil {
		return nil, err
	}
	images := &column{data: l.bytes(data)}
	if l.damaged[offsetsName] {
		images.offsets, err = offsetsOf(c)
		return images, err
	}
	// Random access is faster in a copy in huge pages than in the file's small pages.
	images.offsets = make([]byte, offsets.length())
	mapped.AdviseHugePages(images.offsets)
	copy(images.offsets, l.bytes(offsets))
	return images, nil
}

func offsetsOf(c manifest.Description) ([]byte, error) {
	b := make([]byte, 8, 8*(c.Len()+1))
	at := int64(0)
	for i := range c.Len() {
		in, err := c.Info(i)
		if err != nil {
			return nil, err
		}
		at += in.Size
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
	}
	return b, nil
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
	for _, t := range []struct {
		name  string
		dtype formats.DType
		rows  int
		bytes *[]byte
		width int
	}{
		{offsetsName, formats.Int64, n + 1, &c.offsets, 1},
		{shapesName, formats.Int64, n, &c.shapes, -1},
		{encodingsName, formats.Uint8, n, &c.encodings, 1},
		{typesName, formats.Uint8, n, &c.types, 1},
	} {
		p, err := l.find(prefix+t.name, t.dtype, t.rows)
		if err != nil {
			return nil, err
		}
		width := 1
		if len(p.dims) > 1 {
			width = p.dims[1]
		}
		if len(p.dims) > 2 || t.width > 0 && width != t.width {
			return nil, fmt.Errorf("%w: dataset %s has the impossible shape %v", formats.ErrDamaged, p.name, p.dims)
		}
		if t.width < 0 {
			c.shapeWidth = width
		}
		*t.bytes = l.bytes(p)
		if l.damaged[p.name] {
			c.lost = append(c.lost, l.lost(p, width, n)...)
		}
	}
	return c, nil
}

// lost returns the values that the damaged dataset at p may describe wrongly, one row per value:
// those in its damaged blocks, or all if the blocks' checksums are unknown. It includes the value
// before, whose end is in the next row of offsets.
func (l *loader) lost(p *extent, width, n int) []interval {
	var lost []interval
	if p.length() == 0 {
		return nil
	}
	row := int64(width * p.dtype.Size())
	end := p.offset + p.length()
	for i := p.offset / checksum.BlockSize; i < int64(len(l.blockChecksums)) && i*checksum.BlockSize < end; i++ {
		from, to := i*checksum.BlockSize, min((i+1)*checksum.BlockSize, int64(len(l.file)))
		if crc32.Checksum(l.file[from:to], castagnoli) == l.blockChecksums[i] {
			continue
		}
		first := (max(from, p.offset)-p.offset)/row - 1
		last := (min(to, end) - p.offset + row - 1) / row
		lost = append(lost, interval{int(first), int(last)})
	}
	if len(lost) == 0 {
		return []interval{{0, n}}
	}
	return lost
}

//go:build cgo

package hdf5

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"gonum.org/v1/hdf5"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// Open implements formats.Format.
func (Format) Open(path string) (formats.Dataset, error) {
	d, err := open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	return d, nil
}

func open(path string) (*dataset, error) {
	d, err := mapped(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := locked(func() error { return d.load(path) }); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), d.Close())
	}
	return d, nil
}

// mapped maps the file and checks its footer and first block, which has most of what the
// library reads and trusts.
func mapped(path string) (*dataset, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(path + atrest.Suffix); err == nil {
			return nil, fmt.Errorf("%w: it is an unfinished pack", formats.ErrNotDataset)
		}
		return nil, fmt.Errorf("%w: %w", formats.ErrNotDataset, err)
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is no file", formats.ErrNotDataset)
	}
	m, err := atrest.Map(path)
	if err != nil {
		return nil, err
	}
	d := &dataset{mapping: m}
	d.Path, d.Lend = path, d.lend
	if d.sums, err = parseFooter(m.Data); err == nil {
		first := m.Data[:min(atrest.BlockSize, d.sums.Size)]
		if crc32.Checksum(first, castagnoli) != d.sums.Blocks[0] {
			err = fmt.Errorf("%w: the checksum of the first block differs", formats.ErrDamaged)
		}
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	d.tail = int64(len(m.Data)) - d.sums.Size
	return d, nil
}

// load finds out from the library where everything is.
func (d *dataset) load(path string) error {
	f, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
	if err != nil {
		return fmt.Errorf("%w: %w", formats.ErrDamaged, explain(err))
	}
	l := loader{file: f, mapping: d.mapping, limit: d.sums.Size}
	if err = l.description(d); err == nil {
		err = l.columns(d)
	}
	return errors.Join(err, explain(f.Close()))
}

// loader finds the datasets of an open file in mapped memory.
type loader struct {
	file    *hdf5.File
	mapping *atrest.Mapping
	limit   int64
}

// find gives the bytes and dimensions of a dataset.
func (l *loader) find(name string) (data []byte, dims []int, err error) {
	set, err := l.file.OpenDataset(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: dataset %s: %w", formats.ErrNotDataset, name, explain(err))
	}
	defer set.Close()
	off, n, err := extent(set)
	if err != nil {
		return nil, nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	space := set.Space()
	if space == nil {
		return nil, nil, explain(fmt.Errorf("%w: dataset %s has no dimensions", formats.ErrDamaged, name))
	}
	defer space.Close()
	udims, _, err := space.SimpleExtentDims()
	if err != nil {
		return nil, nil, explain(fmt.Errorf("dataset %s: %w", name, err))
	}
	for _, d := range udims {
		dims = append(dims, int(d))
	}
	if data, err = l.mapping.Slice(off, n); err == nil && off+n > l.limit {
		err = fmt.Errorf("%w: it lies behind HDF5's end of file", formats.ErrDamaged)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	return data, dims, nil
}

// table is find for a dataset of n rows of elements of size bytes.
func (l *loader) table(name string, n, size int) (data []byte, columns int, err error) {
	data, dims, err := l.find(name)
	if err != nil {
		return nil, 0, err
	}
	columns = 1
	if len(dims) == 2 {
		columns = dims[1]
	}
	if len(dims) == 0 || len(dims) > 2 || dims[0] != n || len(data) != n*columns*size {
		return nil, 0, fmt.Errorf("%w: dataset %s has the shape %v and %d bytes for %d rows", formats.ErrDamaged, name, dims, len(data), n)
	}
	return data, columns, nil
}

func (l *loader) description(d *dataset) error {
	meta, _, err := l.find(metaName)
	if err != nil {
		return err
	}
	m, err := atrest.DecodeMeta(meta)
	if err != nil {
		return err
	}
	manifest, _, err := l.find(manifestName)
	if err != nil {
		return err
	}
	d.Catalog, err = atrest.NewCatalog(m, manifest)
	return err
}

func (l *loader) columns(d *dataset) (err error) {
	n := d.Len()
	if l.file.LinkExists(imagesName) {
		d.images, err = l.uniform(imagesName, n)
	} else {
		d.images, err = l.varying("", n, false)
	}
	if err != nil {
		return err
	}
	names := fieldNames(d.Meta().Schema)
	d.fields = make([]*column, len(d.Meta().Schema))
	for i := range d.Meta().Schema {
		name, ok := names[i]
		if !ok {
			continue
		}
		if l.file.LinkExists(name + "/" + bytesName) {
			d.fields[i], err = l.varying(name+"/", n, true)
		} else {
			d.fields[i], err = l.uniform(name, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) uniform(name string, n int) (*column, error) {
	data, dims, err := l.find(name)
	if err != nil {
		return nil, err
	}
	if len(dims) == 0 || dims[0] != n {
		return nil, fmt.Errorf("%w: dataset %s has the shape %v for %d samples", formats.ErrDamaged, name, dims, n)
	}
	c, err := newUniform(data, dims)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	return c, nil
}

func (l *loader) varying(prefix string, n int, coded bool) (*column, error) {
	c := new(column)
	var err error
	if c.data, _, err = l.find(prefix + bytesName); err != nil {
		return nil, err
	}
	if c.offsets, _, err = l.table(prefix+offsetsName, n+1, 8); err != nil {
		return nil, err
	}
	if c.shapes, c.rank, err = l.table(prefix+shapesName, n, 8); err != nil || !coded {
		return c, err
	}
	if c.encodings, _, err = l.table(prefix+encodingsName, n, 1); err != nil {
		return nil, err
	}
	c.types, _, err = l.table(prefix+typesName, n, 1)
	return c, err
}

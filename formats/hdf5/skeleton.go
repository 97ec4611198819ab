//go:build cgo

package hdf5

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/hdf5"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/manifest"
)

// headSize is the space for HDF5's header before the images' bytes.
const headSize = 64 << 10

// skeleton is an HDF5 file that is being written.
type skeleton struct {
	file  *hdf5.File
	plain *hdf5.PropList
	holes []span   // datasets whose bytes the library does not write; the images first
	names []string // of all contiguous datasets
}

// content is the content of a skeleton.
type content struct {
	schema   formats.Schema
	rows     *manifest.Manifest
	images   staged
	fields   []staged // in the schema's order
	manifest []byte
	meta     []byte
	removed  []byte // nil if no sample was removed by hand
}

// staged is a field whose bytes are in a file of the staging folder.
type staged struct {
	name   string
	source string
	from   int64
	rows   *rows
}

// buildSkeleton writes the file at path and returns the holes for the bytes of images and fields,
// and the extents of all datasets.
func buildSkeleton(path string, c *content) (regions []span, p extents, err error) {
	err = locked(func() error {
		name, t, dims := c.images.shape(imagesName, bytesName)
		if err := createFile(path, headSize, name, t, dims); err != nil {
			return err
		}
		f, err := hdf5.OpenFile(path, hdf5.F_ACC_RDWR)
		if err != nil {
			return explain(err)
		}
		k := &skeleton{file: f, names: []string{name}}
		if err = k.build(c, name); err == nil {
			regions = k.holes
			p, err = k.locateAll()
		}
		return errors.Join(err, explain(f.Close()))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("write %s: %w", path, err)
	}
	return regions, p, nil
}

func (k *skeleton) build(c *content, images string) (err error) {
	if k.plain, err = hdf5.NewPropList(hdf5.P_DATASET_CREATE); err != nil {
		return explain(err)
	}
	defer k.plain.Close()
	if err := contiguous(k.plain); err != nil {
		return err
	}
	if err := k.images(c, images); err != nil {
		return err
	}
	if err := k.labels(c); err != nil {
		return err
	}
	if err := writeStrings(k.file, keysName, c.rows.Len(), c.rows.Key); err != nil {
		return err
	}
	if i := c.schema.LabelIndex(); i >= 0 && len(c.schema[i].Classes) > 0 {
		classes := c.schema[i].Classes
		if err := writeStrings(k.file, classesName, len(classes), func(i int) string { return classes[i] }); err != nil {
			return err
		}
	}
	for _, f := range c.fields {
		if err := k.field(f); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	return k.description(c)
}

// shape returns the dataset of the values: one named uniform if they have one shape, otherwise
// bytes named flat.
func (s *staged) shape(uniform, flat string) (name string, t formats.DType, dims []uint) {
	t, shape, ok := s.rows.uniform()
	if !ok {
		return flat, formats.Uint8, []uint{uint(s.rows.size())}
	}
	dims = []uint{uint(s.rows.len())}
	for _, d := range shape {
		dims = append(dims, uint(d))
	}
	return uniform, t, dims
}

func (k *skeleton) images(c *content, name string) error {
	d, err := k.file.OpenDataset(name)
	if err != nil {
		return explain(err)
	}
	err = k.addHole(d, name, &c.images)
	if e := c.images.rows.encoding(); err == nil && e != "" {
		err = writeAttribute(d, "encoding", e)
	}
	if err = errors.Join(err, explain(d.Close())); err != nil || name == imagesName {
		return err
	}
	return k.bounds("", c.images.rows, 3)
}

// locateAll returns the extents that the library has for the datasets. Values, which it does not
// write, get no checksum of their own.
func (k *skeleton) locateAll() (extents, error) {
	var all extents
	for _, name := range slices.Sorted(slices.Values(k.names)) {
		p, err := locate(k.file, name)
		if err != nil {
			return nil, err
		}
		p.hasChecksum = !slices.ContainsFunc(k.holes, func(r span) bool { return r.name == name })
		all = append(all, p)
	}
	return all, nil
}

// addHole records the hole for the bytes of d, which is named name.
func (k *skeleton) addHole(d *hdf5.Dataset, name string, s *staged) error {
	off, n, err := storageExtent(d)
	if err != nil {
		return err
	}
	if n != s.rows.size() {
		return fmt.Errorf("HDF5 reserved %d bytes for the %d bytes of %s", n, s.rows.size(), name)
	}
	k.holes = append(k.holes, span{name: name, source: s.source, from: s.from, to: off, length: n})
	return nil
}

// bounds writes the offsets and shapes that go with a dataset of bytes; columns is the minimum
// number of columns of shapes.
func (k *skeleton) bounds(prefix string, r *rows, columns int) error {
	if err := k.write(prefix+offsetsName, formats.Int64, r.offsets, len(r.offsets)); err != nil {
		return err
	}
	table, width := r.shapes(columns)
	return k.write(prefix+shapesName, formats.Int64, table, r.len(), width)
}

func (k *skeleton) labels(c *content) error {
	if !hasLabel(c.schema) {
		return nil
	}
	labels := make([]int64, c.rows.Len())
	for i := range labels {
		labels[i] = c.rows.Label(i)
	}
	return k.write(labelsName, formats.Int64, labels, len(labels))
}

func (k *skeleton) field(f staged) error {
	name, t, dims := f.shape(f.name, f.name+"/"+bytesName)
	if name != f.name {
		if err := k.group(f.name); err != nil {
			return err
		}
	}
	d, err := k.create(name, t, dims)
	if err != nil {
		return err
	}
	err = k.addHole(d, name, &f)
	if e := f.rows.encoding(); err == nil && e != "" {
		err = writeAttribute(d, "encoding", e)
	}
	if err = errors.Join(err, explain(d.Close())); err != nil || name == f.name {
		return err
	}
	prefix := f.name + "/"
	if err := k.bounds(prefix, f.rows, 0); err != nil {
		return err
	}
	if err := k.write(prefix+encodingsName, formats.Uint8, f.rows.encodings, f.rows.len()); err != nil {
		return err
	}
	return k.write(prefix+typesName, formats.Uint8, f.rows.types, f.rows.len())
}

func (k *skeleton) description(c *content) error {
	if err := k.group(dsconvGroup); err != nil {
		return err
	}
	if err := k.write(manifestName, formats.Uint8, c.manifest, len(c.manifest)); err != nil {
		return err
	}
	if err := k.write(metaName, formats.Uint8, c.meta, len(c.meta)); err != nil || c.removed == nil {
		return err
	}
	return k.write(removedName, formats.Uint8, c.removed, len(c.removed))
}

func (k *skeleton) group(name string) error {
	g, err := k.file.CreateGroup(name)
	if err != nil {
		return explain(err)
	}
	return explain(g.Close())
}

func (k *skeleton) create(name string, t formats.DType, dims []uint) (*hdf5.Dataset, error) {
	k.names = append(k.names, name)
	space, err := hdf5.CreateSimpleDataspace(dims, nil)
	if err != nil {
		return nil, explain(err)
	}
	defer space.Close()
	d, err := k.file.CreateDatasetWith(name, native(t), space, k.plain)
	return d, explain(err)
}

// write writes a dataset with data, a slice of elements of type t.
func (k *skeleton) write(name string, t formats.DType, data any, dims ...int) error {
	udims := make([]uint, len(dims))
	elements := 1
	for i, n := range dims {
		udims[i] = uint(n)
		elements *= n
	}
	d, err := k.create(name, t, udims)
	if err == nil && elements > 0 {
		err = writeAll(d, data)
	}
	if d != nil {
		err = errors.Join(err, explain(d.Close()))
	}
	if err != nil {
		return fmt.Errorf("dataset %s: %w", name, err)
	}
	return nil
}

// writeAll passes gonum a pointer of the type that it accepts.
func writeAll(d *hdf5.Dataset, data any) error {
	switch x := data.(type) {
	case []int64:
		return explain(d.Write(&x))
	case []uint8:
		return explain(d.Write(&x))
	}
	return fmt.Errorf("HDF5: cannot write %T", data)
}

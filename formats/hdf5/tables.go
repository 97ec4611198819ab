//go:build cgo

package hdf5

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// hole is a contiguous dataset whose bytes the library does not write: they are copied from a file
// of the staging folder.
type hole struct {
	name     string
	dtype    formats.DType
	dims     []uint
	encoding string // the attribute; "" for none
	values   bool   // of samples, whose checksums cover the bytes
	source   string
	from     int64 // in source
}

// table is a file of the staging folder that Commit writes: the bytes of a dataset.
type table struct {
	f *os.File
	w *bufio.Writer // its error stays until close
}

func (w *writer) createTable(file string) (*table, error) {
	f, err := w.Create(file)
	if err != nil {
		return nil, err
	}
	return &table{f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (t *table) int64(x int64) {
	_, _ = t.w.Write(binary.LittleEndian.AppendUint64(t.w.AvailableBuffer(), uint64(x)))
}

func (t *table) uint8(x uint8) { _ = t.w.WriteByte(x) }

// close writes what is buffered; the copy into the finished file is synced, not this file.
func (t *table) close() error { return errors.Join(t.w.Flush(), t.f.Close()) }

// tables are several that are written in one pass.
type tables []*table

// createTables creates a table for each of the holes, which get it as their source.
func (w *writer) createTables(holes []hole) (tables, error) {
	var all tables
	for i := range holes {
		t, err := w.createTable(holes[i].source)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		holes[i].source = t.f.Name()
		all = append(all, t)
	}
	return all, nil
}

func (all tables) close() (err error) {
	for _, t := range all {
		err = errors.Join(err, t.close())
	}
	return err
}

// hole returns the hole of the values: a dataset named uniform if they have one shape, otherwise
// bytes named flat.
func (s *summary) hole(uniform, flat, source string, from int64) hole {
	h := hole{
		name: flat, dtype: formats.Uint8, dims: []uint{uint(s.size)}, encoding: s.encodingName(), values: true,
		source: source, from: from,
	}
	if s.uniform() {
		h.name, h.dtype, h.dims = uniform, typeCodes[s.first.dtype], []uint{uint(s.n)}
		for _, d := range s.first.shape {
			h.dims = append(h.dims, uint(d))
		}
	}
	return h
}

// sampleTables writes the tables of labels and, unless the images have one shape, of their offsets and
// shapes. It returns their holes.
func (w *writer) sampleTables() (holes []hole, err error) {
	images := &w.summaries[0]
	if !images.uniform() {
		holes, err = w.entryTables(images, "", "", 3, false, func(do func(e entry) error) error {
			return w.EachRow(func(r *sampleindex.Row) error { return do(imageEntry(w.image(), &r.Info)) })
		})
	}
	if err != nil || !hasLabel(w.Meta.Schema) {
		return holes, err
	}
	labels := []hole{{name: labelsName, dtype: formats.Int64, dims: []uint{uint(images.n)}, source: labelsName}}
	t, err := w.createTables(labels)
	if err != nil {
		return nil, err
	}
	err = w.EachRow(func(r *sampleindex.Row) error {
		t[0].int64(r.Label)
		return nil
	})
	return append(holes, labels...), errors.Join(err, t.close())
}

// fieldTables writes the tables of extra field k, whose values lie in a file, and returns the field's holes.
func (w *writer) fieldTables(k int) ([]hole, error) {
	s, i := &w.summaries[1+k], w.extra[k]
	name, file := w.names[i], fieldFile(i)
	values := s.hole(name, name+"/"+bytesName, w.Path(file+bytesName), 0)
	if values.name == name {
		return []hole{values}, nil
	}
	holes, err := w.entryTables(s, name+"/", file, s.rank, true, func(do func(e entry) error) error { return w.entries(i, do) })
	return append([]hole{values}, holes...), err
}

// entryTables writes the tables of the entries of values that are in a dataset of bytes: offsets, shapes with
// that number of columns and, with codes, encodings and types. prefix begins the names of their datasets, file
// those of their files.
func (w *writer) entryTables(s *summary, prefix, file string, columns int, codes bool, each func(do func(e entry) error) error) ([]hole, error) {
	n := uint(s.n)
	holes := []hole{
		{name: prefix + offsetsName, dtype: formats.Int64, dims: []uint{n + 1}, source: file + offsetsName},
		{name: prefix + shapesName, dtype: formats.Int64, dims: []uint{n, uint(columns)}, source: file + shapesName},
	}
	if codes {
		for _, name := range []string{encodingsName, typesName} {
			holes = append(holes, hole{name: prefix + name, dtype: formats.Uint8, dims: []uint{n}, source: file + name})
		}
	}
	t, err := w.createTables(holes)
	if err != nil {
		return nil, err
	}
	at := int64(0)
	t[0].int64(at)
	err = each(func(e entry) error {
		at += e.size
		t[0].int64(at)
		for k := range columns {
			if k < len(e.shape) {
				t[1].int64(int64(e.shape[k]))
			} else {
				t[1].int64(-1)
			}
		}
		if codes {
			t[2].uint8(e.encoding)
			t[3].uint8(e.dtype)
		}
		return nil
	})
	return holes, errors.Join(err, t.close())
}

// descriptionTables writes the tables that describe the dataset, and returns their holes; that of the index is
// the last one.
func (w *writer) descriptionTables() ([]hole, error) {
	names := []string{manifestName, metaName, indexName}
	if err := w.WriteRows(w.Path(path.Base(manifestName)), w.Path(path.Base(indexName)), places, idOfFile); err != nil {
		return nil, err
	}
	w.Describe()
	meta, err := manifest.EncodeMeta(&w.Meta)
	if err == nil {
		err = w.writeBytes(metaName, meta)
	}
	if err != nil {
		return nil, err
	}
	removed, err := w.EncodeRemoved()
	if err == nil && removed != nil {
		names = slices.Insert(names, 2, removedName)
		err = w.writeBytes(removedName, removed)
	}
	if err != nil {
		return nil, err
	}
	var holes []hole
	for _, name := range names {
		file := w.Path(path.Base(name))
		st, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		holes = append(holes, hole{name: name, dtype: formats.Uint8, dims: []uint{uint(st.Size())}, source: file})
	}
	return holes, nil
}

// idOfFile returns the ID of the index that is made from the manifest in a file.
func idOfFile(path string) (id sampleindex.ID, err error) {
	f, err := unblocked.Open(path)
	if err != nil {
		return id, err
	}
	defer f.Close()
	sum := crc32.New(checksum.Castagnoli)
	n, err := io.Copy(sum, f)
	return idOf(n, sum.Sum32()), err
}

// writeBytes writes b to the file of the dataset called name.
func (w *writer) writeBytes(name string, b []byte) error {
	t, err := w.createTable(path.Base(name))
	if err != nil {
		return err
	}
	_, _ = t.w.Write(b)
	return t.close()
}

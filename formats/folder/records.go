package folder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/wire"
)

// stride is how many records share an offset.
const stride = 8

// records has the samples' keys and files, in key order. They are in memory or, if there are many, in a
// mapped file that has no name any more. It is safe for concurrent reads.
type records struct {
	data   []byte
	starts []int64 // offsets of every stride-th record
	count  int
	mapped bool
}

// record encodes what tells sample it from others of its key; read decodes it.
func (it *sample) record(b []byte) []byte {
	n := 0
	for n < min(len(it.key), len(it.path)) && it.key[n] == it.path[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = wire.AppendBytes(b, it.path[n:])
	b = binary.AppendUvarint(b, uint64(it.size))
	return binary.AppendUvarint(b, uint64(it.modTime))
}

// recordsWriter writes records into memory and, whenever they are more than limit bytes, into a file.
type recordsWriter struct {
	records
	limit   int
	f       *os.File // nil as long as none is needed
	written int64
}

// newRecords stores what record returned, from a Sorter by key, with about memory bytes in memory.
func newRecords(sorted *extsort.Sorter, memory int64) (_ *records, err error) {
	w := &recordsWriter{limit: int(memory)}
	err = sorted.Each(w.add)
	if err == nil {
		err = w.finish()
	}
	if w.f != nil {
		err = errors.Join(err, w.f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return &w.records, nil
}

func (w *recordsWriter) add(key, value []byte) error {
	if w.count%stride == 0 {
		w.starts = append(w.starts, w.written+int64(len(w.data)))
	}
	w.count++
	if w.data = wire.AppendBytes(wire.AppendBytes(w.data, key), value); len(w.data) > w.limit {
		return w.flush()
	}
	return nil
}

func (w *recordsWriter) flush() (err error) {
	if w.f == nil {
		if w.f, err = extsort.Temporary(""); err != nil {
			return err
		}
	}
	if _, err := w.f.Write(w.data); err != nil {
		return extsort.Explain("", err)
	}
	w.written += int64(len(w.data))
	w.data = w.data[:0]
	return nil
}

// finish maps the file, if there is one.
func (w *recordsWriter) finish() error {
	if w.f == nil {
		return nil
	}
	err := w.flush()
	if err == nil {
		w.data, err = guard.Map(w.f, "the temporary list of files", int(w.written), false)
		w.mapped = err == nil
	}
	return err
}

// read sets the key and the file of it to those of sample i.
func (r *records) read(i int, it *sample) error {
	if !r.mapped {
		return r.decode(i, it)
	}
	return guard.Read(r.data, func() error { return r.decode(i, it) })
}

func (r *records) decode(i int, it *sample) error {
	c := wire.Cursor{B: r.data[r.starts[i/stride]:]}
	for range i % stride {
		c.Bytes()
		c.Bytes()
	}
	key, value := c.Bytes(), wire.Cursor{B: c.Bytes()}
	n := value.Number(int64(len(key)))
	it.path = string(key[:n]) + string(value.Bytes())
	if it.key = it.path[:n]; int(n) < len(key) {
		it.key = string(key)
	}
	it.size, it.modTime = value.Varint(), value.Varint()
	if c.Failed || value.Failed {
		return fmt.Errorf("%w: the temporary list of files", formats.ErrDamaged)
	}
	return nil
}

func (r *records) close() error {
	if !r.mapped {
		return nil
	}
	r.mapped = false
	return guard.Unmap(r.data)
}

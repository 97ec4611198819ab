package extsort

import (
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/wire"
)

// tempName is what the records are called in messages.
const tempName = "the temporary list of files"

// ErrDamagedList is the error about records that are not what was written.
var ErrDamagedList = fmt.Errorf("%w: %s", formats.ErrDamaged, tempName)

// stride is how many records share an offset.
const stride = 8

// List are keys and values in the order of the keys. They are in memory or, if there are many, in a mapped file that
// has no name any more. They are safe for concurrent reads.
type List struct {
	data   []byte
	starts []int64 // offsets of every stride-th record
	count  int
	mapped bool
}

// ListDecoder takes a record. The memory of key and value is the records'.
type ListDecoder interface {
	Decode(key, value []byte) error
}

// listWriter writes records into memory and, whenever they are more than limit bytes, into a file.
type listWriter struct {
	List
	limit   int
	f       *os.File // nil as long as none is needed
	written int64
}

// NewList stores what a Sorter has, with about memory bytes in memory.
func NewList(sorted *Sorter, memory int64) (_ *List, err error) {
	w := &listWriter{limit: int(memory)}
	err = sorted.Each(w.add)
	if err == nil {
		err = w.finish()
	}
	if w.f != nil {
		err = errors.Join(err, w.f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &w.List, nil
}

func (w *listWriter) add(key, value []byte) error {
	if w.count%stride == 0 {
		w.starts = append(w.starts, w.written+int64(len(w.data)))
	}
	w.count++
	if w.data = wire.AppendBytes(wire.AppendBytes(w.data, key), value); len(w.data) > w.limit {
		return w.flush()
	}
	return nil
}

func (w *listWriter) flush() (err error) {
	if w.f == nil {
		if w.f, err = Temporary(""); err != nil {
			return err
		}
	}
	if _, err := w.f.Write(w.data); err != nil {
		return Explain("", err)
	}
	w.written += int64(len(w.data))
	w.data = w.data[:0]
	return nil
}

// finish maps the file, if there is one.
func (w *listWriter) finish() error {
	if w.f == nil {
		return nil
	}
	err := w.flush()
	if err == nil {
		w.data, err = guard.Map(w.f, tempName, int(w.written), false)
		w.mapped = err == nil
	}
	return err
}

// Len returns the number of records.
func (r *List) Len() int { return r.count }

// Read gives record i to d.
func (r *List) Read(i int, d ListDecoder) error {
	if !r.mapped {
		return r.decode(i, d)
	}
	return guard.Read(r.data, func() error { return r.decode(i, d) })
}

func (r *List) decode(i int, d ListDecoder) error {
	c := wire.Cursor{B: r.data[r.starts[i/stride]:]}
	for range i % stride {
		c.Bytes()
		c.Bytes()
	}
	key, value := c.Bytes(), c.Bytes()
	if c.Failed {
		return ErrDamagedList
	}
	return d.Decode(key, value)
}

// From calls yield for the records from a key on, with their numbers, until it returns false or an error.
func (r *List) From(key []byte, yield func(i int, key, value []byte) (bool, error)) error {
	if !r.mapped {
		return r.search(key, yield)
	}
	return guard.Read(r.data, func() error { return r.search(key, yield) })
}

func (r *List) search(key []byte, yield func(i int, key, value []byte) (bool, error)) error {
	// The last group of records that begins before the key.
	group := sort.Search(len(r.starts), func(g int) bool {
		c := wire.Cursor{B: r.data[r.starts[g]:]}
		return string(c.Bytes()) >= string(key)
	}) - 1
	group = max(group, 0)
	if group >= len(r.starts) {
		return nil
	}
	c := wire.Cursor{B: r.data[r.starts[group]:]}
	for i := group * stride; i < r.count; i++ {
		at, value := c.Bytes(), c.Bytes()
		if c.Failed {
			return ErrDamagedList
		}
		if string(at) < string(key) {
			continue
		}
		if more, err := yield(i, at, value); !more || err != nil {
			return err
		}
	}
	return nil
}

// Close frees the records.
func (r *List) Close() error {
	if !r.mapped {
		return nil
	}
	r.mapped = false
	return guard.Unmap(r.data)
}

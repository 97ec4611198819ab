package description

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// ValueReader implements Info, Read, View, Lease and Close for formats that find each value in their
// own memory, by key or by row, such as LMDB and HDF5. It is as safe for concurrent use as Lend is.
type ValueReader struct {
	Description
	Path string
	Gate lifetime.Gate // Open opens it
	// Lend returns the value of field k of sample i, whose row is e: Data is memory of the dataset,
	// Shape is appended to shape[:0]. It is not called for a designated label of kind Label, which the
	// index has. It returns an error if memory that it needs cannot be read (see package guard).
	Lend func(i int, e sampleindex.Entry, k int, shape []int) (formats.Value, error)
}

// Info implements formats.Dataset.
func (r *ValueReader) Info(i int) (formats.Info, error) {
	if err := r.Gate.Enter(i); err != nil {
		return formats.Info{}, err
	}
	defer r.Gate.Leave(i)
	in, err := r.index.Info(i)
	if err != nil {
		return in, fmt.Errorf("%s: %w", r.Path, err)
	}
	return in, nil
}

// FindKey is for formats.Find: it returns the index of the sample with the key; ok is false if there is none.
func (r *ValueReader) FindKey(key string) (i int, ok bool, err error) {
	if err := r.Gate.Enter(0); err != nil {
		return 0, false, err
	}
	defer r.Gate.Leave(0)
	return r.index.Find(key)
}

// Lease implements formats.Viewer.
func (r *ValueReader) Lease() (release func(), err error) { return r.Gate.Lease() }

// Close implements formats.Dataset.
func (r *ValueReader) Close() error { return r.Gate.Close() }

// Read implements formats.Dataset. It compares the sample with its checksum.
func (r *ValueReader) Read(i int, s *formats.Sample) error {
	if err := r.Gate.Enter(i); err != nil {
		return err
	}
	defer r.Gate.Leave(i)
	if err := r.CheckRead(i); err != nil {
		return fmt.Errorf("read %s: %w", r.Path, err)
	}
	err := guard.Do(func() error {
		if err := r.fill(i, s, false); err != nil {
			return err
		}
		return r.VerifyChecksum(s)
	})
	if err != nil {
		return fmt.Errorf("read %s: %s: %w", r.Path, r.index.Name(i), err)
	}
	return nil
}

// View implements formats.Viewer.
func (r *ValueReader) View(i int, s *formats.Sample) error {
	if err := r.Gate.Enter(i); err != nil {
		return err
	}
	defer r.Gate.Leave(i)
	if err := r.CheckRead(i); err != nil {
		return fmt.Errorf("view %s: %w", r.Path, err)
	}
	r.Gate.Lend()
	if err := r.fill(i, s, true); err != nil {
		return fmt.Errorf("view %s: %s: %w", r.Path, r.index.Name(i), err)
	}
	return nil
}

// fill sets s to sample i; with lend, Data is not copied.
func (r *ValueReader) fill(i int, s *formats.Sample, lend bool) error {
	e, err := r.index.At(i)
	if err == nil {
		err = e.Fill(s)
	}
	if err != nil {
		return err
	}
	s.Resize(len(r.meta.Schema))
	for k, f := range r.meta.Schema {
		v := &s.Values[k]
		if f.Kind == formats.Label && k == r.meta.Schema.LabelIndex() {
			value.SetLabel(v, e.Label(), lend)
			continue
		}
		mark := guard.Now()
		v.SetShape()
		lent, err := r.Lend(i, e, k, v.Shape)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		v.Data, v.Encoding, v.DType = lent.Data, lent.Encoding, lent.DType
		v.SetShape(lent.Shape...)
		if lend {
			continue
		}
		v.Copy(lent.Data)
		if err := guard.Check(mark, lent.Data); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

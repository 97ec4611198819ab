package staging

import (
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// rowLog has the rows of the samples written so far, in the order of writing: encoded, and on the disk but
// for the last few. Those up to the last checkpoint are in the journal. The later ones are in memory, and
// in a file without a name once they take more than maxTail bytes.
type rowLog struct {
	profile *sampleindex.Profile
	columns int
	history bool   // rows may have Provenance, which the journal then records
	last    []byte // key
	sorted  bool   // the keys ascend

	recorded int      // rows in the journal
	tail     []byte   // the latest rows
	spill    *os.File // the rows before them, since the last checkpoint; nil until needed
	chunks   []int    // the lengths of what was written to it at once
}

// maxTail bounds the memory of rows since the last checkpoint.
const maxTail = 16 << 20

func newRowLog(m *formats.Meta) rowLog {
	return rowLog{profile: sampleindex.NewProfile(m.Columns, 0), columns: len(m.Columns), history: m.History != nil, sorted: true}
}

// append adds a row. dir is the folder for rows that memory has no room for.
func (t *rowLog) append(r *sampleindex.Row, dir string) error {
	if err := t.profile.CheckLimits(r); err != nil {
		return fmt.Errorf("key %q: %w", r.Key, err)
	}
	t.count(r)
	t.tail = sampleindex.AppendRow(t.tail, r, t.history)
	if len(t.tail) < maxTail {
		return nil
	}
	return t.flush(dir)
}

// count adds r to what is known of all rows.
func (t *rowLog) count(r *sampleindex.Row) {
	t.sorted = t.sorted && (t.profile.Len() == 0 || r.Key > string(t.last))
	t.last = append(t.last[:0], r.Key...)
	t.profile.Add(r)
}

func (t *rowLog) flush(dir string) (err error) {
	if t.spill == nil {
		if t.spill, err = os.CreateTemp(dir, "rows"); err != nil {
			return err
		}
		if err := os.Remove(t.spill.Name()); err != nil {
			return err
		}
	}
	if _, err := t.spill.Write(t.tail); err != nil {
		return err
	}
	t.chunks, t.tail = append(t.chunks, len(t.tail)), t.tail[:0]
	return nil
}

// eachChunk calls do with the encoded rows since the last checkpoint, whole rows at a time.
func (t *rowLog) eachChunk(do func(b []byte) error) error {
	at := int64(0)
	var b []byte
	for _, n := range t.chunks {
		b = append(b[:0], make([]byte, n)...)
		if _, err := t.spill.ReadAt(b, at); err != nil {
			return err
		}
		if err := do(b); err != nil {
			return err
		}
		at += int64(n)
	}
	return do(t.tail)
}

// size returns the bytes that eachChunk gives.
func (t *rowLog) size() int64 {
	n := int64(len(t.tail))
	for _, chunk := range t.chunks {
		n += int64(chunk)
	}
	return n
}

// setRecorded empties the log after a checkpoint.
func (t *rowLog) setRecorded() error {
	t.recorded, t.tail, t.chunks = t.profile.Len(), t.tail[:0], nil
	return t.close()
}

func (t *rowLog) close() error {
	if t.spill == nil {
		return nil
	}
	err := t.spill.Close()
	t.spill = nil
	return err
}

// take calls do with each of the rows encoded in b.
func (t *rowLog) take(b []byte, do func(r *sampleindex.Row) error) error {
	c := &wire.Cursor{B: b}
	for len(c.B) > 0 {
		r, err := sampleindex.TakeRow(c, t.columns, t.history)
		if err != nil {
			return err
		}
		if err := do(&r); err != nil {
			return err
		}
	}
	return nil
}

// Len returns the number of samples written so far.
func (s *Stage) Len() int { return s.rows.profile.Len() }

// AppendRow records a sample that has been written; it copies r.
func (s *Stage) AppendRow(r *sampleindex.Row) error { return s.rows.append(r, s.dir) }

// EachRow is the rows of all samples written so far in the order of writing.
func (s *Stage) EachRow(yield func(r *sampleindex.Row) error) error {
	if s.rows.recorded > 0 {
		_, _, err := eachCheckpoint(s.in(journalName), func(*formats.Meta) {}, func(c *checkpoint) error { return s.rows.take(c.rows, yield) })
		if err != nil {
			return err
		}
	}
	return s.rows.eachChunk(func(b []byte) error { return s.rows.take(b, yield) })
}

// rowsByKey is EachRow in key order. If the samples were not written in this order, the rows are sorted, on
// the disk if they take more memory than the dataset was created with.
func (s *Stage) rowsByKey(yield func(r *sampleindex.Row) error) (err error) {
	if s.rows.sorted {
		return s.EachRow(yield)
	}
	sorter := extsort.New(s.dir, s.memory)
	defer func() {
		if closing := sorter.Close(); err == nil {
			err = closing
		}
	}()
	var b []byte
	err = s.EachRow(func(r *sampleindex.Row) error {
		b = sampleindex.AppendRow(b[:0], r, s.rows.history)
		return sorter.Add([]byte(r.Key), b)
	})
	if err != nil {
		return err
	}
	return sorter.Each(func(_, b []byte) error { return s.rows.take(b, yield) })
}

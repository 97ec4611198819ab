package staging

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// If a dataset's bytes depend on where its checkpoints are, as an LMDB's do, the samples that were written since the
// last one are kept beside it, in a file of records like the journal's. The first record names the state of the journal
// that the file continues. Then follow the values of samples, as they are stored, the rows of these samples, and a note,
// which ends what one Save wrote. A kill may leave samples without a note at the end, or the file of an earlier
// checkpoint: both are ignored.
//
// A run that resumes such a dataset adds its samples to the file too, until the next checkpoint: LoadSaved then gives
// them to the format. If each start gave them, runs that are stopped soon would do nothing else.

const savedPath = dataName + "/saved" // there an earlier dsconv removes it with the rest

// The first byte of a record tells what it is.
const (
	savedValues = 'v' // a key, and the values of its sample
	savedRows   = 'r'
	savedNote   = 'n'
)

// markedTail is how much of the journal's end a saved file names by its checksum.
const markedTail = 64 << 10

// savedFile is the file of saved samples.
type savedFile struct {
	f       *os.File
	w       *bufio.Writer // to f
	written int64         // bytes
	end     int64         // of the last note's record
	rows    int64         // bytes of the rows that it has
	ahead   bool          // it has samples that the format's files lack
	record  []byte        // reused
}

// put appends a record.
func (f *savedFile) put(b []byte) error {
	if int64(len(b)) > maxRecord {
		return fmt.Errorf("a record of %d bytes cannot be saved", len(b))
	}
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHeader), uint32(len(b)))
	_, err := f.w.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(b, checksum.Castagnoli)))
	if err == nil {
		_, err = f.w.Write(b)
	}
	f.written += recordHeader + int64(len(b))
	return err
}

// truncate removes what follows the last note.
func (f *savedFile) truncate() error {
	f.w, f.written = bufio.NewWriterSize(io.NewOffsetWriter(f.f, f.end), 1<<20), f.end
	return f.f.Truncate(f.end)
}

// journalMark identifies the state of a journal.
func journalMark(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(st.Size(), markedTail))
	if _, err := f.ReadAt(b, st.Size()-int64(len(b))); err != nil {
		return nil, err
	}
	mark := binary.LittleEndian.AppendUint64(nil, uint64(st.Size()))
	return binary.LittleEndian.AppendUint32(mark, crc32.Checksum(b, checksum.Castagnoli)), nil
}

// SavesOnly reports whether samples are added by SaveValues, and are not in the format's files, until LoadSaved.
func (s *Stage) SavesOnly() bool { return s.saved.ahead }

// SaveValues adds the values of the sample whose row was added last, as they are stored: values appends them.
func (s *Stage) SaveValues(key string, values func(b []byte) []byte) error {
	f := &s.saved
	f.record = values(wire.AppendBytes(append(f.record[:0], savedValues), key))
	if err := f.put(f.record); err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	return nil
}

// save makes the samples since the last checkpoint durable together with note, and does not touch the format's files.
// values appends the values of the sample with that key to b. After an error the samples of the Save before are
// still there. If SavesOnly, no sample can be added any more; else the dataset can be written as before.
func (s *Stage) save(note []byte, values func(b []byte, key string) ([]byte, error)) error {
	err := errors.Join(s.CheckOpen(), s.failed)
	if err == nil {
		err = s.startSaved()
	}
	if err == nil && !s.saved.ahead {
		err = s.saved.truncate()
	}
	if err != nil {
		return err
	}
	f, at := &s.saved, int64(0)
	err = s.rows.eachChunk(func(rows []byte) error {
		fresh := rows[min(max(f.rows-at, 0), int64(len(rows))):]
		if at += int64(len(rows)); len(fresh) == 0 {
			return nil
		}
		if !f.ahead {
			if err := s.saveValuesOf(fresh, values); err != nil {
				return err
			}
		}
		return f.put(append([]byte{savedRows}, fresh...))
	})
	if err == nil {
		err = f.put(append([]byte{savedNote}, note...))
	}
	if err = errors.Join(err, f.w.Flush()); err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.f.Name(), err)
	}
	f.rows, f.end = at, f.written
	return nil
}

func (s *Stage) saveValuesOf(rows []byte, values func(b []byte, key string) ([]byte, error)) error {
	return s.rows.take(rows, func(r *sampleindex.Row) error {
		var err error
		put := s.SaveValues(r.Key, func(b []byte) []byte {
			b, err = values(b, r.Key)
			return b
		})
		return errors.Join(err, put)
	})
}

// startSaved creates the file of saved samples, if there is none.
func (s *Stage) startSaved() (err error) {
	if s.saved.f != nil {
		return nil
	}
	mark, err := journalMark(s.journal)
	if err != nil {
		return err
	}
	if err := s.root.Remove(savedPath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return s.named(err)
	}
	if s.saved.f, err = s.root.OpenFile(savedPath, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return err
	}
	if err = appendRecord(s.saved.f, mark, nothing); err == nil {
		err = syncDirs(s.file(dataName))
	}
	if err != nil {
		return errors.Join(err, s.dropSaved())
	}
	s.saved.end, s.saved.rows = recordHeader+int64(len(mark)), 0
	return nil
}

// ReadSaved opens the file of saved samples, and records their rows. Note is that of the last Save afterwards.
func (s *Stage) ReadSaved() error {
	f, note, err := openSaved(s.in(savedPath), s.journal, func(rows []byte, values int) error {
		before := s.Len()
		err := s.rows.take(rows, s.addSaved)
		if n := s.Len() - before; err == nil && n != values {
			err = fmt.Errorf("%w: it has the values of %d samples, and the rows of %d", formats.ErrDamaged, values, n)
		}
		return err
	})
	if f.f == nil || err != nil {
		return err
	}
	s.saved, s.Note = f, note
	s.saved.rows, s.saved.ahead = s.rows.size(), true
	return s.saved.truncate()
}

// addSaved records a row of the file of saved samples.
func (s *Stage) addSaved(r *sampleindex.Row) error {
	if s.Len() > 0 && r.Key <= string(s.rows.last) {
		return fmt.Errorf("%w: the key %q comes after %q", formats.ErrDamaged, r.Key, s.rows.last)
	}
	if err := r.CheckTaken(); err != nil {
		return err
	}
	return s.AppendRow(r)
}

// LoadSaved calls put with the key and the values of each sample that the format's files lack: from now on they have
// them. put must not keep values.
func (s *Stage) LoadSaved(put func(key string, values *wire.Cursor) error) error {
	f := &s.saved
	if !f.ahead {
		return nil
	}
	err := f.w.Flush()
	if err == nil {
		err = eachSaved(f.f, f.written, nil, func(kind byte, b []byte, _ int64) error {
			if kind != savedValues {
				return nil
			}
			c := &wire.Cursor{B: b}
			return put(string(c.Bytes()), c)
		})
	}
	f.ahead = false
	return err
}

// openSaved opens a file of saved samples, and calls take with the rows that each Save wrote, and for how many samples it
// wrote values. f.f is nil if the file does not exist or does not continue the journal; note is the last one.
func openSaved(file entry, journal *os.File, take func(rows []byte, values int) error) (f savedFile, note []byte, err error) {
	mark, err := journalMark(journal)
	if err != nil {
		return f, nil, err
	}
	if f.f, err = openStaged(file); errors.Is(err, os.ErrNotExist) {
		return savedFile{}, nil, nil
	} else if err != nil {
		return savedFile{}, nil, err
	}
	st, err := f.f.Stat()
	if err == nil {
		var rows []byte
		values := 0
		err = eachSaved(f.f, st.Size(), mark, func(kind byte, b []byte, end int64) (err error) {
			switch kind {
			case savedValues:
				values++
			case savedRows:
				rows = append(rows, b...)
			case savedNote:
				err = take(rows, values)
				note, f.end, rows, values = bytes.Clone(b), end, rows[:0], 0
			}
			return err
		})
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", f.f.Name(), err)
	}
	if err != nil || f.end == 0 {
		return savedFile{}, nil, errors.Join(err, f.f.Close())
	}
	return f, note, nil
}

// eachSaved calls do with the kind and the payload of each whole record in the first size bytes of a file of saved samples, and
// where it ends. do must not keep the payload. Of a file that does not begin with mark, if that is not nil, no record is read.
func eachSaved(f *os.File, size int64, mark []byte, do func(kind byte, b []byte, end int64) error) error {
	records := newRecordReader(io.NewSectionReader(f, 0, size), size)
	records.reuse = true
	for first := true; ; first = false {
		b, err := records.next()
		switch {
		case errors.Is(err, io.EOF), first && mark != nil && !bytes.Equal(b, mark):
			return nil
		case err != nil:
			return err
		case first:
			continue
		case !slices.Contains([]byte{savedValues, savedRows, savedNote}, b[0]):
			return fmt.Errorf("%w: a record of an unknown kind", formats.ErrDamaged)
		}
		if err := do(b[0], b[1:], records.whole); err != nil {
			return err
		}
	}
}

// dropSaved removes the file of saved samples: a checkpoint has them.
func (s *Stage) dropSaved() error {
	if s.saved.f == nil {
		return nil
	}
	err := errors.Join(s.saved.f.Close(), s.root.Remove(savedPath))
	s.saved = savedFile{}
	return err
}

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

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// If a dataset's bytes depend on where its checkpoints are, as an LMDB's do, the samples that were written since the
// last one are kept beside it, in a file of records like the journal's. The first record names the state of the journal
// that the file continues. Each later one is a sample (its row, and its values as they are stored) or a note, which ends
// what one Save wrote. A kill may leave samples without a note at the end, or the file of an earlier checkpoint: both
// are ignored.

const savedPath = dataName + "/saved" // there an earlier dsconv removes it with the rest

// The first byte of a record tells what it is.
const (
	savedSample = 's'
	savedNote   = 'n'
)

// markedTail is how much of the journal's end a saved file names by its checksum.
const markedTail = 64 << 10

// savedFile is the file of saved samples.
type savedFile struct {
	f   *os.File
	n   int   // samples
	end int64 // of the last note's record
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

// save makes the samples since the last checkpoint durable together with note, and does not touch the format's files.
// values appends the stored values of the sample with that key to b. After an error the samples of the Save before are
// still there, and the dataset can be written as before.
func (s *Stage) save(note []byte, values func(b []byte, key string) ([]byte, error)) error {
	if err := errors.Join(s.CheckOpen(), s.failed); err != nil {
		return err
	}
	if err := s.startSaved(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.saved.f, s.saved.end), 1<<20)
	size := int64(0)
	put := func(b []byte) error {
		head := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
		_, err := w.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(b, checksum.Castagnoli)))
		if err == nil {
			_, err = w.Write(b)
		}
		size += recordHeader + int64(len(b))
		return err
	}
	at, row, b := 0, []byte(nil), []byte(nil)
	err := s.rows.eachChunk(func(chunk []byte) error {
		return s.rows.take(chunk, func(r *sampleindex.Row) (err error) {
			if at++; at <= s.saved.n {
				return nil
			}
			row = sampleindex.AppendRow(row[:0], r, s.rows.history)
			if b, err = values(wire.AppendBytes(append(b[:0], savedSample), row), r.Key); err != nil {
				return err
			}
			if int64(len(b)) > maxRecord {
				return fmt.Errorf("key %q: a sample of %d bytes cannot be saved", r.Key, len(b))
			}
			return put(b)
		})
	})
	if err == nil {
		err = put(append([]byte{savedNote}, note...))
	}
	if err = errors.Join(err, w.Flush()); err == nil {
		err = s.saved.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.saved.f.Name(), err)
	}
	s.saved.n, s.saved.end = at, s.saved.end+size
	return nil
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
	s.saved.end = recordHeader + int64(len(mark))
	return nil
}

// Replay opens the file of saved samples. It records the row of each sample and calls put with the sample's key and
// values, as Save had them. Note is that of the last Save afterwards. put must not keep values.
func (s *Stage) Replay(put func(key string, values *wire.Cursor) error) error {
	f, note, end, err := openSaved(s.in(savedPath), s.journal)
	if f == nil || err != nil {
		return err
	}
	s.saved = savedFile{f: f, end: end}
	err = s.rows.eachSaved(f, end, func(r *sampleindex.Row, values *wire.Cursor) error {
		if s.Len() > 0 && r.Key <= string(s.rows.last) {
			return fmt.Errorf("%w: the key %q comes after %q", formats.ErrDamaged, r.Key, s.rows.last)
		}
		if err := s.AppendRow(r); err != nil {
			return err
		}
		s.saved.n++
		return put(r.Key, values)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	s.Note = note
	return f.Truncate(end)
}

// openSaved opens a file of saved samples. f is nil if it does not exist or does not continue the journal.
// end is the end of the last note.
func openSaved(file entry, journal *os.File) (f *os.File, note []byte, end int64, err error) {
	mark, err := journalMark(journal)
	if err != nil {
		return nil, nil, 0, err
	}
	f, err = openStaged(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	records, err := recordsFrom(f, 0)
	if err == nil {
		records.reuse = true
	}
	for i := 0; err == nil; i++ {
		var b []byte
		if b, err = records.next(); err != nil {
			break
		}
		if i == 0 && string(b) != string(mark) {
			err = io.EOF
		} else if i > 0 && b[0] == savedNote {
			note, end = bytes.Clone(b[1:]), records.whole
		}
	}
	if !errors.Is(err, io.EOF) || end == 0 {
		if closing := f.Close(); errors.Is(err, io.EOF) {
			err = closing
		}
		return nil, nil, 0, err
	}
	return f, note, end, nil
}

// eachSaved calls do with the row and the values of each sample in a file of saved samples, up to byte end.
func (t *rowLog) eachSaved(f *os.File, end int64, do func(r *sampleindex.Row, values *wire.Cursor) error) error {
	records := newRecordReader(io.NewSectionReader(f, 0, end), end)
	records.reuse = true
	if _, err := records.next(); err != nil {
		return err
	}
	for {
		b, err := records.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b[0] != savedSample {
			continue
		}
		c := &wire.Cursor{B: b[1:]}
		rows, read := c.Bytes(), 0
		if c.Failed {
			return fmt.Errorf("%w: a saved sample cannot be parsed", formats.ErrDamaged)
		}
		err = t.take(rows, func(r *sampleindex.Row) error {
			if read++; read > 1 {
				return fmt.Errorf("%w: a saved sample cannot be parsed", formats.ErrDamaged)
			}
			if err := r.CheckTaken(); err != nil {
				return err
			}
			return do(r, c)
		})
		if err != nil {
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

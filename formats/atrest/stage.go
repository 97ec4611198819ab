package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// Suffix is what is appended to a dataset's path to name the folder it grows in.
const Suffix = ".partial"

// Stage is the folder DST.partial: a lock, the journal, and data/ with the format's own
// files. It belongs to one goroutine.
type Stage struct {
	Meta  formats.Meta
	Table *Table // rows in the order of writing
	State []byte // the format's, of the last checkpoint; nil if there was none
	Note  []byte // the caller's, likewise

	dir      string
	journal  *os.File
	unlock   func() error
	recorded int // rows in the journal
}

// CreateStage starts the stage of a dataset at path. final is the file or folder whose
// presence says that the dataset is finished; with replace it may be there. The formats'
// errors ErrExists, ErrPartial and ErrLocked are in the chain of its own.
func CreateStage(path, final string, m formats.Meta, replace bool) (*Stage, error) {
	if err := m.Schema.Validate(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(final); err == nil && !replace {
		return nil, fmt.Errorf("%s: %w", final, formats.ErrExists)
	}
	s := &Stage{Meta: m, Table: NewTable(m.Columns), dir: path + Suffix}
	if err := os.MkdirAll(filepath.Join(s.dir, "data"), 0o755); err != nil {
		return nil, err
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) start() (err error) {
	path := filepath.Join(s.dir, "journal")
	switch _, _, _, err := readJournal(path); {
	case err == nil:
		return fmt.Errorf("%s: %w", s.dir, formats.ErrPartial)
	case !errors.Is(err, formats.ErrNoPartial):
		return err
	}
	if s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return err
	}
	b, err := json.Marshal(s.Meta)
	if err != nil {
		return err
	}
	if err := appendRecord(s.journal, b); err != nil {
		return err
	}
	return errors.Join(SyncDir(s.dir), SyncDir(filepath.Dir(s.dir)))
}

// ResumeStage opens the stage of an unfinished dataset at path as of its last checkpoint.
// ErrNoPartial if there is none. If all that was left to do was to publish it, that is
// done and the error is ErrPublished.
func ResumeStage(path string) (*Stage, error) {
	s := &Stage{dir: path + Suffix}
	if _, err := os.Stat(s.dir); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", s.dir, formats.ErrNoPartial)
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	if err := s.reopen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) reopen() error {
	if err := s.publish(); err == nil {
		return formats.ErrPublished
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	path := filepath.Join(s.dir, "journal")
	m, t, last, err := readJournal(path)
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	s.Meta, s.Table, s.recorded, s.State, s.Note = *m, t, t.Len(), last.state, last.note
	s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	return err
}

func (s *Stage) lock() error {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%s: %w", s.dir, formats.ErrLocked)
		}
		return fmt.Errorf("lock %s: %w", s.dir, err)
	}
	s.unlock = f.Close
	return nil
}

// Path is the path of one of the format's own files.
func (s *Stage) Path(name string) string { return filepath.Join(s.dir, "data", name) }

// Add remembers the manifest's row of smp, whose record went to place.
func (s *Stage) Add(smp *formats.Sample, place Place) error {
	img := &smp.Values[s.Meta.Schema.ImageIndex()]
	r := Row{Place: place, Info: formats.Info{
		Key: smp.Key, Split: smp.Split, Label: formats.NoLabel, Size: int64(len(img.Data)), Encoding: img.Encoding,
		Sum: smp.Sum, Source: smp.Source, Columns: smp.Columns,
	}}
	if len(img.Shape) == 3 {
		r.Shape = [3]int(img.Shape)
	}
	if i := s.Meta.Schema.LabelIndex(); i >= 0 && s.Meta.Schema[i].Kind == formats.Label {
		if x, ok := smp.Values[i].Int64(); ok {
			r.Label = x
		}
	}
	return s.Table.Append(&r)
}

// CheckSample reports why smp cannot be written: a bad key, values that do not fit the
// schema, and, where ordered, a key that is not larger than the last one.
func (s *Stage) CheckSample(smp *formats.Sample, ordered bool) error {
	if err := formats.CheckKey(smp.Key); err != nil {
		return fmt.Errorf("key %q: %w", smp.Key, err)
	}
	if len(smp.Values) != len(s.Meta.Schema) {
		return fmt.Errorf("key %q: %w: %d values for %d fields", smp.Key, formats.ErrSchema, len(smp.Values), len(s.Meta.Schema))
	}
	if len(smp.Columns) != len(s.Meta.Columns) {
		return fmt.Errorf("key %q: %w: %d user columns, the dataset has %d", smp.Key, formats.ErrSchema, len(smp.Columns), len(s.Meta.Columns))
	}
	for i := range smp.Values {
		if err := checkValue(&s.Meta.Schema[i], &smp.Values[i]); err != nil {
			return fmt.Errorf("key %q: %w", smp.Key, err)
		}
	}
	if n := s.Table.Len(); ordered && n > 0 && smp.Key <= s.Table.Key(n-1) {
		return fmt.Errorf("key %q after %q: %w", smp.Key, s.Table.Key(n-1), formats.ErrOrder)
	}
	return nil
}

// Checkpoint records the rows since the last one with the format's state and the caller's
// note. The format's own files must be on the disk before.
func (s *Stage) Checkpoint(state, note []byte) error {
	if err := appendRecord(s.journal, encodeCheckpoint(s.Table, s.recorded, state, note)); err != nil {
		return err
	}
	s.recorded, s.State, s.Note = s.Table.Len(), state, note
	return nil
}

// Close gives the lock back and leaves the folder as it is.
func (s *Stage) Close() error {
	var err error
	if s.journal != nil {
		err = s.journal.Close()
		s.journal = nil
	}
	if s.unlock != nil {
		err = errors.Join(err, s.unlock())
		s.unlock = nil
	}
	return err
}

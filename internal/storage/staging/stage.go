package staging

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// Stage is the staging folder DST.partial: a lock, the journal, and data/ with the format's
// files. It belongs to one goroutine.
type Stage struct {
	Meta  formats.Meta
	State []byte // the format's state in the last checkpoint; nil if there was none
	Note  []byte // the caller's note in the last checkpoint

	dir          string
	root         *os.Root // of dir
	parent       *os.Root // of the folder that has it and the dataset
	journal      *os.File
	lockFile     *os.File                 // the lock
	rows         rowLog                   // of the samples written so far
	saved        savedFile                // of the samples since the last checkpoint
	memory       int64                    // for sorting rows, see formats.CreateOptions
	failed       error                    // a failed write to the journal: what it holds is unknown since
	oldChecksums checksum.ChecksumsByName // of the replaced dataset; nil until needed
	removed      []formats.RemovedSample
	open         *forgotten.Open
}

// The names in the staging folder.
const (
	lockName           = "lock"
	journalName        = "journal"
	removedJournalName = "journal.gone" // the journal's name while all else is removed
	publishListName    = "publish"      // the list of files to publish
	dataName           = "data"
	replacedName       = "old" // the replaced dataset, temporarily
	// SourceListName is the caller's file that lists the source's samples.
	SourceListName = "source"
)

// createStage creates the staging folder of a dataset at path. final is the file or folder that
// exists if the dataset is finished; only with replace may it exist. ErrExists, ErrPartial or
// ErrLocked as in formats.WritableFormat.
func createStage(path, final string, m formats.Meta, o formats.CreateOptions) (*Stage, error) {
	if err := m.Schema.Validate(); err != nil {
		return nil, err
	}
	m.Version = m.RequiredVersion()
	s := &Stage{Meta: m, rows: newRowLog(&m), memory: o.Memory, dir: filepath.Clean(path) + sidecar.PartialSuffix}
	if !durable.Exists(s.dir) && durable.Exists(final) && !o.Replace {
		return nil, fmt.Errorf("%s: %w: choose another path, or allow replacing it", final, formats.ErrExists)
	}
	if err := durable.CheckParent(path); err != nil {
		return nil, err
	}
	if err := s.lock(true); err != nil {
		return nil, err
	}
	if err := s.checkUnused(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// Checked again: the previous holder of the lock may have finished the dataset.
	if durable.Exists(final) && !o.Replace {
		return nil, errors.Join(fmt.Errorf("%s: %w: choose another path, or allow replacing it", final, formats.ErrExists), s.remove())
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.track()
	return s, nil
}

// track records that the Stage is open. If it is forgotten, its files, and so its lock, are closed
// by the runtime.
func (s *Stage) track() { s.open = forgotten.Track(s, "writer of "+s.target(), func() {}) }

// target is the dataset's path.
func (s *Stage) target() string { return strings.TrimSuffix(s.dir, sidecar.PartialSuffix) }

// CheckOpen returns ErrClosed after Close and after a successful publication.
func (s *Stage) CheckOpen() error {
	if s.lockFile == nil {
		return fmt.Errorf("%s: the writer cannot be used any more: %w", s.target(), formats.ErrClosed)
	}
	return nil
}

// checkUnused returns ErrPartial if there is an unfinished dataset to resume.
func (s *Stage) checkUnused() error {
	if s.isComplete() {
		return fmt.Errorf("%s: %w: it is complete", s.dir, formats.ErrPartial)
	}
	begun, err := s.hasJournal()
	if err == nil && !begun {
		begun, err = s.journalLost() // resuming it reports what is wrong
	}
	if err != nil || !begun {
		return err
	}
	return fmt.Errorf("%s: %w", s.dir, formats.ErrPartial)
}

// start clears the folder except for the lock, since remains of an earlier dataset must not get
// into this one, and begins the journal.
func (s *Stage) start() (err error) {
	if err := s.clear(removedJournalName, lockName); err != nil {
		return err
	}
	if err := s.root.Mkdir(dataName, 0o755); err != nil {
		return s.named(err)
	}
	if s.journal, err = s.root.OpenFile(journalName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return s.named(err)
	}
	b, err := json.Marshal(s.Meta)
	if err != nil {
		return err
	}
	if err := appendRecord(s.journal, b, nothing); err != nil {
		return err
	}
	// Until now it identified the folder as dsconv's.
	if err := removeFiles(s.root, removedJournalName); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(s.dir), durable.SyncDir(filepath.Dir(s.dir)))
}

// resumeStage opens the staging folder of an unfinished dataset at path as of its last
// checkpoint. ErrNoPartial if there is none. If the dataset only had to be published,
// resumeStage does that and the error is ErrPublished.
func resumeStage(path string, o formats.CreateOptions) (*Stage, error) {
	s := &Stage{memory: o.Memory, dir: filepath.Clean(path) + sidecar.PartialSuffix}
	if err := s.lock(false); err != nil {
		return nil, err
	}
	if err := s.reopen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.track()
	return s, nil
}

func (s *Stage) reopen() error {
	if s.isComplete() {
		if err := s.publish(); err != nil {
			return err
		}
		return formats.ErrPublished
	}
	m, rows, last, err := readJournal(s.in(journalName), func(*sampleindex.Row) error { return nil })
	if errors.Is(err, formats.ErrNoPartial) {
		if lost, lerr := s.journalLost(); lerr != nil || lost {
			return errors.Join(fmt.Errorf("%s: %w: the journal's first record cannot be read; discard it to start over", s.dir, formats.ErrDamaged), lerr)
		}
		return errors.Join(fmt.Errorf("%s: %w", s.dir, err), s.remove())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	s.Meta, s.rows, s.State, s.Note = *m, rows, last.state, last.note
	if err := checkTree(s.in(dataName)); err != nil {
		return err
	}
	s.journal, err = reopenJournal(s.in(journalName), last)
	return err
}

// Discard removes the unfinished dataset at path, if there is one. ErrLocked if another
// process is writing it. If the dataset only had to be published, Discard does that and
// the error is ErrPublished.
func Discard(path string) error {
	s := &Stage{dir: filepath.Clean(path) + sidecar.PartialSuffix}
	if err := s.lock(false); errors.Is(err, formats.ErrNoPartial) {
		return nil
	} else if err != nil {
		return err
	}
	if s.isComplete() {
		err := s.publish()
		if err == nil {
			return formats.ErrPublished
		}
		// If the list is damaged, no step of it was done unless there are old files.
		if !errors.Is(err, formats.ErrDamaged) || !s.nothingReplaced() {
			return errors.Join(err, s.Close())
		}
	}
	if err := s.remove(); err != nil {
		return errors.Join(fmt.Errorf("discard %s: %w", s.dir, err), s.Close())
	}
	return nil
}

// DiscardEmpty removes the unfinished dataset at path if nothing was written to it, so that
// nothing is lost. ErrPartial otherwise.
func DiscardEmpty(path string) error {
	s, err := resumeStage(path, formats.CreateOptions{})
	if errors.Is(err, formats.ErrNoPartial) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Len() > 0 || len(s.Note) > 0 || s.in(savedPath).exists() {
		return errors.Join(fmt.Errorf("%s: %w", s.dir, formats.ErrPartial), s.Close())
	}
	return s.remove()
}

// nothingReplaced reports whether no file of the replaced dataset is in the staging folder.
func (s *Stage) nothingReplaced() bool {
	entries, err := s.in(replacedName).list()
	return errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0
}

// EachUnfinished calls yield with each row of the unfinished dataset at path as of its last checkpoint, or of what was
// saved after it. The caller must hold its lock. ErrNoPartial if there is none.
func EachUnfinished(path string, yield func(r *sampleindex.Row) error) error {
	root, err := OpenOwn(filepath.Clean(path) + sidecar.PartialSuffix)
	if durable.IsMissing(err) {
		return formats.ErrNoPartial
	}
	if err != nil {
		return err
	}
	defer root.Close()
	_, rows, _, err := readJournal(entry{root, journalName}, yield)
	if err != nil {
		return err
	}
	journal, _, err := entry{root, journalName}.openRegular(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer journal.Close()
	f, _, err := openSaved(entry{root, savedPath}, journal, func(b []byte, _ int) error { return rows.take(b, yield) })
	if f.f == nil || err != nil {
		return err
	}
	return f.f.Close()
}

func (s *Stage) file(name string) string { return filepath.Join(s.dir, name) }

// Path returns the path of one of the format's files.
func (s *Stage) Path(name string) string { return filepath.Join(s.dir, dataName, name) }

// Add appends the manifest's row of smp, whose record was written to location.
func (s *Stage) Add(smp *formats.Sample, location sampleindex.Location) error {
	img := &smp.Values[s.Meta.Schema.ImageIndex()]
	r := sampleindex.Row{Location: location, Info: formats.Info{
		Key: smp.Key, Split: smp.Split, Label: formats.NoLabel, Size: int64(len(img.Data)), Encoding: img.Encoding,
		Checksum: smp.Checksum, Source: smp.Source, Columns: smp.Columns, Provenance: smp.Provenance,
	}}
	if len(img.Shape) == 3 {
		r.Shape = [3]int(img.Shape)
	}
	if i := s.Meta.Schema.LabelIndex(); i >= 0 && s.Meta.Schema[i].Kind == formats.Label {
		if x, ok := smp.Values[i].Int64(); ok {
			r.Label = x
		}
	}
	return s.AppendRow(&r)
}

// CheckSample reports why smp cannot be written: the Stage is closed, a bad key, values that do not
// match the schema, or, if ordered, a key that is not larger than the last one.
func (s *Stage) CheckSample(smp *formats.Sample, ordered bool) error {
	if err := s.CheckOpen(); err != nil {
		return err
	}
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
		if err := value.CheckValue(&s.Meta.Schema[i], &smp.Values[i]); err != nil {
			return fmt.Errorf("key %q: %w", smp.Key, err)
		}
	}
	if ordered && s.Len() > 0 && smp.Key <= string(s.rows.last) {
		return fmt.Errorf("key %q: %w: it comes after %q", smp.Key, formats.ErrOrder, s.rows.last)
	}
	return nil
}

// Checkpoint records the rows since the last checkpoint with the format's state and the
// caller's note. The format must have synced its files; Checkpoint syncs their folders.
// After a failure it fails permanently: what the disk has of the record is unknown, so only
// Close and resumeStage may follow.
func (s *Stage) Checkpoint(state, note []byte) error {
	if err := s.CheckOpen(); err != nil {
		return err
	}
	if s.failed == nil {
		s.failed = s.record(state, note)
	}
	return s.failed
}

func (s *Stage) record(state, note []byte) error {
	if err := syncDirs(s.file(dataName)); err != nil {
		return err
	}
	head := encodeCheckpoint(s.Len()-s.rows.recorded, state, note)
	if err := appendRecord(s.journal, head, s.rows.eachChunk); err != nil {
		return err
	}
	s.State, s.Note = state, note
	return errors.Join(s.rows.setRecorded(), s.dropSaved())
}

// Close releases the lock and leaves the folder as it is.
func (s *Stage) Close() error {
	s.open.Done()
	err := errors.Join(s.closeJournal(), s.rows.close())
	if s.saved.f != nil {
		err = errors.Join(err, s.saved.f.Close())
		s.saved = savedFile{}
	}
	if s.lockFile != nil {
		err = errors.Join(err, s.lockFile.Close())
		s.lockFile = nil
	}
	for _, root := range []**os.Root{&s.root, &s.parent} {
		if *root != nil {
			err = errors.Join(err, (*root).Close())
			*root = nil
		}
	}
	return err
}

func (s *Stage) closeJournal() error {
	if s.journal == nil {
		return nil
	}
	err := s.journal.Close()
	s.journal = nil
	return err
}

// Recover completes what a kill left of a new version of the dataset at path. A version that
// only had to be published is published, and done is true. An empty staging folder is removed,
// one that can be resumed stays. ErrLocked if another process is writing it.
func Recover(path string) (done bool, err error) {
	s, err := resumeStage(path, formats.CreateOptions{})
	switch {
	case err == nil:
		return false, s.Close()
	case errors.Is(err, formats.ErrPublished):
		return true, nil
	case errors.Is(err, formats.ErrNoPartial), errors.Is(err, formats.ErrDamaged):
		return false, nil // resuming it reports the damage
	}
	return false, err
}

package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// Suffix is what is appended to a dataset's path to name the folder it grows in.
const PartialSuffix = ".partial"

// Stage is the folder DST.partial: a lock, the journal, and data/ with the format's own
// files. It belongs to one goroutine.
type Stage struct {
	Meta     formats.Meta
	Manifest *Manifest // rows in the order of writing
	State    []byte    // the format's, of the last checkpoint; nil if there was none
	Note     []byte    // the caller's, likewise

	dir          string
	root         *os.Root // of dir
	journal      *os.File
	lockFile     *os.File        // the lock
	recordedRows int             // rows in the journal
	failed       error           // of the journal: what it holds since is not known
	oldChecksums checksumsByName // of the dataset that is replaced; nil until it is asked for
	removed      []formats.RemovedSample
	keepPrevious bool     // what is replaced
	reused       []string // files of what is replaced that the new version has too
}

// What lies in the folder besides data/.
const (
	lockName           = "lock"
	journalName        = "journal"
	removedJournalName = "journal.gone" // what the journal is called while all else is removed
	publishListName    = "publish"      // the list of what to publish
	dataName           = "data"
	replacedName       = "old"   // what is replaced, for a moment
	undoName           = "undo"  // a file that tells that what is published is a version that was kept
	supersededName     = "older" // the version that was kept before, likewise
	// ListingName is the caller's own file, which says what the dataset is made from.
	SourceListName = "source"
)

// CreateStage starts the stage of a dataset at path. final is the file or folder whose
// presence says that the dataset is finished; with replace it may be there. The formats'
// errors ErrExists, ErrPartial and ErrLocked are in the chain of its own.
func CreateStage(path, final string, m formats.Meta, replace bool) (*Stage, error) {
	if err := m.Schema.Validate(); err != nil {
		return nil, err
	}
	m.Version = m.RequiredVersion()
	s := &Stage{Meta: m, Manifest: newManifestFor(&m), dir: filepath.Clean(path) + PartialSuffix}
	if !exists(s.dir) && exists(final) && !replace {
		return nil, fmt.Errorf("%s: %w", final, formats.ErrExists)
	}
	if err := s.lock(true); err != nil {
		return nil, err
	}
	if err := s.checkUnused(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// Only now: whoever had the lock before may have finished the dataset.
	if exists(final) && !replace {
		return nil, errors.Join(fmt.Errorf("%s: %w", final, formats.ErrExists), s.remove())
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isMissing reports whether there is nothing at a path, or no folder where it leads through one.
func isNotExist(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unused is ErrPartial if there is something to go on with.
func (s *Stage) checkUnused() error {
	if s.isComplete() {
		return fmt.Errorf("%s: %w: it is complete", s.dir, formats.ErrPartial)
	}
	_, _, _, err := readJournal(s.file(journalName))
	if err == nil {
		return fmt.Errorf("%s: %w", s.dir, formats.ErrPartial)
	}
	if !errors.Is(err, formats.ErrNoPartial) {
		return err
	}
	if lost, err := s.journalLost(); err != nil || !lost {
		return err
	}
	return fmt.Errorf("%s: %w", s.dir, formats.ErrPartial) // going on with it says what is wrong
}

// start begins with nothing but the lock: what a stage that was removed only in part left
// must not get into the dataset.
func (s *Stage) start() (err error) {
	if err := s.clear(removedJournalName, lockName); err != nil {
		return err
	}
	if err := os.Mkdir(s.file(dataName), 0o755); err != nil {
		return err
	}
	if s.journal, err = os.OpenFile(s.file(journalName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return err
	}
	b, err := json.Marshal(s.Meta)
	if err != nil {
		return err
	}
	if err := appendRecord(s.journal, b); err != nil {
		return err
	}
	// Until now it told that the folder is dsconv's.
	if err := removeFiles(s.root, removedJournalName); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(s.dir), durable.SyncDir(filepath.Dir(s.dir)))
}

// ResumeStage opens the stage of an unfinished dataset at path as of its last checkpoint.
// ErrNoPartial if there is none. If all that was left to do was to publish it, that is
// done and the error is ErrPublished.
func ResumeStage(path string) (*Stage, error) {
	s := &Stage{dir: filepath.Clean(path) + PartialSuffix}
	if err := s.lock(false); err != nil {
		return nil, err
	}
	if err := s.reopen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) reopen() error {
	if s.isComplete() {
		if err := s.publish(); err != nil {
			return err
		}
		return formats.ErrPublished
	}
	m, t, last, err := readJournal(s.file(journalName))
	if errors.Is(err, formats.ErrNoPartial) {
		if lost, lerr := s.journalLost(); lerr != nil || lost {
			return errors.Join(fmt.Errorf("%s: %w: the journal's beginning cannot be read", s.dir, formats.ErrDamaged), lerr)
		}
		return errors.Join(fmt.Errorf("%s: %w", s.dir, err), s.remove())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	s.Meta, s.Manifest, s.recordedRows, s.State, s.Note = *m, t, t.Len(), last.state, last.note
	if err := checkTree(s.file(dataName)); err != nil {
		return err
	}
	s.journal, err = reopenJournal(s.file(journalName), last)
	return err
}

// Discard removes the unfinished dataset at path, if there is one. ErrLocked if another
// process is writing it; if all that was left to do was to publish it, that is done and
// the error is ErrPublished.
func Discard(path string) error {
	s := &Stage{dir: filepath.Clean(path) + PartialSuffix}
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
		// Of a list that is damaged nothing was done, or else there are old files.
		if !errors.Is(err, formats.ErrDamaged) || !s.nothingReplaced() {
			return errors.Join(err, s.Close())
		}
	}
	if err := s.remove(); err != nil {
		return errors.Join(fmt.Errorf("discard %s: %w", s.dir, err), s.Close())
	}
	return nil
}

// DiscardUnbegun removes the unfinished dataset at path if nothing of it was written yet: then
// whoever wants to write something else loses nothing. ErrPartial if there is more.
func DiscardEmpty(path string) error {
	s, err := ResumeStage(path)
	if errors.Is(err, formats.ErrNoPartial) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Manifest.Len() > 0 || len(s.Note) > 0 {
		return errors.Join(fmt.Errorf("%s: %w", s.dir, formats.ErrPartial), s.Close())
	}
	return s.remove()
}

// nothingOld reports whether the stage has nothing of a dataset that is replaced.
func (s *Stage) nothingReplaced() bool {
	entries, err := os.ReadDir(s.file(replacedName))
	return errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0
}

// Unfinished reads what the unfinished dataset at path holds as of its last checkpoint; it
// is for whoever has its lock. ErrNoPartial if there is none.
func ReadUnfinished(path string) (*Manifest, error) {
	_, t, _, err := readJournal(filepath.Join(filepath.Clean(path)+PartialSuffix, journalName))
	return t, err
}

func (s *Stage) file(name string) string { return filepath.Join(s.dir, name) }

// Path is the path of one of the format's own files.
func (s *Stage) Path(name string) string { return filepath.Join(s.dir, dataName, name) }

// Add remembers the manifest's row of smp, whose record went to place.
func (s *Stage) Add(smp *formats.Sample, place Location) error {
	img := &smp.Values[s.Meta.Schema.ImageIndex()]
	r := Row{Location: place, Info: formats.Info{
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
	return s.Manifest.Append(&r)
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
	if n := s.Manifest.Len(); ordered && n > 0 && smp.Key <= s.Manifest.Key(n-1) {
		return fmt.Errorf("key %q after %q: %w", smp.Key, s.Manifest.Key(n-1), formats.ErrOrder)
	}
	return nil
}

// Checkpoint records the rows since the last one with the format's state and the caller's
// note. The format's own files must be on the disk before; their names are made so here.
// Once it failed it fails for good: what the disk has of the record is not known, so that
// only Close and ResumeStage are left.
func (s *Stage) Checkpoint(state, note []byte) error {
	if s.failed == nil {
		s.failed = s.record(state, note)
	}
	return s.failed
}

func (s *Stage) record(state, note []byte) error {
	if err := syncDirs(s.file(dataName)); err != nil {
		return err
	}
	if err := appendRecord(s.journal, encodeCheckpoint(s.Manifest, s.recordedRows, state, note)); err != nil {
		return err
	}
	s.recordedRows, s.State, s.Note = s.Manifest.Len(), state, note
	return nil
}

// Close gives the lock back and leaves the folder as it is.
func (s *Stage) Close() error {
	err := s.closeJournal()
	if s.lockFile != nil {
		err = errors.Join(err, s.lockFile.Close())
		s.lockFile = nil
	}
	if s.root != nil {
		err = errors.Join(err, s.root.Close())
		s.root = nil
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

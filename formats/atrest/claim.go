package atrest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// A folder called DST.partial is a stage of dsconv's if it is a folder, not a link to one, and
// its journal begins as one does, be it with a bit that rotted, or if it holds nothing at all:
// that is what a kill leaves before the journal begins and after all else was removed, or if its
// list of what to publish is empty and all names in it are dsconv's. Whatever else has the name is
// somebody else's: it is named in an error, and nothing in it is changed or removed.

// What may lie in a stage, by name: folders, and files.
var (
	stageFolders = []string{dataName, oldName, olderName}
	stageFiles   = []string{lockName, journalName, goneName, publishName, undoName, ListingName}
)

// foreign is the error about something that is not dsconv's.
func foreign(path, what string) error {
	return fmt.Errorf("%s: %w: %s; move it away, or choose another name", path, formats.ErrForeign, what)
}

// openFolder opens the stage's folder without following a link; with create it makes the
// folder. What is removed in it is removed through the open folder.
func (s *Stage) openFolder(create bool) (*os.Root, error) {
	if create {
		if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
			return nil, err
		}
		if err := os.Mkdir(s.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	st, err := os.Lstat(s.dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, foreign(s.dir, "it is "+durable.KindOf(st.Mode())+", not a folder that dsconv made")
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(st, now) {
		_ = root.Close()
		return nil, fmt.Errorf("%s: it was replaced while it was opened", s.dir)
	}
	return root, nil
}

// claim reports why the folder is not a stage of dsconv's.
func (s *Stage) claim() error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.checkKind(e.Name(), e.Type()); err != nil {
			return err
		}
	}
	for _, name := range []string{journalName, goneName} {
		if ok, err := looksLikeJournal(s.file(name)); ok || err != nil {
			return err
		}
	}
	if ok, err := s.removedEarlier(entries); ok || err != nil {
		return err
	}
	for _, e := range entries {
		if empty, err := s.holdsNothing(e.Name(), e.IsDir()); err != nil {
			return err
		} else if !empty {
			return foreign(s.dir, fmt.Sprintf("it has no journal of dsconv's, but it has %s", e.Name()))
		}
	}
	return nil
}

// removedEarlier reports whether the folder is what an earlier version left when it was killed:
// it removed the journal first and then the rest, with a list of nothing to publish. There is
// nothing in it with a name that is not dsconv's.
func (s *Stage) removedEarlier(entries []fs.DirEntry) (bool, error) {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !isOurs(e.Name()) }) {
		return false, nil
	}
	b, err := readUpTo(s.file(publishName), maxList)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return string(b) == nothingToPublish, err
}

// checkKind refuses an entry that has a name of the stage's and is something else, such as a
// link.
func (s *Stage) checkKind(name string, m fs.FileMode) error {
	folder, file := slices.Contains(stageFolders, name), slices.Contains(stageFiles, name)
	if folder && !m.IsDir() || file && !m.IsRegular() {
		return foreign(s.file(name), "it is "+durable.KindOf(m)+", which dsconv did not make")
	}
	return nil
}

// holdsNothing reports whether the entry can be what a kill leaves of a stage that has no
// journal yet, or no more.
func (s *Stage) holdsNothing(name string, dir bool) (bool, error) {
	switch {
	case dir && slices.Contains(stageFolders, name):
		entries, err := os.ReadDir(s.file(name))
		return len(entries) == 0, err
	case name == journalName || name == goneName:
		return tornJournal(s.file(name))
	case name == lockName:
		st, err := os.Lstat(s.file(name))
		return err == nil && st.Size() == 0, err
	}
	return false, nil
}

// firstBytes of a journal, after the record's header: those of the JSON of a Meta.
var firstBytes = []byte(`{"version":`)

// tornJournal reports whether the file is what a loss of power leaves of a journal's first
// record: nothing, zeros, or its beginning.
func tornJournal(path string) (bool, error) {
	b, err := readUpTo(path, 1<<20)
	if err != nil {
		return false, err
	}
	payload := b[min(recordHeader, len(b)):]
	begun := len(payload) > 0 && bytes.HasPrefix(payload, firstBytes[:min(len(payload), len(firstBytes))])
	return begun || len(bytes.Trim(b, "\x00")) == 0, nil
}

// looksLikeJournal reports whether the file at path is a journal: its first record is there,
// or begins as it does, or the second one is where the first one's length says.
func looksLikeJournal(path string) (bool, error) {
	f, _, err := openPlain(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if ok, err := beginsJournal(f); ok || err != nil {
		return ok, err
	}
	head := make([]byte, recordHeader+len(firstBytes))
	if _, err := f.ReadAt(head, 0); err != nil {
		return false, nil // it is shorter than any journal
	}
	if bytes.HasSuffix(head, firstBytes) {
		return true, nil
	}
	r, err := recordsFrom(f, recordHeader+int64(binary.LittleEndian.Uint32(head)))
	if err == nil {
		_, err = r.next()
	}
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// lostJournal reports whether the stage has a journal of which nothing can be read, though
// it stands for something.
func (s *Stage) lostJournal() (bool, error) {
	if !durable.Exists(s.file(journalName)) || !durable.Exists(s.file(dataName)) {
		return false, nil
	}
	empty, err := s.holdsNothing(dataName, true)
	return !empty, err
}

// isOurs reports whether the stage gives that name to something at its top.
func isOurs(name string) bool {
	return slices.Contains(stageFolders, name) || slices.Contains(stageFiles, name) || durable.IsTemporary(name)
}

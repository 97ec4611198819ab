package staging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// DST.partial is dsconv's staging folder if it is a folder, not a link to one, and one of these
// holds:
//   - its journal begins like a journal, even with a damaged bit;
//   - it is empty, which a kill leaves before the journal begins or after all else was removed;
//   - its publish list is empty and all names in it are dsconv's.
//
// Anything else of that name is the user's: an error names it, and nothing in it is changed or
// removed.

// The names of folders and files in a staging folder.
var (
	stageFolders = []string{dataName, replacedName}
	stageFiles   = []string{lockName, journalName, removedJournalName, publishListName, SourceListName}
)

// foreignError is the error about a file or folder that is not dsconv's.
func foreignError(path, what string) error {
	return fmt.Errorf("%s: %w: %s; move it away or choose another name", path, formats.ErrForeign, what)
}

// openFolder opens the staging folder without following a link; with create it makes the
// folder, which is for this user alone: what is published has the usual modes. Whatever is done to files in
// it is done through the open folder. ErrForeign if others could have put something there: it would be taken
// for dsconv's own.
func (s *Stage) openFolder(create bool) (*os.Root, error) {
	if create {
		if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	st, err := os.Lstat(s.dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, foreignError(s.dir, "it is "+durable.KindOf(st.Mode())+", not a folder")
	}
	if s.parent, err = os.OpenRoot(filepath.Dir(s.dir)); err != nil {
		return nil, err
	}
	root, err := OpenOwn(s.dir)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(st, now) {
		_ = root.Close()
		return nil, fmt.Errorf("%s: another process replaced it while it was opened; repeat the command", s.dir)
	}
	return root, nil
}

// OpenOwn opens a folder that is dsconv's by its name; ErrForeign if others could have put something there.
func OpenOwn(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f, err := root.Open(".")
	if err == nil {
		if own := durable.CheckOwn(f); own != nil {
			err = fmt.Errorf("%s: %w: %w: let its owner finish or remove it, take the right to write to it from others if they can be trusted (chmod go-w), or choose another path", dir, formats.ErrForeign, own)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// checkOwned reports why the folder is not dsconv's staging folder.
func (s *Stage) checkOwned() error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.checkKind(e.Name(), e.Type()); err != nil {
			return err
		}
	}
	for _, name := range []string{journalName, removedJournalName} {
		if ok, err := looksLikeJournal(s.in(name)); ok || err != nil {
			return err
		}
	}
	for _, e := range entries {
		if empty, err := s.isEmptyRemains(e.Name(), e.IsDir()); err != nil {
			return err
		} else if !empty {
			return foreignError(s.dir, fmt.Sprintf("it has no dsconv journal, but it has %s", e.Name()))
		}
	}
	return nil
}

// checkKind returns an error if an entry with a name of the staging folder is of the wrong type,
// such as a link.
func (s *Stage) checkKind(name string, m fs.FileMode) error {
	folder, file := slices.Contains(stageFolders, name), slices.Contains(stageFiles, name)
	if folder && !m.IsDir() || file && !m.IsRegular() {
		return foreignError(s.file(name), "it is "+durable.KindOf(m))
	}
	return nil
}

// isEmptyRemains reports whether the entry can be left by a kill before the journal was written
// or after it was removed.
func (s *Stage) isEmptyRemains(name string, dir bool) (bool, error) {
	switch {
	case dir && slices.Contains(stageFolders, name):
		entries, err := s.in(name).list()
		return len(entries) == 0, err
	case name == journalName || name == removedJournalName:
		return tornJournal(s.in(name))
	case name == lockName:
		st, err := s.root.Lstat(name)
		return err == nil && st.Size() == 0, err
	}
	return false, nil
}

// metaPrefix begins a journal after the record's header: the first bytes of a Meta as JSON.
var metaPrefix = []byte(`{"version":`)

// tornJournal reports whether the file is what a power failure leaves of a journal's first
// record: nothing, zeros, or its beginning.
func tornJournal(journal entry) (bool, error) {
	b, err := journal.readUpTo(1 << 20)
	if err != nil {
		return false, err
	}
	payload := b[min(recordHeader, len(b)):]
	begun := len(payload) > 0 && bytes.HasPrefix(payload, metaPrefix[:min(len(payload), len(metaPrefix))])
	return begun || len(bytes.Trim(b, "\x00")) == 0, nil
}

// looksLikeJournal reports whether the file is a journal: its first record is whole or
// begins correctly, or a second record follows at the offset that the first one's length gives.
func looksLikeJournal(file entry) (bool, error) {
	f, _, err := file.openRegular(os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if ok, err := hasJournalStart(f); ok || err != nil {
		return ok, err
	}
	head := make([]byte, recordHeader+len(metaPrefix))
	if _, err := f.ReadAt(head, 0); err != nil {
		return false, nil // it is shorter than any journal
	}
	if bytes.HasSuffix(head, metaPrefix) {
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

// hasJournal reports whether there is a journal whose first record can be read.
func (s *Stage) hasJournal() (bool, error) {
	f, _, err := s.in(journalName).openRegular(os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return hasJournalStart(f)
}

// journalLost reports whether the journal cannot be read though data was written.
func (s *Stage) journalLost() (bool, error) {
	if !s.in(journalName).exists() || !s.in(dataName).exists() {
		return false, nil
	}
	empty, err := s.isEmptyRemains(dataName, true)
	return !empty, err
}

// isStageName reports whether dsconv uses the name at the top of a staging folder.
func isStageName(name string) bool {
	return slices.Contains(stageFolders, name) || slices.Contains(stageFiles, name) || durable.IsTemporary(name)
}

// entry is a file or folder in an open folder. It is reached through that folder and not by a path, so that nobody can
// put a link or another folder in its way.
type entry struct {
	root *os.Root
	name string
}

// named returns an error of s.root with whole paths.
func (s *Stage) named(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		p.Path = filepath.Join(s.dir, p.Path)
	case errors.As(err, &l):
		l.Old, l.New = filepath.Join(s.dir, l.Old), filepath.Join(s.dir, l.New)
	}
	return err
}

// in returns an entry of the staging folder.
func (s *Stage) in(name string) entry { return entry{s.root, name} }

func (e entry) String() string { return filepath.Join(e.root.Name(), filepath.FromSlash(e.name)) }

func (e entry) exists() bool {
	_, err := e.root.Lstat(e.name)
	return err == nil
}

// list returns the folder's entries.
func (e entry) list() ([]fs.DirEntry, error) { return fs.ReadDir(e.root.FS(), e.name) }

// openRegular opens a regular file; ErrForeign for a link, pipe or folder.
func (e entry) openRegular(flag int) (*os.File, os.FileInfo, error) {
	named, err := e.root.Lstat(e.name)
	if err != nil {
		return nil, nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, nil, foreignError(e.String(), "it is "+durable.KindOf(named.Mode()))
	}
	f, err := e.root.OpenFile(e.name, flag|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !os.SameFile(st, named) {
		err = foreignError(e.String(), "it was exchanged while it was opened")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// readUpTo reads at most the first n bytes of a file.
func (e entry) readUpTo(n int64) ([]byte, error) {
	f, _, err := e.openRegular(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// replace replaces the file by one that has b: it is the old or the new one, whatever stops the program.
func (e entry) replace(b []byte) error {
	fresh := path.Join(path.Dir(e.name), durable.TemporaryName(path.Base(e.name)))
	f, err := e.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = e.root.Rename(fresh, e.name)
	}
	if err != nil {
		return errors.Join(err, e.root.Remove(fresh))
	}
	return durable.SyncDir(filepath.Dir(e.String()))
}

// renameNoReplace renames from to to, which are paths below the folder of the dataset; an error if to exists.
func (s *Stage) renameNoReplace(from, to string) error { return renameNoReplace(s.parent, from, to) }

func renameNoReplace(root *os.Root, from, to string) error {
	a, errFrom := filepath.Rel(root.Name(), from)
	b, errTo := filepath.Rel(root.Name(), to)
	if err := errors.Join(errFrom, errTo); err != nil {
		return err
	}
	err := renameExclusive(root, a, b)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		// The file system cannot do this in one step.
		if !(entry{root, b}).exists() {
			return root.Rename(a, b)
		}
		err = os.ErrExist
	}
	if errors.Is(err, os.ErrExist) {
		return inTheWayError(to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// renameExclusive renames an entry of root; an error if the new name exists.
func renameExclusive(root *os.Root, from, to string) error {
	a, err := root.Open(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := root.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer b.Close()
	return renameatExclusive(int(a.Fd()), filepath.Base(from), int(b.Fd()), filepath.Base(to))
}

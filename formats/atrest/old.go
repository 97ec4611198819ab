package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// identity tells a file from all others: its number in the file system, and of a file also
// its size and time, which change if it is written to.
func fileID(st os.FileInfo) string {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if st.IsDir() {
		return fmt.Sprintf("folder %d", sys.Ino)
	}
	return fmt.Sprintf("file %d %d %d", sys.Ino, st.Size(), st.ModTime().UnixNano())
}

// VersionAt tells the version of the dataset at path that is there now from all others; "" if there
// is none.
func VersionAt(path string) string {
	files := []string{filepath.Join(path, ChecksumsName), path}
	if p, err := ParseShardPath(path); err == nil {
		files = slices.Insert(files, 0, filepath.Join(p.Sidecar(), ChecksumsName))
	}
	for _, file := range files {
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return fileID(st)
		}
	}
	return ""
}

// isOld reports why what lies at m.From may not be taken away as a part of the dataset that is
// replaced. It may if it is what the list was written about. Lists of earlier versions do not
// tell that, and a dataset may have been copied since: then its table of checksums decides.
func (s *Stage) checkReplaced(m Move) error {
	st, err := os.Lstat(m.From)
	if err != nil {
		return err
	}
	known := m.ID != "" && m.ID == fileID(st)
	if known && s.owns(m.From) {
		return nil
	}
	// Of a file that another pattern names the table must tell in any case.
	if err := s.checkInTable(m.From, st, !known); err != nil {
		// Why is no more than told: damage of the old dataset is none of the stage's.
		return fmt.Errorf("%w: %s is not known to be of the dataset that is replaced (%s); move it away, then the same command goes on",
			formats.ErrForeign, m.From, err.Error())
	}
	return nil
}

// isInTable reports why path is not a part of the old dataset: a folder with a dataset's
// description, which vouches for itself, or a file whose size, and bytes if they are asked for,
// the description vouches for.
func (s *Stage) checkInTable(path string, st os.FileInfo, bytes bool) error {
	if st.IsDir() && s.owns(path) {
		_, err := ReadSidecar(path)
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("it is " + describeMode(st.Mode()))
	}
	table, err := s.replacedChecksums()
	if err != nil {
		return err
	}
	want, err := table.forFile(filepath.Base(path))
	if err != nil {
		return err
	}
	if st.Size() != want.Size {
		return fmt.Errorf("it has %d bytes, %d were written", st.Size(), want.Size)
	}
	if !bytes {
		return nil
	}
	got, err := ChecksumFile(path, want.Name, -1)
	if err == nil && !slices.Equal(got.Blocks, want.Blocks) {
		err = errors.New("its bytes are not those that were written")
	}
	return err
}

// oldTable is the table of checksums of the dataset that is replaced, in the names that its
// files have now. It is read once: the dataset's description is put away first, and the new one
// comes last.
func (s *Stage) replacedChecksums() (checksumsByName, error) {
	if s.oldChecksums == nil {
		sums, err := s.readReplacedChecksums()
		if err != nil {
			return nil, err
		}
		s.oldChecksums = sums.byName()
	}
	return s.oldChecksums, nil
}

// readOldTable reads that table in its place, or where it was put away.
func (s *Stage) readReplacedChecksums() (Checksums, error) {
	p, err := ParseShardPath(strings.TrimSuffix(s.dir, PartialSuffix))
	if err != nil {
		return nil, err
	}
	if table, err := p.checksumsIn(p.Sidecar()); err == nil {
		return table, nil
	}
	entries, err := os.ReadDir(s.file(replacedName))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			return p.checksumsIn(filepath.Join(s.file(replacedName), e.Name()))
		}
	}
	return nil, errors.New("there is no table of checksums")
}

// links is the number of names that a file has.
func linkCount(st os.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink) //nolint:unconvert // it is narrower on other systems
	}
	return 1
}

// tableIn is the table of checksums of a sidecar; if nothing tells what the files were called,
// with the names that were written.
func (p ShardPath) checksumsIn(sidecar string) (Checksums, error) {
	if d, err := p.openSidecarAt(sidecar); err == nil {
		return d.checksums, nil
	}
	return ReadChecksums(sidecar)
}

// moveTo renames from to to, where nothing must be.
func renameNoReplace(from, to string) error {
	err := renameExclusive(from, to)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		// A file system that cannot do it in one step.
		if !exists(to) {
			return os.Rename(from, to)
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

package staging

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// fileID identifies a file or folder: its inode number, and for a file also its size and time,
// which change if it is written to.
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

// endOf identifies the content of a file that ends with its own checksums, by its size and its last bytes.
func endOf(path string) (string, error) {
	f, err := unblocked.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	b := make([]byte, min(st.Size(), 64<<10))
	_, err = f.ReadAt(b, st.Size()-int64(len(b)))
	return fmt.Sprintf("%d %016x", st.Size(), xxh3.Hash(b)), err
}

// VersionAt identifies the current version of the dataset at path; "" if there is none.
func VersionAt(path string) string {
	files := []string{filepath.Join(path, checksum.ChecksumsName), path}
	if p, err := sharded.ParseShardPath(path); err == nil {
		files = slices.Insert(files, 0, filepath.Join(p.Sidecar(), checksum.ChecksumsName))
	}
	for _, file := range files {
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return fileID(st)
		}
	}
	return ""
}

// checkReplaced reports why the file at m.From may not be moved away as a file of the replaced
// dataset. It may if it is the file for which the list was written. Lists of earlier dsconv
// versions do not identify it, and a dataset may have been copied since: then the dataset's table
// of checksums decides, or the end of a file that has its own.
func (s *Stage) checkReplaced(m step) error {
	st, err := os.Lstat(m.From)
	if err != nil {
		return err
	}
	unchanged := m.ID != "" && m.ID == fileID(st)
	if unchanged && s.owns(m.From) {
		return nil
	}
	if m.Tail != "" {
		if end, err := endOf(m.From); err == nil && end == m.Tail {
			return nil
		}
	}
	// A file that another pattern names must be in the table in any case.
	if err := s.checkInTable(m.From, st, !unchanged); err != nil {
		// Only the text: a damaged old dataset is no damage of the new one.
		return fmt.Errorf("%s: %w, or changed since (%s); move it away, then repeat the command",
			m.From, formats.ErrForeign, err.Error())
	}
	return nil
}

// checkInTable reports why path does not belong to the old dataset. A folder belongs to it if it
// is a valid sidecar; a file, if its size, and with compareBytes its content, are those in the
// table of checksums.
func (s *Stage) checkInTable(path string, st os.FileInfo, compareBytes bool) error {
	if st.IsDir() && s.owns(path) {
		_, _, err := sidecar.Read(path)
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("it is " + durable.KindOf(st.Mode()))
	}
	table, err := s.replacedChecksums()
	if err != nil {
		return err
	}
	want, err := table.ForFile(filepath.Base(path))
	if err != nil {
		return err
	}
	if st.Size() != want.Size {
		return fmt.Errorf("it has %d bytes, but %d were written", st.Size(), want.Size)
	}
	if !compareBytes {
		return nil
	}
	got, err := checksum.OfFile(path, want.Name, -1)
	if err == nil && !slices.Equal(got.Blocks, want.Blocks) {
		err = errors.New("its content differs from what was written")
	}
	return err
}

// replacedChecksums returns the replaced dataset's checksums by the current file names. They are
// read once: the old sidecar is moved away first, and the new one is published last.
func (s *Stage) replacedChecksums() (checksum.ChecksumsByName, error) {
	if s.oldChecksums == nil {
		sums, err := s.readReplacedChecksums()
		if err != nil {
			return nil, err
		}
		s.oldChecksums = sums.ByName()
	}
	return s.oldChecksums, nil
}

// readReplacedChecksums reads that table in the sidecar, or where the sidecar was moved to.
func (s *Stage) readReplacedChecksums() (checksum.Checksums, error) {
	p, err := sharded.ParseShardPath(strings.TrimSuffix(s.dir, sidecar.PartialSuffix))
	if err != nil {
		return nil, err
	}
	if table, err := p.ChecksumsIn(p.Sidecar()); err == nil {
		return table, nil
	}
	entries, err := s.in(replacedName).list()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			return p.ChecksumsIn(filepath.Join(s.file(replacedName), e.Name()))
		}
	}
	return nil, errors.New("the replaced dataset's table of checksums is missing")
}

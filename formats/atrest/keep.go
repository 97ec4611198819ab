package atrest

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// base is the dataset that a new version replaces, and what of it stays.
type oldDataset struct {
	sidecar
	byName checksumsByName
	rows   [][]int32       // of each file, in the file's order
	reused map[string]bool // names of files that stay
}

// openBase reads what describes the dataset at p.
func openOldDataset(p ShardPath) (*oldDataset, error) {
	c, err := p.openSidecar()
	if err != nil {
		return nil, err
	}
	b := &oldDataset{sidecar: c, byName: c.checksums.byName(), reused: map[string]bool{}, rows: make([][]int32, len(c.originalNames))}
	for i := range c.Len() {
		shard := c.Manifest.Location(i).Shard
		if shard < 0 || shard >= len(b.rows) {
			return nil, fmt.Errorf("%s: %w: key %q is in shard %d of %d", p.Sidecar(), formats.ErrDamaged, c.Manifest.Key(i), shard, len(b.rows))
		}
		b.rows[shard] = append(b.rows[shard], int32(i))
	}
	for _, rows := range b.rows {
		slices.SortFunc(rows, func(x, y int32) int {
			return cmp.Compare(c.Manifest.Location(int(x)).Offset, c.Manifest.Location(int(y)).Offset)
		})
	}
	return b, nil
}

// sumsByName finds the checksums of a file.
type checksumsByName map[string]FileChecksums

func (s Checksums) byName() checksumsByName {
	m := make(checksumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// sumsOf are the checksums that the table has of a file.
func (m checksumsByName) forFile(name string) (FileChecksums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}

// ReuseFile implements formats.FileReuser: the file stays where it is. change may alter nothing but
// a sample's source.
func (s *Shards) ReuseFile(i int, change func(*formats.Info)) error {
	if err := s.endShard(); err != nil {
		return err
	}
	if err := s.loadOldDataset(); err != nil {
		return err
	}
	if i < len(s.done) || i >= len(s.oldDataset.rows) {
		return fmt.Errorf("keep file %d of %d: it would be number %d", i, len(s.oldDataset.rows), len(s.done))
	}
	// Files of which all samples are gone: others behind them keep their numbers.
	for len(s.done) < i {
		if _, err := s.Append(); err != nil {
			return err
		}
		if err := s.endShard(); err != nil {
			return err
		}
	}
	name := s.path.Name(i)
	fs, err := s.oldDataset.byName.forFile(name)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	for _, row := range s.oldDataset.rows[i] {
		r, err := s.oldDataset.row(int(row), change)
		if err != nil {
			return err
		}
		if err := s.stage.Manifest.Append(&r); err != nil {
			return err
		}
	}
	s.oldDataset.reused[name] = true
	s.done = append(s.done, fs)
	return nil
}

func (s *Shards) loadOldDataset() (err error) {
	if s.oldDataset == nil {
		s.oldDataset, err = openOldDataset(s.path)
	}
	return err
}

func (c Description) row(i int, change func(*formats.Info)) (Row, error) {
	in, err := c.Manifest.Info(i)
	if err != nil {
		return Row{}, err
	}
	if change != nil {
		change(&in)
	}
	return Row{Info: in, Location: c.Manifest.Location(i)}, nil
}

// Place is where the record of row i lies; i must be in range.
func (r *Records) Location(i int) Location { return r.Manifest.Location(i) }

// Kept says whether the file stays from the dataset that is replaced.
func (s *Shards) Reused(name string) bool { return s.oldDataset != nil && s.oldDataset.reused[name] }

// Path is where the data file of that name lies now.
func (s *Shards) Path(name string) string {
	if s.Reused(name) {
		return filepath.Join(s.path.Dir, name)
	}
	return s.stage.Path(name)
}

// KeptIndex gives the index file that goes with the kept file i, whose name follows from the
// one that the file had when it was written; ok is false if it is not what was written, so that
// it must be made anew.
func (s *Shards) ReusedIndex(i int, nameOf func(file string) string) (b []byte, ok bool) {
	dir, name := s.path.Sidecar(), nameOf(s.oldDataset.originalNames[i])
	want, err := s.oldDataset.byName.forFile(filepath.Base(dir) + "/" + name)
	if err != nil {
		return nil, false
	}
	b, err = os.ReadFile(filepath.Join(dir, name))
	return b, err == nil && want.Verify(b) == nil
}

// appendKept adds to a checkpoint's state which of the files stay.
func (s *Shards) appendReused(b []byte) []byte {
	var kept []int
	for i, f := range s.done {
		if s.Reused(f.Name) {
			kept = append(kept, i)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(kept)))
	for _, i := range kept {
		b = binary.AppendUvarint(b, uint64(i))
	}
	return b
}

// restoreKept reads what appendKept wrote. A kept file is not read: the table that goes
// with it still vouches for it.
func (s *Shards) restoreReused(c *cursor) error {
	for range c.length(1) {
		i := c.uvarint()
		if c.failed || i >= uint64(len(s.done)) {
			break
		}
		if err := s.loadOldDataset(); err != nil {
			return err
		}
		fs := s.done[i]
		was, err := s.oldDataset.byName.forFile(fs.Name)
		if err != nil {
			return err
		}
		if fs.Size != was.Size || !slices.Equal(fs.Blocks, was.Blocks) {
			return fmt.Errorf("%s: %w: the last checkpoint keeps another file than is there", fs.Name, formats.ErrDamaged)
		}
		if st, err := os.Stat(filepath.Join(s.path.Dir, fs.Name)); err != nil {
			return err
		} else if st.Size() != fs.Size {
			return fmt.Errorf("%s: %w: it is not what it was at the last checkpoint", fs.Name, formats.ErrDamaged)
		}
		s.oldDataset.reused[fs.Name] = true
	}
	if c.failed {
		return fmt.Errorf("%w: the last checkpoint does not parse", formats.ErrDamaged)
	}
	return nil
}

// staying are the files of the old dataset that the new one has too.
func (s *Shards) reusedFiles() []string {
	return slices.DeleteFunc(slices.Clone(s.oldFiles), func(path string) bool { return !s.Reused(filepath.Base(path)) })
}

// replaced are the files of the old dataset that do not stay.
func (s *Shards) replacedFiles() []string {
	return slices.DeleteFunc(slices.Clone(s.oldFiles), func(path string) bool { return s.Reused(filepath.Base(path)) })
}

// Old gives what describes the dataset that is replaced, a folder, and its checksums.
func (s *Single) Replaced() (Description, Checksums, error) {
	c, err := ReadSidecar(s.path)
	if err != nil {
		return Description{}, nil, err
	}
	sums, err := ReadChecksums(s.path)
	return c, sums, err
}

// OldPath is the path of a file of the dataset that is replaced.
func (s *Single) ReplacedPath(name string) string {
	return filepath.Join(s.path, filepath.FromSlash(name))
}

// Copy appends all rows to t, as changed.
func (c Description) CopyRows(t *Manifest, change func(*formats.Info)) error {
	for i := range c.Len() {
		r, err := c.row(i, change)
		if err != nil {
			return err
		}
		if err := t.Append(&r); err != nil {
			return err
		}
	}
	return nil
}

// LinkOrCopy makes the file at to the one at from.
func LinkOrCopy(from, to string) error {
	// A link to a symbolic link would be one itself.
	if st, err := os.Lstat(from); err == nil && st.Mode().IsRegular() {
		if err := os.Link(from, to); err == nil || errors.Is(err, os.ErrExist) {
			return err
		}
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	return durable.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
}

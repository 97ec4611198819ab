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
type base struct {
	described
	table sumsByName
	rows  [][]int32       // of each file, in the file's order
	kept  map[string]bool // names of files that stay
}

// openBase reads what describes the dataset at p.
func openBase(p ShardPath) (*base, error) {
	c, err := p.describe()
	if err != nil {
		return nil, err
	}
	b := &base{described: c, table: c.sums.byName(), kept: map[string]bool{}, rows: make([][]int32, len(c.asWritten))}
	for i := range c.Len() {
		shard := c.Table.Place(i).Shard
		if shard < 0 || shard >= len(b.rows) {
			return nil, fmt.Errorf("%s: %w: key %q is in shard %d of %d", p.Sidecar(), formats.ErrDamaged, c.Table.Key(i), shard, len(b.rows))
		}
		b.rows[shard] = append(b.rows[shard], int32(i))
	}
	for _, rows := range b.rows {
		slices.SortFunc(rows, func(x, y int32) int {
			return cmp.Compare(c.Table.Place(int(x)).Offset, c.Table.Place(int(y)).Offset)
		})
	}
	return b, nil
}

// Keep implements formats.Keeper: the file stays where it is. change may alter nothing but
// a sample's source.
func (s *Shards) Keep(i int, change func(*formats.Info)) error {
	if err := s.cut(); err != nil {
		return err
	}
	if err := s.loadBase(); err != nil {
		return err
	}
	if i < len(s.done) || i >= len(s.base.rows) {
		return fmt.Errorf("keep file %d of %d: it would be number %d", i, len(s.base.rows), len(s.done))
	}
	// Files of which all samples are gone: others behind them keep their numbers.
	for len(s.done) < i {
		if _, err := s.Append(); err != nil {
			return err
		}
		if err := s.cut(); err != nil {
			return err
		}
	}
	name := s.path.Name(i)
	fs, err := s.base.table.sumsOf(name)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	for _, row := range s.base.rows[i] {
		r, err := s.base.Row(int(row), change)
		if err != nil {
			return err
		}
		if err := s.stage.Table.Append(&r); err != nil {
			return err
		}
	}
	s.base.kept[name] = true
	s.done = append(s.done, fs)
	return nil
}

func (s *Shards) loadBase() (err error) {
	if s.base == nil {
		s.base, err = openBase(s.path)
	}
	return err
}

// Kept says whether the file stays from the dataset that is replaced.
func (s *Shards) Kept(name string) bool { return s.base != nil && s.base.kept[name] }

// Path is where the data file of that name lies now.
func (s *Shards) Path(name string) string {
	if s.Kept(name) {
		return filepath.Join(s.path.Dir, name)
	}
	return s.stage.Path(name)
}

// KeptIndex gives the index file that goes with the kept file i, whose name follows from the
// one that the file had when it was written; ok is false if it is not what was written, so that
// it must be made anew.
func (s *Shards) KeptIndex(i int, nameOf func(file string) string) (b []byte, ok bool) {
	dir, name := s.path.Sidecar(), nameOf(s.base.asWritten[i])
	want, err := s.base.table.sumsOf(filepath.Base(dir) + "/" + name)
	if err != nil {
		return nil, false
	}
	b, err = os.ReadFile(filepath.Join(dir, name))
	return b, err == nil && want.Verify(b) == nil
}

// appendKept adds to a checkpoint's state which of the files stay.
func (s *Shards) appendKept(b []byte) []byte {
	var kept []int
	for i, f := range s.done {
		if s.Kept(f.Name) {
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
func (s *Shards) restoreKept(c *cursor) error {
	for range c.length(1) {
		i := c.uvarint()
		if c.failed || i >= uint64(len(s.done)) {
			break
		}
		if err := s.loadBase(); err != nil {
			return err
		}
		fs := s.done[i]
		was, err := s.base.table.sumsOf(fs.Name)
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
		s.base.kept[fs.Name] = true
	}
	if c.failed {
		return fmt.Errorf("%w: the last checkpoint does not parse", formats.ErrDamaged)
	}
	return nil
}

// staying are the files of the old dataset that the new one has too.
func (s *Shards) staying() []string {
	return slices.DeleteFunc(slices.Clone(s.old), func(path string) bool { return !s.Kept(filepath.Base(path)) })
}

// replaced are the files of the old dataset that do not stay.
func (s *Shards) replaced() []string {
	return slices.DeleteFunc(slices.Clone(s.old), func(path string) bool { return s.Kept(filepath.Base(path)) })
}

// Old gives what describes the dataset that is replaced, a folder, and its checksums.
func (s *Single) Old() (Catalog, Sums, error) {
	c, err := ReadSidecar(s.path)
	if err != nil {
		return Catalog{}, nil, err
	}
	sums, err := ReadSums(s.path)
	return c, sums, err
}

// OldPath is the path of a file of the dataset that is replaced.
func (s *Single) OldPath(name string) string { return filepath.Join(s.path, filepath.FromSlash(name)) }

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

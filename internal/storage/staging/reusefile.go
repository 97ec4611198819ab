package staging

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
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
	"github.com/dsconv/dsconv/internal/wire"
)

// oldDataset is the dataset that a new version replaces, and which of its files are reused.
type oldDataset struct {
	description.Description
	sharded.Contents
	byName checksum.ChecksumsByName
	rows   [][]int32       // of each file, by offset
	reused map[string]bool // names of the reused files
}

// openOldDataset reads the description of the dataset at p, of which a repair may replace the index.
func openOldDataset(p sharded.ShardPath) (*oldDataset, error) {
	c, err := p.OpenSidecar()
	if err != nil {
		return nil, err
	}
	b := &oldDataset{Contents: c, byName: c.Checksums.ByName(), reused: map[string]bool{}, rows: make([][]int32, len(c.OriginalFiles))}
	if b.Description, err = c.Describe(true); err != nil {
		return nil, err
	}
	if err := b.sortRows(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.Sidecar(), err), b.CloseIndex())
	}
	return b, nil
}

// sortRows lists the rows of each file, by offset.
func (b *oldDataset) sortRows() error {
	offsets := make([]int64, b.Len())
	for i := range offsets {
		e, err := b.Index().At(i)
		if err != nil {
			return err
		}
		at := e.Location()
		if at.Shard < 0 || at.Shard >= len(b.rows) {
			return fmt.Errorf("%w: %s is in shard %d of %d", formats.ErrDamaged, b.Index().Name(i), at.Shard, len(b.rows))
		}
		offsets[i], b.rows[at.Shard] = at.Offset, append(b.rows[at.Shard], int32(i))
	}
	for _, rows := range b.rows {
		slices.SortFunc(rows, func(x, y int32) int { return cmp.Compare(offsets[x], offsets[y]) })
	}
	return nil
}

// ReuseFile implements formats.FileReuser: the file stays where it is. change may alter only a
// sample's source.
func (s *Shards) ReuseFile(i int, change func(*formats.Info)) error {
	if err := s.stage.CheckOpen(); err != nil {
		return err
	}
	if err := s.endShard(); err != nil {
		return err
	}
	if err := s.loadOldDataset(); err != nil {
		return err
	}
	if i < len(s.done) || i >= len(s.oldDataset.rows) {
		return fmt.Errorf("cannot reuse file %d of %d as file %d: files are reused in order, with their numbers", i, len(s.oldDataset.rows), len(s.done))
	}
	// Empty files replace files that lost all samples, so that later files keep their numbers.
	for len(s.done) < i {
		if _, err := s.Append(); err != nil {
			return err
		}
		if err := s.endShard(); err != nil {
			return err
		}
	}
	name := s.path.Name(i)
	fs, err := s.oldDataset.byName.ForFile(name)
	if err != nil {
		return fmt.Errorf("reuse %s: %w", name, err)
	}
	for _, row := range s.oldDataset.rows[i] {
		r, err := s.oldDataset.Row(int(row), change)
		if err != nil {
			return err
		}
		if err := s.stage.AppendRow(&r); err != nil {
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

// Reused reports whether the file is reused from the dataset that is replaced.
func (s *Shards) Reused(name string) bool { return s.oldDataset != nil && s.oldDataset.reused[name] }

// Path returns the current path of the named data file.
func (s *Shards) Path(name string) string {
	if s.Reused(name) {
		return filepath.Join(s.path.Dir, name)
	}
	return s.stage.Path(name)
}

// ReusedIndex returns the index file of the reused file i. nameOf derives its name from the
// file's original name. ok is false if the index is missing or damaged and must be rebuilt.
func (s *Shards) ReusedIndex(i int, nameOf func(file string) string) (b []byte, ok bool) {
	return s.oldDataset.indexFile(s.path.Sidecar(), nameOf(s.oldDataset.OriginalFiles[i]))
}

// indexFile returns an index file for other programs that is in the dataset's sidecar dir; ok is false if it is missing
// or damaged.
func (b *oldDataset) indexFile(dir, name string) (content []byte, ok bool) {
	want, err := b.byName.ForFile(filepath.Base(dir) + "/" + name)
	if err != nil {
		return nil, false
	}
	content, err = unblocked.ReadFile(filepath.Join(dir, name))
	return content, err == nil && want.Verify(content) == nil
}

// appendReused adds the numbers of the reused files to a checkpoint's state.
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

// restoreReused reads what appendReused wrote. The reused files are not read: their checksums
// are still in the old dataset's table.
func (s *Shards) restoreReused(c *wire.Cursor) error {
	for range c.Length(1) {
		i := c.Uvarint()
		if c.Failed || i >= uint64(len(s.done)) {
			break
		}
		if err := s.loadOldDataset(); err != nil {
			return err
		}
		fs := s.done[i]
		was, err := s.oldDataset.byName.ForFile(fs.Name)
		if err != nil {
			return err
		}
		if fs.Size != was.Size || !slices.Equal(fs.Blocks, was.Blocks) {
			return fmt.Errorf("%s: %w: its checksums differ from those in the last checkpoint", fs.Name, formats.ErrDamaged)
		}
		if st, err := os.Stat(filepath.Join(s.path.Dir, fs.Name)); err != nil {
			return err
		} else if st.Size() != fs.Size {
			return fmt.Errorf("%s: %w: it has %d bytes, but had %d at the last checkpoint", fs.Name, formats.ErrDamaged, st.Size(), fs.Size)
		}
		s.oldDataset.reused[fs.Name] = true
	}
	if c.Failed {
		return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
	}
	return nil
}

// replacedFiles returns the files of the old dataset that are not reused.
func (s *Shards) replacedFiles() []string {
	return slices.DeleteFunc(slices.Clone(s.oldFiles), func(path string) bool { return s.Reused(filepath.Base(path)) })
}

// Replaced returns the description and checksums of the dataset, a folder, that is replaced. The caller
// closes its index.
func (s *Single) Replaced(p sidecar.Places) (description.Description, checksum.Checksums, error) {
	m, sums, err := sidecar.Read(s.path)
	if err != nil {
		return description.Description{}, nil, err
	}
	d, err := sidecar.Describe(s.path, m, sums, p, true)
	return d, sums, err
}

// ReplacedPath returns the path of a file of the dataset that is replaced.
func (s *Single) ReplacedPath(name string) string {
	return filepath.Join(s.path, filepath.FromSlash(name))
}

// LinkOrCopy creates the file to as a hard link to from, or as a copy if that is not possible.
func LinkOrCopy(from, to string) error {
	// A link to a symbolic link would be one itself.
	if st, err := os.Lstat(from); err == nil && st.Mode().IsRegular() {
		if err := os.Link(from, to); err == nil || errors.Is(err, os.ErrExist) {
			return err
		}
	}
	src, err := unblocked.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	return durable.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
}

// Adopted is a file that another dataset had.
type Adopted struct {
	Name    string // of the file in this dataset
	old     *oldDataset
	sidecar string
	was     string // its name in the other dataset
}

// AdoptFile makes the only data file of the dataset at path the next file of this one: see formats.ShardAdopter. The
// caller closes what it returns.
func (s *Shards) AdoptFile(path string) (*Adopted, error) {
	if err := s.stage.CheckOpen(); err != nil {
		return nil, err
	}
	if err := s.endShard(); err != nil {
		return nil, err
	}
	if len(s.done) > 0 && !s.path.IsPattern() {
		return nil, fmt.Errorf("%s: the dataset has several shards; give a pattern such as x-%%06d%s", s.path.Before, filepath.Ext(s.path.Before))
	}
	p, err := sharded.ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	old, err := openOldDataset(p)
	if err != nil {
		return nil, err
	}
	a := &Adopted{Name: s.path.Name(len(s.done)), old: old, sidecar: p.Sidecar()}
	if err := s.adopt(a, path); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (s *Shards) adopt(a *Adopted, path string) error {
	if files := a.old.Meta().Files; len(files) != 1 {
		return fmt.Errorf("%s: it has %d data files, and not one", path, len(files))
	}
	if !slices.Equal(a.old.Meta().Columns, s.stage.Meta.Columns) {
		return fmt.Errorf("%s: %w: it has other columns than the whole", path, formats.ErrSchema)
	}
	a.was = a.old.OriginalFiles[0]
	sums, err := a.old.byName.ForFile(filepath.Base(path))
	if err != nil {
		return err
	}
	to := s.stage.Path(a.Name)
	if err := LinkOrCopy(path, to); err != nil {
		return fmt.Errorf("take over %s: %w", path, err)
	}
	if st, err := os.Stat(to); err != nil {
		return err
	} else if st.Size() != sums.Size {
		return fmt.Errorf("%s: %w: it has %d bytes, but %d were written", path, formats.ErrDamaged, st.Size(), sums.Size)
	}
	for _, row := range a.old.rows[0] {
		r, err := a.old.Row(int(row), nil)
		if err != nil {
			return err
		}
		r.Location.Shard = len(s.done)
		if err := s.stage.AppendRow(&r); err != nil {
			return err
		}
	}
	sums.Name = a.Name
	s.done = append(s.done, sums)
	return nil
}

// Index returns the index file for other programs that the other dataset has. nameOf derives its name from that of the
// data file. ok is false if it is missing or damaged and must be made again.
func (a *Adopted) Index(nameOf func(file string) string) (b []byte, ok bool) {
	return a.old.indexFile(a.sidecar, nameOf(a.was))
}

// Close closes the index of the other dataset.
func (a *Adopted) Close() error { return a.old.CloseIndex() }

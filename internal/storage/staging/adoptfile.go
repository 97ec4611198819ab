package staging

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

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

package atrest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// Records reads what Shards wrote, from mapped memory. It is safe for concurrent use.
type Records struct {
	Catalog
	path  ShardPath
	files []*Mapping
}

// OpenRecords opens the dataset at path.
func OpenRecords(path string) (*Records, error) {
	p, err := ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	r := &Records{path: p}
	if r.Catalog, err = ReadSidecar(p.Sidecar()); err != nil {
		return nil, err
	}
	files := r.Meta().Files
	if lo, hi, ok := p.Braces(); ok && (lo != 0 || hi != len(files)-1) {
		return nil, fmt.Errorf("%s: the dataset has the shards 0 to %d; name them all", path, len(files)-1)
	}
	for _, name := range files {
		if name != filepath.Base(name) {
			return nil, errors.Join(fmt.Errorf("%s: %w: a shard is named %q", path, formats.ErrDamaged, name), r.Close())
		}
		m, err := Map(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.files = append(r.files, m)
	}
	return r, nil
}

// Record is the bytes of the record of row i, in mapped memory. The error names the key.
func (r *Records) Record(i int) ([]byte, error) {
	if err := r.Table.inRange(i); err != nil {
		return nil, err
	}
	at := r.Table.Place(i)
	if at.Shard < 0 || at.Shard >= len(r.files) {
		return nil, fmt.Errorf("key %q: %w: it is in shard %d of %d", r.Table.Key(i), formats.ErrDamaged, at.Shard, len(r.files))
	}
	b, err := r.files[at.Shard].Slice(at.Offset, at.Length)
	if err != nil {
		return nil, fmt.Errorf("key %q in %s: %w", r.Table.Key(i), r.Meta().Files[at.Shard], err)
	}
	return b, nil
}

// Wrap adds to err, which is about the record of row i, where that lies.
func (r *Records) Wrap(i int, err error) error {
	at := r.Table.Place(i)
	return fmt.Errorf("key %q in %s at byte %d: %w", r.Table.Key(i), r.Meta().Files[at.Shard], at.Offset, err)
}

// Check implements formats.Checker.
func (r *Records) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	sums, err := ReadSums(r.path.Sidecar())
	if err != nil {
		return err
	}
	return sums.Check(ctx, r.path.Dir, 0, workers, report)
}

// CheckQuick implements formats.Checker.
func (r *Records) CheckQuick(_ context.Context, report func(formats.Damage)) error {
	sums, err := ReadSums(r.path.Sidecar())
	if err != nil {
		return err
	}
	return sums.CheckSizes(r.path.Dir, 0, report)
}

// Close unmaps the files.
func (r *Records) Close() error {
	var err error
	for _, m := range r.files {
		err = errors.Join(err, m.Close())
	}
	r.files = nil
	return err
}

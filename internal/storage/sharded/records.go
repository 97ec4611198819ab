package sharded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Records reads what Shards wrote, from mapped memory. It is safe for concurrent use.
type Records struct {
	Contents
	name         string // the path as it was given
	path         ShardPath
	gate         lifetime.Gate
	files        []*mapped.Mapping
	staleIndexes []string // see StaleIndexFiles
}

// OpenRecords opens the dataset at path. ErrDamaged if a file is missing or has another size
// than was written, or a record's location is invalid.
func OpenRecords(path string) (*Records, error) {
	return openRecords(path, func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error) {
		m, err := mapped.Map(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: %w", file, formats.ErrDamaged, os.ErrNotExist)
		}
		if err != nil {
			return nil, formats.WrapDamaged(err)
		}
		if int64(len(m.Data)) != fs.Size {
			err := fmt.Errorf("%s: %w: it has %d bytes, but %d were written", file, formats.ErrDamaged, len(m.Data), fs.Size)
			return nil, errors.Join(err, m.Close())
		}
		return m, nil
	})
}

// SalvageRecords is OpenRecords that accepts missing files and files of another size: reading
// what they lack is ErrDamaged.
func SalvageRecords(path string) (*Records, error) {
	return openRecords(path, func(file string, _ checksum.FileChecksums) (*mapped.Mapping, error) {
		m, err := mapped.Map(file)
		if errors.Is(err, os.ErrNotExist) {
			return &mapped.Mapping{}, nil
		}
		return m, err
	})
}

func openRecords(path string, open func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error)) (*Records, error) {
	p, err := ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	r := &Records{name: path, path: p}
	if r.Contents, err = p.OpenSidecar(); err != nil {
		return nil, p.explainOpen(path, err)
	}
	if r.otherNames {
		return nil, p.otherNameError(path, &r.Contents)
	}
	if lo, hi, ok := p.Braces(); ok && (lo != 0 || hi != len(r.OriginalFiles)-1) {
		return nil, fmt.Errorf("%s: the dataset has the shards 0 to %d; give that range, or a pattern with %%d", path, len(r.OriginalFiles)-1)
	}
	sizes, err := r.open(open)
	files := r.files
	r.gate.Open(path, func() (err error) {
		for _, m := range files {
			err = errors.Join(err, m.Close())
		}
		return err
	})
	if err == nil {
		if err = r.Manifest.CheckLocations(sizes); err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(p.Sidecar(), sidecar.ManifestName), err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.staleIndexes, r.Checksums = r.staleIndexFiles(), nil
	return r, nil
}

// open maps the files and returns their sizes as written.
func (r *Records) open(open func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error)) ([]int64, error) {
	files, table := r.Meta().Files, r.Checksums.ByName()
	sizes := make([]int64, len(files))
	var wrong []error
	for i, name := range files {
		fs, err := table.ForFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.path.Sidecar(), err)
		}
		m, err := open(filepath.Join(r.path.Dir, name), fs)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		sizes[i], r.files = fs.Size, append(r.files, m)
	}
	if len(wrong) == 0 {
		return sizes, nil
	}
	return nil, fmt.Errorf("%w%s", wrong[0], r.countWrong(len(wrong), len(files)))
}

// countWrong returns the end of an error about wrong files: how many of the files are wrong.
func (r *Records) countWrong(wrong, files int) string {
	side := filepath.Base(r.path.Sidecar())
	switch {
	case files == 1 && !r.path.has(r.Meta().Files[0]):
		return ""
	case files == 1:
		return "; it is truncated, or not the file that " + side + " describes"
	case wrong == files:
		return fmt.Sprintf("; none of the %d files is as %s describes it", files, side)
	case wrong > 1:
		return fmt.Sprintf("; %d of its %d files are missing or have another size", wrong, files)
	}
	return ""
}

// CheckFormat returns an error if the sidecar describes a dataset of another format.
func (r *Records) CheckFormat(name string) error {
	if got := r.Meta().Format; got != name {
		return fmt.Errorf("%s: %w: its %s says that the format is %q, but its name is that of the format %q", r.path.Sidecar(), formats.ErrNotDataset, manifest.MetaName, got, name)
	}
	return nil
}

// OriginalNames lists the names that the data files had when they were written.
func (r *Records) OriginalNames() []string { return r.OriginalFiles }

// StaleIndexFiles lists the sidecar's files for other programs that contain the data files'
// original names, if those differ from the current names.
func (r *Records) StaleIndexFiles() (folder string, names []string) {
	return filepath.Base(r.path.Sidecar()), r.staleIndexes
}

// writePath returns the path under which the dataset is written: braces are for reading only.
func (p ShardPath) writePath(path string) string {
	switch _, _, braces := p.Braces(); {
	case !braces:
		return path
	case p.width == 1:
		return filepath.Join(p.Dir, p.Before+"%d"+p.after)
	}
	return filepath.Join(p.Dir, fmt.Sprintf("%s%%0%dd%s", p.Before, p.width, p.after))
}

// record returns the bytes of the record of row i, in mapped memory. The error names the key.
func (r *Records) record(i int) ([]byte, error) {
	at := r.Manifest.Location(i)
	b, err := r.files[at.Shard].Slice(at.Offset, at.Length)
	if err != nil {
		return nil, fmt.Errorf("key %q in %s: %w", r.Manifest.Key(i), r.Meta().Files[at.Shard], err)
	}
	return b, nil
}

// ReadRecord implements Read: it calls do with the record of row i, in mapped memory, to fill s. An
// error, also one about a page that cannot be read, names the key, the file and the offset.
func (r *Records) ReadRecord(i int, s *formats.Sample, do func(record []byte) error) error {
	if err := r.gate.Enter(i); err != nil {
		return err
	}
	defer r.gate.Leave(i)
	return r.withRecord(i, s, do)
}

// ViewRecord is ReadRecord for View: s may point into the record afterwards.
func (r *Records) ViewRecord(i int, s *formats.Sample, do func(record []byte) error) error {
	if err := r.gate.Enter(i); err != nil {
		return err
	}
	defer r.gate.Leave(i)
	r.gate.Lend()
	return r.withRecord(i, s, do)
}

func (r *Records) withRecord(i int, s *formats.Sample, do func(record []byte) error) error {
	if err := r.CheckRead(i, s); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	b, err := r.record(i)
	if err != nil {
		return err
	}
	mark := guard.Now()
	if err := guard.Since(mark, b, do(b)); err != nil {
		at := r.Manifest.Location(i)
		return fmt.Errorf("key %q in %s at byte %d: %w", r.Manifest.Key(i), r.Meta().Files[at.Shard], at.Offset, err)
	}
	return nil
}

// Info implements formats.Dataset.
func (r *Records) Info(i int) (formats.Info, error) {
	if err := r.gate.Check(); err != nil {
		return formats.Info{}, err
	}
	in, err := r.Manifest.Info(i)
	if err != nil {
		return in, fmt.Errorf("%s: %w", r.name, err)
	}
	return in, nil
}

// Removed implements formats.Removals.
func (r *Records) Removed() ([]formats.RemovedSample, error) {
	if err := r.gate.Check(); err != nil {
		return nil, err
	}
	return sidecar.ReadRemoved(r.path.Sidecar(), r.Meta())
}

// Check implements formats.Checker.
func (r *Records) Check(ctx context.Context, p formats.Portion, workers int, report func(formats.Damage)) error {
	if err := r.gate.Enter(0); err != nil {
		return err
	}
	defer r.gate.Leave(0)
	sums, err := r.readChecksums()
	if err != nil {
		return err
	}
	return sums.Check(ctx, r.path.Dir, 0, p, workers, report)
}

// CheckQuick implements formats.Checker.
func (r *Records) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	if err := r.gate.Enter(0); err != nil {
		return err
	}
	defer r.gate.Leave(0)
	sums, err := r.readChecksums()
	if err != nil {
		return err
	}
	data := func(name string) bool { return slices.Contains(r.Meta().Files, name) }
	if err := sums.CheckQuick(ctx, r.path.Dir, data, report); err != nil {
		return err
	}
	r.checkOverlaps(report)
	return nil
}

// readChecksums reads the table of checksums again: it may have been damaged since the dataset
// was opened.
func (r *Records) readChecksums() (checksum.Checksums, error) {
	sums, err := checksum.ReadChecksums(r.path.Sidecar())
	return r.path.renameChecksums(r.OriginalFiles, r.Meta().Files, sums), err
}

// checkOverlaps reports records that overlap.
func (r *Records) checkOverlaps(report func(formats.Damage)) {
	order := r.storageOrder()
	for k := 1; k < len(order); k++ {
		i, j := int(order[k-1]), int(order[k])
		a, b := r.Manifest.Location(i), r.Manifest.Location(j)
		if a.Shard == b.Shard && a.Offset+a.Length > b.Offset {
			report(formats.Damage{
				File: r.Meta().Files[a.Shard], Offset: b.Offset, Length: a.Offset + a.Length - b.Offset,
				Cause: fmt.Sprintf("the records of the keys %q and %q overlap", r.Manifest.Key(i), r.Manifest.Key(j)),
			})
		}
	}
}

// StorageOrder implements formats.StorageOrdered: nil after Close.
func (r *Records) StorageOrder() []int32 {
	if r.gate.Check() != nil {
		return nil
	}
	return r.storageOrder()
}

func (r *Records) storageOrder() []int32 {
	order := make([]int32, r.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := r.Manifest.Location(int(i)), r.Manifest.Location(int(j))
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset), cmp.Compare(i, j))
	})
	return order
}

// Location returns the location of the record of row i; i must be in range.
func (r *Records) Location(i int) manifest.Location { return r.Manifest.Location(i) }

// Lease keeps the files mapped after Close until release is called; see formats.Viewer.
func (r *Records) Lease() (release func(), err error) { return r.gate.Lease() }

// Close implements formats.Dataset.
func (r *Records) Close() error { return r.gate.Close() }

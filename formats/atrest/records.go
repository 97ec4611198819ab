package atrest

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
)

// Records reads what Shards wrote, from mapped memory. It is safe for concurrent use.
type Records struct {
	sidecar
	path         ShardPath
	files        []*Mapping
	staleIndexes []string // see ForOthers
}

// OpenRecords opens the dataset at path. ErrDamaged if a file is missing or has not the size
// that was written, or a record's place is none.
func OpenRecords(path string) (*Records, error) {
	return openRecords(path, func(file string, fs FileChecksums) (*Mapping, error) {
		m, err := Map(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: %w", file, formats.ErrDamaged, os.ErrNotExist)
		}
		if err != nil {
			return nil, formats.WrapDamaged(err)
		}
		if int64(len(m.Data)) != fs.Size {
			err := fmt.Errorf("%s: %w: it has %d bytes, %d were written", file, formats.ErrDamaged, len(m.Data), fs.Size)
			return nil, errors.Join(err, m.Close())
		}
		return m, nil
	})
}

// SalvageRecords is OpenRecords that puts up with files that are missing or of another
// size: what they lack is ErrDamaged when it is read.
func SalvageRecords(path string) (*Records, error) {
	return openRecords(path, func(file string, _ FileChecksums) (*Mapping, error) {
		m, err := Map(file)
		if errors.Is(err, os.ErrNotExist) {
			return &Mapping{}, nil
		}
		return m, err
	})
}

func openRecords(path string, open func(file string, fs FileChecksums) (*Mapping, error)) (*Records, error) {
	p, err := ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	r := &Records{path: p}
	if r.sidecar, err = p.openSidecar(); err != nil {
		return nil, p.explainOpen(path, err)
	}
	if r.otherNames {
		return nil, p.otherNameError(path, &r.sidecar)
	}
	if lo, hi, ok := p.Braces(); ok && (lo != 0 || hi != len(r.originalNames)-1) {
		return nil, fmt.Errorf("%s: the dataset has the shards 0 to %d; name them all", path, len(r.originalNames)-1)
	}
	sizes, err := r.open(open)
	if err == nil {
		if err = r.Manifest.checkLocations(sizes); err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(p.Sidecar(), ManifestName), err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.staleIndexes, r.checksums = r.staleIndexFiles(), nil
	return r, nil
}

// open maps the files and gives their sizes as written.
func (r *Records) open(open func(file string, fs FileChecksums) (*Mapping, error)) ([]int64, error) {
	files, table := r.Meta().Files, r.checksums.byName()
	sizes := make([]int64, len(files))
	var wrong []error
	for i, name := range files {
		fs, err := table.forFile(name)
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

// howMany says how much of a dataset is wrong if it is more than one file of several.
func (r *Records) countWrong(wrong, files int) string {
	side := filepath.Base(r.path.Sidecar())
	switch {
	case files == 1 && !r.path.has(r.meta.Files[0]):
		return ""
	case files == 1:
		return "; it is cut off, or not the file that " + side + " describes"
	case wrong == files:
		return fmt.Sprintf("; none of the %d files is one that %s describes", files, side)
	case wrong > 1:
		return fmt.Sprintf("; %d of its %d files are missing or have another size", wrong, files)
	}
	return ""
}

// CheckFormat refuses the description of a dataset of another format.
func (r *Records) CheckFormat(name string) error {
	if got := r.Meta().Format; got != name {
		return fmt.Errorf("%s: %w: %s says that its format is %q, its name that it is %q", r.path.Sidecar(), formats.ErrNotDataset, MetaName, got, name)
	}
	return nil
}

// Written lists the names that the data files had when they were written.
func (r *Records) OriginalNames() []string { return r.originalNames }

// ForOthers lists the files of the dataset's sidecar that other programs read and that tell
// of the names which the data files had when they were written; none if those are their names.
func (r *Records) StaleIndexFiles() (sidecar string, names []string) {
	return filepath.Base(r.path.Sidecar()), r.staleIndexes
}

// growing is the path under which the dataset was or is written: braces are for reading.
func (p ShardPath) writePath(path string) string {
	switch _, _, braces := p.Braces(); {
	case !braces:
		return path
	case p.width == 1:
		return filepath.Join(p.Dir, p.before+"%d"+p.after)
	}
	return filepath.Join(p.Dir, fmt.Sprintf("%s%%0%dd%s", p.before, p.width, p.after))
}

// Record is the bytes of the record of row i, in mapped memory. The error names the key.
func (r *Records) Record(i int) ([]byte, error) {
	if err := r.Manifest.checkIndex(i); err != nil {
		return nil, err
	}
	at := r.Manifest.Location(i)
	b, err := r.files[at.Shard].Slice(at.Offset, at.Length)
	if err != nil {
		return nil, fmt.Errorf("key %q in %s: %w", r.Manifest.Key(i), r.Meta().Files[at.Shard], err)
	}
	return b, nil
}

// Use calls do with the record of row i, in mapped memory. An error, such as that a part of
// the record cannot be read, says which key and where the record lies.
func (r *Records) WithRecord(i int, do func(record []byte) error) error {
	b, err := r.Record(i)
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

// Removed implements formats.Removals.
func (r *Records) Removed() ([]formats.RemovedSample, error) {
	return ReadRemoved(r.path.Sidecar(), r.Meta())
}

// Check implements formats.Checker.
func (r *Records) Check(ctx context.Context, p formats.Portion, workers int, report func(formats.Damage)) error {
	sums, err := r.readChecksums()
	if err != nil {
		return err
	}
	return sums.Check(ctx, r.path.Dir, 0, p, workers, report)
}

// CheckQuick implements formats.Checker.
func (r *Records) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	sums, err := r.readChecksums()
	if err != nil {
		return err
	}
	data := func(name string) bool { return slices.Contains(r.Meta().Files, name) }
	large := slices.DeleteFunc(slices.Clone(sums), func(fs FileChecksums) bool { return !data(fs.Name) })
	if err := large.CheckSizes(r.path.Dir, 0, report); err != nil {
		return err
	}
	if err := sums.CheckFiles(ctx, r.path.Dir, func(name string) bool { return !data(name) }, report); err != nil {
		return err
	}
	r.checkOverlaps(report)
	return nil
}

// table reads the table of checksums anew: it may have been damaged since the dataset was opened.
func (r *Records) readChecksums() (Checksums, error) {
	sums, err := ReadChecksums(r.path.Sidecar())
	return r.path.renameChecksums(r.originalNames, r.meta.Files, sums), err
}

// checkOverlaps reports records that lie in each other.
func (r *Records) checkOverlaps(report func(formats.Damage)) {
	order := r.StorageOrder()
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

// StorageOrder lists the samples as their records lie in the files one after another.
func (r *Records) StorageOrder() []int32 {
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

// Close unmaps the files.
func (r *Records) Close() error {
	var err error
	for _, m := range r.files {
		err = errors.Join(err, m.Close())
	}
	r.files = nil
	return err
}

package sharded

import (
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
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Records reads what Shards wrote, from mapped memory. It is safe for concurrent use.
type Records struct {
	description.Description
	contents     Contents
	name         string // the path as it was given
	path         ShardPath
	gate         lifetime.Gate
	files        []*mapped.Mapping
	staleIndexes []string // see StaleIndexFiles
}

// OpenRecords opens the dataset at path. ErrDamaged if a file is missing or has another size
// than was written, or a record's location is invalid.
func OpenRecords(path string) (*Records, error) {
	return openRecords(path, false, func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error) {
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
	return openRecords(path, true, func(file string, _ checksum.FileChecksums) (*mapped.Mapping, error) {
		m, err := mapped.Map(file)
		if errors.Is(err, os.ErrNotExist) {
			return &mapped.Mapping{}, nil
		}
		return m, err
	})
}

func openRecords(path string, salvage bool, open func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error)) (*Records, error) {
	p, err := ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	r := &Records{name: path, path: p}
	if r.contents, err = p.OpenSidecar(); err != nil {
		return nil, p.explainOpen(path, err)
	}
	if r.contents.otherNames {
		return nil, p.otherNameError(path, &r.contents)
	}
	if lo, hi, ok := p.Braces(); ok && (lo != 0 || hi != len(r.OriginalNames())-1) {
		return nil, fmt.Errorf("%s: the dataset has the shards 0 to %d; give that range, or a pattern with %%d", path, len(r.OriginalNames())-1)
	}
	err = r.open(open)
	if err == nil {
		r.Description, err = r.contents.Describe(salvage)
	}
	files, index := r.files, r.Description
	free := func() (err error) {
		for _, m := range files {
			err = errors.Join(err, m.Close())
		}
		return err
	}
	if err != nil {
		return nil, errors.Join(err, free())
	}
	r.gate.Open(path, func() error { return errors.Join(free(), index.CloseIndex()) })
	r.staleIndexes, r.contents.Checksums = r.contents.staleIndexFiles(), nil
	return r, nil
}

// open maps the files.
func (r *Records) open(open func(file string, fs checksum.FileChecksums) (*mapped.Mapping, error)) error {
	files, table := r.contents.meta.Files, r.contents.Checksums.ByName()
	var wrong []error
	for _, name := range files {
		fs, err := table.ForFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", r.path.Sidecar(), err)
		}
		m, err := open(filepath.Join(r.path.Dir, name), fs)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		r.files = append(r.files, m)
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w%s", wrong[0], r.countWrong(len(wrong), len(files)))
}

// countWrong returns the end of an error about wrong files: how many of the files are wrong.
func (r *Records) countWrong(wrong, files int) string {
	side := filepath.Base(r.path.Sidecar())
	switch {
	case files == 1 && !r.path.has(r.contents.meta.Files[0]):
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
func (r *Records) OriginalNames() []string { return r.contents.OriginalFiles }

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

// location returns the location of the record of sample i, which lies in a file.
func (r *Records) location(i int) (e sampleindex.Entry, at sampleindex.Location, record []byte, err error) {
	if e, err = r.Index().At(i); err != nil {
		return e, at, nil, err
	}
	at = e.Location()
	if err := at.CheckIn(len(r.files), func(shard int) int64 { return int64(len(r.files[shard].Data)) }); err != nil {
		return e, at, nil, fmt.Errorf("%s: %w", r.nameOf(i, at), err)
	}
	record, err = r.files[at.Shard].Slice(at.Offset, at.Length)
	return e, at, record, err
}

// nameOf names sample i, whose record is at at, in an error.
func (r *Records) nameOf(i int, at sampleindex.Location) string {
	if at.Shard < 0 || at.Shard >= len(r.files) {
		return r.Index().Name(i)
	}
	return fmt.Sprintf("%s in %s", r.Index().Name(i), r.Meta().Files[at.Shard])
}

// ReadRecord implements Read: it calls do with the row and the record of sample i, in mapped memory. An
// error, also one about a page that cannot be read, names the key, the file and the offset.
func (r *Records) ReadRecord(i int, do func(e sampleindex.Entry, record []byte) error) error {
	if err := r.gate.Enter(i); err != nil {
		return err
	}
	defer r.gate.Leave(i)
	return r.withRecord(i, do)
}

// ViewRecord is ReadRecord for View: a sample may point into the record afterwards.
func (r *Records) ViewRecord(i int, do func(e sampleindex.Entry, record []byte) error) error {
	if err := r.gate.Enter(i); err != nil {
		return err
	}
	defer r.gate.Leave(i)
	r.gate.Lend()
	return r.withRecord(i, do)
}

func (r *Records) withRecord(i int, do func(e sampleindex.Entry, record []byte) error) error {
	if err := r.CheckRead(i); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	e, at, b, err := r.location(i)
	if err != nil {
		return err
	}
	mark := guard.Now()
	if err := guard.Since(mark, b, do(e, b)); err != nil {
		return fmt.Errorf("%s at byte %d: %w", r.nameOf(i, at), at.Offset, err)
	}
	return nil
}

// Info implements formats.Dataset.
func (r *Records) Info(i int) (formats.Info, error) {
	if err := r.gate.Enter(i); err != nil {
		return formats.Info{}, err
	}
	defer r.gate.Leave(i)
	in, err := r.Index().Info(i)
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
	if err := p.Validate(); err != nil {
		return fmt.Errorf("check %s: %w", r.name, err)
	}
	sums, err := r.readChecksums()
	if err != nil {
		return err
	}
	if err := sums.Check(ctx, r.path.Dir, 0, p, workers, report); err != nil || p.Index > 0 {
		return err
	}
	return sidecar.CheckManifest(ctx, r.path.Sidecar(), r.Description, sums, true, report)
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
	if err := sidecar.CheckManifest(ctx, r.path.Sidecar(), r.Description, sums, true, report); err != nil {
		return err
	}
	return r.checkOverlaps(report)
}

// readChecksums reads the table of checksums again: it may have been damaged since the dataset
// was opened.
func (r *Records) readChecksums() (checksum.Checksums, error) {
	sums, err := checksum.ReadChecksums(r.path.Sidecar())
	return r.path.renameChecksums(r.contents.OriginalFiles, r.Meta().Files, sums), err
}

// checkOverlaps reports records that overlap.
func (r *Records) checkOverlaps(report func(formats.Damage)) error {
	last, before := sampleindex.Location{Shard: -1}, int32(0)
	return r.eachStored(func(i int32) error {
		at := r.recordAt(i)
		if at.Shard == last.Shard && last.Offset+last.Length > at.Offset && at.Shard >= 0 && at.Shard < len(r.files) {
			report(formats.Damage{
				File: r.Meta().Files[at.Shard], Offset: at.Offset, Length: last.Offset + last.Length - at.Offset,
				Cause: fmt.Sprintf("the records of %s and %s overlap", r.Index().Name(int(before)), r.Index().Name(int(i))),
			})
		}
		last, before = at, i
		return nil
	})
}

// recordAt returns the location of a record, in shard -1 if its row cannot be read: reading the sample
// reports that.
func (r *Records) recordAt(i int32) sampleindex.Location {
	e, err := r.Index().At(int(i))
	if err != nil {
		return sampleindex.Location{Shard: -1}
	}
	return e.Location()
}

// EachStored implements formats.StorageOrdered.
func (r *Records) EachStored(yield func(i int32) error) error {
	if err := r.gate.Enter(0); err != nil {
		return err
	}
	defer r.gate.Leave(0)
	return r.eachStored(yield)
}

func (r *Records) eachStored(yield func(i int32) error) error {
	return sampleindex.EachStored(r.Len(), func(i int32) (sampleindex.Location, error) { return r.recordAt(i), nil }, yield)
}

// FindKey is for formats.Find: it returns the index of the sample with the key; ok is false if there is none.
func (r *Records) FindKey(key string) (i int, ok bool, err error) {
	if err := r.gate.Enter(0); err != nil {
		return 0, false, err
	}
	defer r.gate.Leave(0)
	return r.Index().Find(key)
}

// Location returns the location of the record of row i.
func (r *Records) Location(i int) (sampleindex.Location, error) {
	if err := r.gate.Enter(i); err != nil {
		return sampleindex.Location{}, err
	}
	defer r.gate.Leave(i)
	e, err := r.Index().At(i)
	if err != nil {
		return sampleindex.Location{}, err
	}
	return e.Location(), nil
}

// Lease keeps the files mapped after Close until release is called; see formats.Viewer.
func (r *Records) Lease() (release func(), err error) { return r.gate.Lease() }

// Close implements formats.Dataset.
func (r *Records) Close() error { return r.gate.Close() }

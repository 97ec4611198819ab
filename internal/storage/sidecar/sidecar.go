package sidecar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// The files of the folder that describes a dataset: for LMDB the dataset itself, for tars and
// TFRecords the sidecar beside the data.
const (
	ManifestName = "manifest.parquet"
	RemovedName  = "removed.parquet" // only if samples were removed by hand
)

// PartialSuffix is appended to a dataset's path to name its staging folder.
const PartialSuffix = ".partial"

// Read reads dataset.json in dir and the table of checksums. ErrNotDataset if they are missing; ErrDamaged,
// with the file's name, if they are not what was written.
func Read(dir string) (*formats.Meta, checksum.Checksums, error) {
	if _, err := os.Stat(filepath.Join(dir, manifest.MetaName)); durable.IsMissing(err) {
		if err := ExplainMissing(dir); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrNotDataset, manifest.MetaName)
	}
	sums, err := checksum.ReadChecksums(dir)
	if err != nil {
		return nil, nil, errors.Join(newer(dir), suggestRepair(err))
	}
	b, err := sums.ReadSmall(dir, manifest.MetaName)
	if err != nil {
		return nil, nil, suggestRepair(err)
	}
	m, err := manifest.DecodeMeta(b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return m, sums, nil
}

// suggestRepair adds to an error about damage what restores the file.
func suggestRepair(err error) error {
	if !errors.Is(err, formats.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w; dsconv verify --repair SRC restores it", err)
}

// HasPartial reports whether there is a staging folder for path.
func HasPartial(path string) bool {
	_, err := os.Stat(path + PartialSuffix)
	return err == nil
}

// newer returns ErrNewer if dataset.json has a later version, whose table of checksums may
// have another layout.
func newer(dir string) error {
	b, err := unblocked.ReadFile(filepath.Join(dir, manifest.MetaName))
	if err != nil {
		return nil //nolint:nilerr // the caller reports its own error
	}
	if _, err = manifest.DecodeMeta(b); errors.Is(err, formats.ErrNewer) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// ReadRemoved reads the removed samples of the dataset that m describes from its sidecar dir.
// ErrDamaged if the list is not what was written.
func ReadRemoved(dir string, m *formats.Meta) ([]formats.RemovedSample, error) {
	return manifest.DecodeRemoved(m, func() ([]byte, error) {
		sums, err := checksum.ReadChecksums(dir)
		if err != nil {
			return nil, err
		}
		return sums.ReadSmall(dir, RemovedName)
	})
}

// UnfinishedError is the error about a dataset whose writer is running or was stopped.
func UnfinishedError(path string) error {
	return fmt.Errorf("%s: %w: it is unfinished; repeat the command that began it to resume, or add --discard to start over", path, formats.ErrNotDataset)
}

// ExplainMissing explains why there is no dataset at path, for formats of one file or folder;
// nil if the path exists.
func ExplainMissing(path string) error {
	if err := formats.CheckPath(path); err != nil {
		return err
	}
	switch {
	case HasPartial(path) && !durable.Exists(path):
		return UnfinishedError(path)
	case !durable.Exists(path):
		return formats.NotFound(path)
	}
	return nil
}

// Places are the locations that only the index has, where a format finds values by them.
type Places struct {
	// Locate returns rows with their locations. The manifest's rows then have none.
	Locate func(rows sampleindex.Rows) sampleindex.Rows
	Fields int    // locations in Row.Fields
	Stamp  []byte // identifies the data files in which the locations are valid
	Lost   *bool  // see indexfile.Source
}

// IDOf is the ID of an index that is made from the manifest with those checksums.
func (p *Places) IDOf(of checksum.FileChecksums) sampleindex.ID {
	b := binary.LittleEndian.AppendUint64(nil, uint64(of.Size))
	for _, x := range of.Blocks {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return sampleindex.NewID(b, p.Stamp)
}

// Describe returns the Description of the dataset in dir, whose dataset.json is m: with its index, or, if it
// has none, with one that is made from the manifest. With salvage, so is one for a damaged index, and the data
// files need not be those that it was made from.
func Describe(dir string, m *formats.Meta, sums checksum.Checksums, p Places, salvage bool) (description.Description, error) {
	of, err := find(dir, sums, ManifestName)
	if err != nil {
		return description.Description{}, err
	}
	listed, unlisted := find(dir, sums, indexfile.Name)
	s := indexfile.Source{ID: p.IDOf(of), Columns: m.Columns, Fields: p.Fields, Count: m.Count, Rows: rowsOf(dir, m, of), Lost: p.Lost}
	if p.Locate != nil {
		s.Rows = p.Locate(s.Rows)
	}
	file, verify := filepath.Join(dir, indexfile.Name), listed.Verify
	if unlisted != nil { // the table was made again when there was no index
		file, verify = "", nil
	}
	var x *indexfile.File
	if salvage {
		x, err = indexfile.Salvage(file, verify, &s)
	} else {
		x, err = indexfile.Open(file, &s)
	}
	if err != nil {
		return description.Description{}, err
	}
	return description.New(m, x), nil
}

// find returns the checksums of the named file of dir.
func find(dir string, sums checksum.Checksums, name string) (checksum.FileChecksums, error) {
	i := slices.IndexFunc(sums, func(fs checksum.FileChecksums) bool { return path.Base(fs.Name) == name })
	if i < 0 {
		return checksum.FileChecksums{}, fmt.Errorf("%s: %w: it is not in the table of checksums", filepath.Join(dir, name), formats.ErrDamaged)
	}
	return sums[i], nil
}

// CheckManifest compares the manifest in dir with the index of d, and reports the first rows that differ;
// located: the manifest has the samples' locations. A manifest or index whose bytes are not those that were written is not compared: the check of sums reports it.
func CheckManifest(ctx context.Context, dir string, d description.Description, sums checksum.Checksums, located bool, report func(formats.Damage)) error {
	of, err := find(dir, sums, ManifestName)
	if err != nil || !isWhole(dir, of) {
		return err
	}
	if whole, err := d.CheckIndex(ctx); err != nil || !whole {
		return err
	}
	differ := func(err error) { report(formats.Damage{File: of.Name, Length: of.Size, Cause: err.Error()}) }
	err = d.CheckRows(ctx, rowsOf(dir, d.Meta(), of), located, differ)
	if errors.Is(err, formats.ErrDamaged) {
		differ(err)
		err = nil
	}
	return err
}

// isWhole reports whether a file of dir has those checksums.
func isWhole(dir string, of checksum.FileChecksums) bool {
	f, err := mapped.Map(filepath.Join(dir, path.Base(of.Name)))
	if err != nil {
		return false
	}
	err = guard.Read(f.Data, func() error { return of.Verify(f.Data) })
	return errors.Join(err, f.Close()) == nil
}

// rowsOf reads the rows of the manifest in dir.
func rowsOf(dir string, m *formats.Meta, of checksum.FileChecksums) sampleindex.Rows {
	return func(yield func(r *sampleindex.Row) error) error {
		file := filepath.Join(dir, ManifestName)
		f, err := mapped.Map(file)
		if err != nil {
			return formats.WrapDamaged(err)
		}
		n := 0
		var failed error // of yield
		err = guard.Read(f.Data, func() error {
			if err := of.Verify(f.Data); err != nil {
				return err
			}
			return manifest.Read(f.Data, m.Columns, func(r *sampleindex.Row) error {
				n++
				failed = yield(r)
				return failed
			})
		})
		switch {
		case failed != nil:
			err = failed
		case err != nil:
			err = fmt.Errorf("%s: %w", file, err)
		case n != m.Count:
			err = fmt.Errorf("%s: %w: it has %d rows, %s says %d samples", file, formats.ErrDamaged, n, manifest.MetaName, m.Count)
		}
		return errors.Join(err, f.Close())
	}
}

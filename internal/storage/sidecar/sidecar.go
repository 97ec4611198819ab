package sidecar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
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

package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// The files of the folder that describes a dataset: the dataset's own for LMDB, one
// beside the data for tars and TFRecords.
const (
	ManifestName = "manifest.parquet"
	RemovedName  = "removed.parquet" // only where samples were removed by hand
	MetaName     = "dataset.json"
)

// Suffix is what is appended to a dataset's path to name the folder it grows in.
const Suffix = ".partial"

// ReadSidecar reads manifest and dataset.json of dir and compares them with their
// checksums. ErrNotDataset if they are not there, ErrDamaged, with the file's name, if they
// are not what was written.
func ReadSidecar(dir string) (Catalog, error) {
	c, _, err := sidecarAndSums(dir)
	return c, err
}

func sidecarAndSums(dir string) (Catalog, Sums, error) {
	if _, err := os.Stat(filepath.Join(dir, MetaName)); durable.IsMissing(err) {
		if err := NoDataset(dir); err != nil {
			return Catalog{}, nil, err
		}
		return Catalog{}, nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrNotDataset, MetaName)
	}
	sums, err := ReadSums(dir)
	if err != nil {
		return Catalog{}, nil, errors.Join(newer(dir), err)
	}
	b, err := sums.readSmall(dir, MetaName)
	if err != nil {
		return Catalog{}, nil, err
	}
	m, err := DecodeMeta(b)
	if err != nil {
		return Catalog{}, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if b, err = sums.readSmall(dir, ManifestName); err != nil {
		return Catalog{}, nil, err
	}
	c, err := NewCatalog(m, b)
	if err != nil {
		return Catalog{}, nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestName), err)
	}
	return c, sums, nil
}

// growsAt says whether a dataset is growing at path, or was when its writer stopped.
func growsAt(path string) bool {
	_, err := os.Stat(path + Suffix)
	return err == nil
}

// newer is ErrNewer if that is what dataset.json says: a later version's table of checksums
// may be another one.
func newer(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, MetaName))
	if err != nil {
		return nil //nolint:nilerr // the caller has an error of its own to tell
	}
	if _, err = DecodeMeta(b); errors.Is(err, formats.ErrNewer) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// ReadRemoved reads the list of the dataset that m describes from its sidecar dir. ErrDamaged
// if it is not what was written.
func ReadRemoved(dir string, m *formats.Meta) ([]formats.Removed, error) {
	return DecodeRemoved(m, func() ([]byte, error) {
		sums, err := ReadSums(dir)
		if err != nil {
			return nil, err
		}
		return sums.readSmall(dir, RemovedName)
	})
}

// unfinished is the error of a dataset that is still written, or whose writer was stopped.
func unfinished(path string) error {
	return fmt.Errorf("%s: %w: it is an unfinished pack; the command that began it goes on with it, with --discard it begins anew", path, formats.ErrNotDataset)
}

// NoDataset explains why there is no dataset at path, of a format that is one file or folder;
// nil if there is something.
func NoDataset(path string) error {
	switch {
	case growsAt(path) && !durable.Exists(path):
		return unfinished(path)
	case !durable.Exists(path):
		return formats.NotThere(path)
	}
	return nil
}

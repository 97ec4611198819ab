package atrest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// The files of the folder that describes a dataset: the dataset's own for LMDB, one
// beside the data for tars and TFRecords.
const (
	ManifestName = "manifest.parquet"
	MetaName     = "dataset.json"
	SumsName     = "checksums"
)

// WriteSidecar writes manifest, dataset.json and checksums into dir and syncs them. data
// are the sums of the data files. prefix leads from the folder that their names are
// relative to into dir, "x.tar.dsconv/" or "" if that is dir itself, so that all names in
// the table are relative to one folder. Further files of dir that readers want (indexes)
// are named in extra.
func (s *Stage) WriteSidecar(dir, prefix string, data Sums, extra []string) error {
	ranks, err := s.Table.Ranks()
	if err != nil {
		return err
	}
	var manifest bytes.Buffer
	if err := s.Table.WriteManifest(&manifest, ranks); err != nil {
		return err
	}
	s.Table.Describe(&s.Meta)
	meta, err := EncodeMeta(&s.Meta)
	if err != nil {
		return err
	}
	if err := errors.Join(
		WriteFile(filepath.Join(dir, ManifestName), manifest.Bytes()),
		WriteFile(filepath.Join(dir, MetaName), meta),
	); err != nil {
		return err
	}
	sums := append(Sums(nil), data...)
	for _, name := range append([]string{ManifestName, MetaName}, extra...) {
		fs, err := SumFile(filepath.Join(dir, name), prefix+name, -1)
		if err != nil {
			return err
		}
		sums = append(sums, fs)
	}
	if err := WriteFile(filepath.Join(dir, SumsName), sums.Encode()); err != nil {
		return err
	}
	return SyncDir(dir)
}

// ReadSidecar reads manifest and dataset.json of dir. ErrNotDataset if they are not there.
func ReadSidecar(dir string) (Catalog, error) {
	b, err := os.ReadFile(filepath.Join(dir, MetaName))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir + Suffix); err == nil {
			return Catalog{}, fmt.Errorf("%s: %w: it is an unfinished pack", dir, formats.ErrNotDataset)
		}
		return Catalog{}, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrNotDataset, MetaName)
	}
	if err != nil {
		return Catalog{}, err
	}
	m, err := DecodeMeta(b)
	if err != nil {
		return Catalog{}, fmt.Errorf("%s: %w", dir, err)
	}
	path := filepath.Join(dir, ManifestName)
	mp, err := Map(path)
	if err != nil {
		return Catalog{}, err
	}
	defer mp.Close()
	c, err := NewCatalog(m, mp.Data)
	if err != nil {
		return Catalog{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ReadSums reads the block checksums of the sidecar dir.
func ReadSums(dir string) (Sums, error) {
	path := filepath.Join(dir, SumsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := DecodeSums(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

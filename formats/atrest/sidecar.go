package atrest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// The files of the folder that describes a dataset: the dataset's own for LMDB, one
// beside the data for tars and TFRecords.
const (
	ManifestName  = "manifest.parquet"
	RemovedName   = "removed.parquet" // only where samples were removed by hand
	MetaName      = "dataset.json"
	ChecksumsName = "checksums"
)

// WriteSidecar writes manifest, dataset.json and checksums into dir and syncs them. data
// are the sums of the data files. prefix leads from the folder that their names are
// relative to into dir, "x.tar.dsconv/" or "" if that is dir itself, so that all names in
// the table are relative to one folder. Further files of dir that readers want (indexes)
// are named in extra.
func (s *Stage) WriteSidecar(dir, prefix string, data Checksums, extra []string) error {
	ranks, err := s.Manifest.KeyOrder()
	if err != nil {
		return err
	}
	var manifest bytes.Buffer
	if err := s.Manifest.WriteParquet(&manifest, ranks); err != nil {
		return err
	}
	s.Describe()
	meta, err := EncodeMeta(&s.Meta)
	if err != nil {
		return err
	}
	if err := errors.Join(
		durable.WriteFile(filepath.Join(dir, ManifestName), manifest.Bytes()),
		durable.WriteFile(filepath.Join(dir, MetaName), meta),
	); err != nil {
		return err
	}
	if len(s.removed) > 0 {
		b, err := s.EncodeRemoved()
		if err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, RemovedName), b); err != nil {
			return err
		}
		extra = append(extra, RemovedName)
	}
	sums := append(Checksums(nil), data...)
	for _, name := range append([]string{ManifestName, MetaName}, extra...) {
		fs, err := ChecksumFile(filepath.Join(dir, name), prefix+name, -1)
		if err != nil {
			return err
		}
		sums = append(sums, fs)
	}
	return durable.WriteFile(filepath.Join(dir, ChecksumsName), sums.Encode())
}

// ReadSidecar reads manifest and dataset.json of dir and compares them with their
// checksums. ErrNotDataset if they are not there, ErrDamaged, with the file's name, if they
// are not what was written.
func ReadSidecar(dir string) (Description, error) {
	c, _, err := readSidecar(dir)
	return c, err
}

func readSidecar(dir string) (Description, Checksums, error) {
	if _, err := os.Stat(filepath.Join(dir, MetaName)); isNotExist(err) {
		if err := ExplainMissing(dir); err != nil {
			return Description{}, nil, err
		}
		return Description{}, nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrNotDataset, MetaName)
	}
	sums, err := ReadChecksums(dir)
	if err != nil {
		return Description{}, nil, errors.Join(newer(dir), err)
	}
	b, err := sums.readSmall(dir, MetaName)
	if err != nil {
		return Description{}, nil, err
	}
	m, err := DecodeMeta(b)
	if err != nil {
		return Description{}, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if b, err = sums.readSmall(dir, ManifestName); err != nil {
		return Description{}, nil, err
	}
	c, err := NewDescription(m, b)
	if err != nil {
		return Description{}, nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestName), err)
	}
	return c, sums, nil
}

// growsAt says whether a dataset is growing at path, or was when its writer stopped.
func hasPartial(path string) bool {
	_, err := os.Stat(path + PartialSuffix)
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

// readSmall reads a file of the sidecar dir that describes the dataset and compares it with
// its checksums, so that what is parsed is what was written.
func (s Checksums) readSmall(dir, name string) ([]byte, error) {
	file := filepath.Join(dir, name)
	i := slices.IndexFunc(s, func(fs FileChecksums) bool { return path.Base(fs.Name) == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w: it is not in the table of checksums", file, formats.ErrDamaged)
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	if st.Size() != s[i].Size {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, %d were written", file, formats.ErrDamaged, st.Size(), s[i].Size)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	if err := s[i].Verify(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ReadSums reads the block checksums of the sidecar dir. ErrDamaged if they are missing or
// do not check.
func ReadChecksums(dir string) (Checksums, error) {
	file := filepath.Join(dir, ChecksumsName)
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, formats.WrapDamaged(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := DecodeChecksums(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

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

// The files of the folder that describes a dataset: for LMDB the dataset itself, for tars and
// TFRecords the sidecar beside the data.
const (
	ManifestName  = "manifest.parquet"
	RemovedName   = "removed.parquet" // only if samples were removed by hand
	MetaName      = "dataset.json"
	ChecksumsName = "checksums"
)

// WriteSidecar writes manifest, dataset.json and checksums into dir and syncs them. data
// are the checksums of the data files. prefix is the path of dir relative to the folder of the
// data files, "x.tar.dsconv/" or "" if they are the same, so that all names in the table are
// relative to one folder. extra names other files in dir, such as indexes.
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

// ReadSidecar reads manifest and dataset.json in dir and compares them with their
// checksums. ErrNotDataset if they are missing; ErrDamaged, with the file's name, if they
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

// hasPartial reports whether there is a staging folder for path.
func hasPartial(path string) bool {
	_, err := os.Stat(path + PartialSuffix)
	return err == nil
}

// newer returns ErrNewer if dataset.json has a later version, whose table of checksums may
// have another layout.
func newer(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, MetaName))
	if err != nil {
		return nil //nolint:nilerr // the caller reports its own error
	}
	if _, err = DecodeMeta(b); errors.Is(err, formats.ErrNewer) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// readSmall reads a small file of the sidecar dir and compares it with its checksums, so that
// only what was written is parsed.
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
		return nil, fmt.Errorf("%s: %w: it has %d bytes, but %d were written", file, formats.ErrDamaged, st.Size(), s[i].Size)
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

// ReadChecksums reads the block checksums of the sidecar dir; ErrDamaged if they are missing or
// damaged.
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

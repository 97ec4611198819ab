package staging

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// SetRemoved implements formats.RemovalWriter.
func (s *Stage) SetRemoved(list []formats.RemovedSample) { s.removed = list }

// Describe sets the fields of Meta that depend on the samples, after all are written.
func (s *Stage) Describe() {
	s.Manifest.Describe(&s.Meta)
	if len(s.removed) > 0 {
		if s.Meta.History == nil {
			s.Meta.History = new(formats.History)
		}
		s.Meta.History.Removed = len(s.removed)
	}
	s.Meta.Version = s.Meta.RequiredVersion()
}

// EncodeRemoved returns the file that lists the samples removed by hand, nil if there are none.
func (s *Stage) EncodeRemoved() ([]byte, error) { return manifest.EncodeRemoved(s.removed) }

// WriteSidecar writes manifest, dataset.json and checksums into dir and syncs them. data
// are the checksums of the data files. prefix is the path of dir relative to the folder of the
// data files, "x.tar.dsconv/" or "" if they are the same, so that all names in the table are
// relative to one folder. extra names other files in dir, such as indexes.
func (s *Stage) WriteSidecar(dir, prefix string, data checksum.Checksums, extra []string) error {
	ranks, err := s.Manifest.KeyOrder()
	if err != nil {
		return err
	}
	var rows bytes.Buffer
	if err := s.Manifest.WriteParquet(&rows, ranks); err != nil {
		return err
	}
	s.Describe()
	meta, err := manifest.EncodeMeta(&s.Meta)
	if err != nil {
		return err
	}
	if err := errors.Join(
		durable.WriteFile(filepath.Join(dir, sidecar.ManifestName), rows.Bytes()),
		durable.WriteFile(filepath.Join(dir, manifest.MetaName), meta),
	); err != nil {
		return err
	}
	if len(s.removed) > 0 {
		b, err := manifest.EncodeRemoved(s.removed)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, sidecar.RemovedName), b); err != nil {
			return err
		}
		extra = append(extra, sidecar.RemovedName)
	}
	sums := append(checksum.Checksums(nil), data...)
	for _, name := range append([]string{sidecar.ManifestName, manifest.MetaName}, extra...) {
		fs, err := checksum.OfFile(filepath.Join(dir, name), prefix+name, -1)
		if err != nil {
			return err
		}
		sums = append(sums, fs)
	}
	return durable.WriteFile(filepath.Join(dir, checksum.ChecksumsName), sums.Encode())
}

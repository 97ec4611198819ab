package atrest

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// SetRemoved implements formats.RemovalWriter.
func (s *Stage) SetRemoved(list []formats.Removed) { s.removed = list }

// Describe fills of Meta what is known now that all is written.
func (s *Stage) Describe() {
	s.Table.Describe(&s.Meta)
	if len(s.removed) > 0 {
		if s.Meta.History == nil {
			s.Meta.History = new(formats.History)
		}
		s.Meta.History.Removed = len(s.removed)
	}
	s.Meta.Version = s.Meta.Needs()
}

// EncodeRemoved is the file that lists what was removed by hand, nil if nothing was.
func (s *Stage) EncodeRemoved() ([]byte, error) { return EncodeRemoved(s.removed) }

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
	var table bytes.Buffer
	if err := s.Table.WriteManifest(&table, ranks); err != nil {
		return err
	}
	s.Describe()
	meta, err := EncodeMeta(&s.Meta)
	if err != nil {
		return err
	}
	if err := errors.Join(
		durable.WriteFile(filepath.Join(dir, ManifestName), table.Bytes()),
		durable.WriteFile(filepath.Join(dir, MetaName), meta),
	); err != nil {
		return err
	}
	if len(s.removed) > 0 {
		b, err := EncodeRemoved(s.removed)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, RemovedName), b); err != nil {
			return err
		}
		extra = append(extra, RemovedName)
	}
	sums := append(Sums(nil), data...)
	for _, name := range append([]string{ManifestName, MetaName}, extra...) {
		fs, err := SumFile(filepath.Join(dir, name), prefix+name, -1)
		if err != nil {
			return err
		}
		sums = append(sums, fs)
	}
	return durable.WriteFile(filepath.Join(dir, SumsName), sums.Encode())
}

package staging

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// SetRemoved implements formats.RemovalWriter.
func (s *Stage) SetRemoved(list []formats.RemovedSample) { s.removed = list }

// SetPixelStats implements formats.PixelStatsWriter.
func (s *Stage) SetPixelStats(of *formats.PixelStats) { s.Meta.PixelStats = of }

// Describe sets the fields of Meta that depend on the samples, after all are written.
func (s *Stage) Describe() {
	s.rows.profile.Describe(&s.Meta)
	if len(s.removed) > 0 {
		if s.Meta.History == nil {
			s.Meta.History = new(formats.History)
		}
		s.Meta.History.Removed = len(s.removed)
	}
	s.nameClasses()
	s.Meta.Version = s.Meta.RequiredVersion()
}

// nameClasses names the classes of a designated label that has none by their numbers. How many there are is known now.
func (s *Stage) nameClasses() {
	k := s.Meta.Schema.LabelIndex()
	if k < 0 || s.Meta.Schema[k].Kind != formats.Label || len(s.Meta.Schema[k].Classes) > 0 {
		return
	}
	s.Meta.Schema = slices.Clone(s.Meta.Schema)
	_ = s.Meta.Schema[k].NumberClasses(s.rows.profile.MaxLabel()) // too many have no names
}

// EncodeRemoved returns the file that lists the samples removed by hand, nil if there are none.
func (s *Stage) EncodeRemoved() ([]byte, error) { return manifest.EncodeRemoved(s.removed) }

// WriteSidecar writes manifest, index, dataset.json and checksums into dir and syncs them. data
// are the checksums of the data files. prefix is the path of dir relative to the folder of the
// data files, "x.tar.dsconv/" or "" if they are the same, so that all names in the table are
// relative to one folder. extra names other files in dir, such as indexes of other programs.
func (s *Stage) WriteSidecar(dir, prefix string, data checksum.Checksums, extra []string, p sidecar.Places) error {
	s.Describe()
	meta, err := manifest.EncodeMeta(&s.Meta)
	if err != nil {
		return err
	}
	id := func(path string) (sampleindex.ID, error) {
		of, err := checksum.OfFile(path, "", -1)
		return p.IDOf(of), err
	}
	if err := s.WriteRows(filepath.Join(dir, sidecar.ManifestName), filepath.Join(dir, indexfile.Name), p, id); err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(dir, manifest.MetaName), meta); err != nil {
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
	for _, name := range append([]string{sidecar.ManifestName, manifest.MetaName, indexfile.Name}, extra...) {
		fs, err := checksum.OfFile(filepath.Join(dir, name), prefix+name, -1)
		if err != nil {
			return err
		}
		sums = append(sums, fs)
	}
	return durable.WriteFile(filepath.Join(dir, checksum.ChecksumsName), sums.Encode())
}

// WriteRows writes the rows to a manifest and an index at those paths, and syncs them. idOf returns the
// index's ID for the manifest.
func (s *Stage) WriteRows(manifestPath, indexPath string, p sidecar.Places, idOf func(manifestPath string) (sampleindex.ID, error)) error {
	rows, profile := sampleindex.Rows(s.rowsByKey), s.rows.profile
	if p.Locate != nil {
		rows, profile = p.Locate(rows), sampleindex.NewProfile(s.Meta.Columns, p.Fields)
		if err := rows(func(r *sampleindex.Row) error { profile.Add(r); return nil }); err != nil {
			return err
		}
	}
	return durable.Build(indexPath, func(f *os.File) error {
		index, err := sampleindex.NewWriter(f, profile)
		if err != nil {
			return err
		}
		err = durable.Write(manifestPath, func(w io.Writer) error {
			to := manifest.NewWriter(w, s.Meta.Columns, profile.HasHistory())
			err := rows(func(r *sampleindex.Row) error {
				if err := index.Append(r); err != nil {
					return err
				}
				if p.Locate != nil {
					r.Location = sampleindex.Location{}
				}
				return to.Append(r)
			})
			if err != nil {
				return err
			}
			return to.Close()
		})
		if err != nil {
			return err
		}
		id, err := idOf(manifestPath)
		if err != nil {
			return err
		}
		return index.Finish(id)
	})
}

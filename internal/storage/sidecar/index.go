package sidecar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

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

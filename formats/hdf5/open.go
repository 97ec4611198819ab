package hdf5

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Open implements formats.Format. What it reads does not depend on the number of samples.
func (Format) Open(path string) (formats.Dataset, error) { return openNamed("open", path, false) }

// Salvage implements formats.Salvager. The file's block checksums may be damaged, and the index if the
// manifest is intact, but not the rest of the footer: a file whose end is cut off is lost.
func (Format) Salvage(path string) (formats.Dataset, error) { return openNamed("salvage", path, true) }

// openNamed is open with errors that name the action and the path.
func openNamed(action, path string, salvage bool) (formats.Dataset, error) {
	if err := sidecar.ExplainMissing(path); err != nil {
		return nil, err
	}
	d, err := open(path, salvage)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", action, path, err)
	}
	return d, nil
}

func open(path string, salvage bool) (*dataset, error) {
	path = filepath.Clean(path)
	if err := findFile(path); err != nil {
		return nil, err
	}
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	d := &dataset{mapping: m}
	d.Path, d.Lend = path, d.lend
	if err := guard.Read(m.Data, func() error { return d.load(salvage) }); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	index := d.Description
	d.Gate.Open(path, func() error { return errors.Join(index.CloseIndex(), m.Close()) })
	return d, nil
}

// findFile reports why there is no file at path.
func findFile(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %w", formats.ErrNotDataset, err)
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w: it is not a regular file", formats.ErrNotDataset)
	}
	return nil
}

// load reads the footer and dataset.json, and finds all else in the mapping.
func (d *dataset) load(salvage bool) error {
	f, err := findFooter(d.mapping.Data)
	if err != nil {
		if salvage {
			err = fmt.Errorf("%w; nothing can be salvaged without the end of the file, which locates the data", err)
		}
		return err
	}
	if d.checksums, err = f.readChecksums(); err != nil && !salvage {
		return err
	}
	if d.in.extents, err = f.readExtents(); err != nil {
		return err
	}
	d.in.blocks = newBlocks(d.mapping.Data[:f.end], d.checksums.Blocks)
	if d.Description, err = d.in.description(d.Path, salvage); err != nil {
		return err
	}
	if err := d.in.columns(d); err != nil {
		return errors.Join(err, d.CloseIndex())
	}
	return nil
}

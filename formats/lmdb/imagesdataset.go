package lmdb

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
)

// imageDataset is the samples of one transaction.
type imageDataset struct {
	*foreign.Dataset
	file  string
	stamp []byte // of the transaction
}

var (
	_ formats.Dataset        = (*imageDataset)(nil)
	_ formats.Viewer         = (*imageDataset)(nil)
	_ formats.Prefetcher     = (*imageDataset)(nil)
	_ formats.StorageOrdered = (*imageDataset)(nil)
	_ formats.Identifier     = (*imageDataset)(nil)
)

func newDataset(ds *foreign.Dataset, file string) (*imageDataset, error) {
	d := &imageDataset{Dataset: ds, file: file}
	stamp, err := d.newest()
	if err != nil {
		return nil, errors.Join(err, ds.Close())
	}
	d.stamp = stamp
	return d, nil
}

// newest returns what tells apart the newest transaction.
func (d *imageDataset) newest() (stamp []byte, err error) {
	err = d.File(0, func(data []byte) error {
		stamp, err = lmdbfile.Stamp(data)
		return err
	})
	return stamp, err
}

// check returns an error if another program has committed a transaction. LMDB writes the pages of a transaction
// first, and only to pages that the transaction before it did not use: while the newest transaction is that of the dataset, so
// are its pages.
func (d *imageDataset) check(err error) error {
	if errors.Is(err, formats.ErrClosed) {
		return err
	}
	stamp, failed := d.newest()
	if failed != nil || bytes.Equal(stamp, d.stamp) {
		return errors.Join(err, failed)
	}
	return fmt.Errorf("%s: %w: another program has written to it since it was opened: open it again when the other program is done", d.file, formats.ErrDamaged)
}

// Read implements formats.Dataset.
func (d *imageDataset) Read(i int, s *formats.Sample) error { return d.check(d.Dataset.Read(i, s)) }

// View implements formats.Viewer.
func (d *imageDataset) View(i int, s *formats.Sample) error { return d.check(d.Dataset.View(i, s)) }

// decode implements foreign.Source.
func decode(_ string, raw []byte, _ []int) (formats.Value, error) {
	if !utf8.Valid(raw) {
		return formats.Value{}, fmt.Errorf("%w: the text is not UTF-8", formats.ErrSchema)
	}
	return formats.Value{Data: raw, Encoding: formats.Plain}, nil
}

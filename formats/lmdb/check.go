package lmdb

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, p formats.Portion, workers int, report func(formats.Damage)) error {
	return d.check(ctx, p, report, func(sums checksum.Checksums) error { return sums.Check(ctx, d.Path, 0, p, workers, report) })
}

// CheckQuick implements formats.Checker: it compares the keys of the trees, which have few pages, with the
// dataset's, and does not touch the pages of the values.
func (d *dataset) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	return d.check(ctx, formats.Portion{}, report, func(sums checksum.Checksums) error {
		data := func(name string) bool { return path.Base(name) == dataName }
		if err := sums.CheckQuick(ctx, d.Path, data, report); err != nil {
			return err
		}
		if err := guard.Do(func() error { return d.checkTrees(ctx, report) }); err != nil {
			return fmt.Errorf("check %s: %w", d.Path, err)
		}
		return nil
	})
}

// check calls files, which compares portion p of the files with the table of checksums, and then compares the manifest with the index.
func (d *dataset) check(ctx context.Context, p formats.Portion, report func(formats.Damage), files func(sums checksum.Checksums) error) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := p.Validate(); err != nil {
		return fmt.Errorf("check %s: %w", d.Path, err)
	}
	sums, err := checksum.ReadChecksums(d.Path)
	if err != nil {
		return err
	}
	if err := files(sums); err != nil || p.Index > 0 {
		return err
	}
	return sidecar.CheckManifest(ctx, d.Path, d.Description, sums, false, report)
}

// checkTrees reports each damaged page of the trees, each missing key, keys that are not the dataset's, and
// values that are not where the index has them.
func (d *dataset) checkTrees(ctx context.Context, report func(formats.Damage)) error {
	for _, e := range d.environments() {
		if e.MetaErr != nil {
			report(damageOf(e, e.MetaErr))
		}
	}
	l, err := newLocator(d.environments(), func(e *lmdbfile.Environment, err error) error {
		report(damageOf(e, err))
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	var found sampleindex.Row
	for i := range d.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e, err := d.Index().At(i)
		if err != nil {
			return err
		}
		key, err := e.Key()
		if err != nil {
			return err
		}
		found.Key, found.Size, found.Encoding = string(key), e.Size(), e.Encoding()
		if err := l.locate(&found); err != nil {
			return err
		}
		d.compareLocations(&found, e, report)
	}
	return l.finish()
}

// compareLocations reports the values of a sample that are not where the index has them.
func (d *dataset) compareLocations(found *sampleindex.Row, e sampleindex.Entry, report func(formats.Damage)) {
	differ := func(e *lmdbfile.Environment, at, want sampleindex.Location) {
		if at != want && at.Offset != 0 {
			report(formats.Damage{File: e.Name, Offset: at.Offset, Length: at.Length, Cause: fmt.Sprintf(
				"%v: the value of key %q is here, but the index has it at byte %d with %d bytes", formats.ErrDamaged, found.Key, want.Offset, want.Length)})
		}
	}
	differ(d.images, found.Location, e.Location())
	for k, at := range found.Fields {
		differ(d.fields, at, e.Field(k))
	}
}

// damageOf returns err, found in e, as a formats.Damage, with the offset of the page if it is about one.
func damageOf(e *lmdbfile.Environment, err error) formats.Damage {
	d := formats.Damage{File: e.Name, Cause: err.Error()}
	if page := new(lmdbfile.PageError); errors.As(err, &page) && page.No < e.Count {
		d.Offset, d.Length = int64(page.No)*int64(e.Size), int64(e.Size)
	}
	return d
}

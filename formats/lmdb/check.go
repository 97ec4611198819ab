package lmdb

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// Check implements formats.Checker.
func (d *dataset) Check(ctx context.Context, p formats.Portion, workers int, report func(formats.Damage)) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := checksum.Arguments(ctx, d.Path, p, report); err != nil {
		return err
	}
	sums, err := checksum.ReadChecksums(d.Path)
	if err != nil {
		return err
	}
	return sums.Check(ctx, d.Path, 0, p, workers, report)
}

// CheckQuick implements formats.Checker: it compares the keys of the trees, which have few pages, with the
// dataset's, and does not touch the pages of the values.
func (d *dataset) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := checksum.Arguments(ctx, d.Path, formats.Portion{}, report); err != nil {
		return err
	}
	sums, err := checksum.ReadChecksums(d.Path)
	if err != nil {
		return err
	}
	data := func(name string) bool { return path.Base(name) == dataName }
	if err := sums.CheckQuick(ctx, d.Path, data, report); err != nil {
		return err
	}
	for _, e := range d.environments() {
		if err := d.checkTrees(ctx, e, report); err != nil {
			return fmt.Errorf("check %s: %w", d.Path, err)
		}
	}
	return nil
}

// checkTrees reports each damaged page of e's trees, each missing key, and keys that are not the dataset's.
func (d *dataset) checkTrees(ctx context.Context, e *environment, report func(formats.Damage)) error {
	wrong := func(err error) error {
		report(e.damage(err))
		return ctx.Err()
	}
	if e.metaErr != nil {
		report(e.damage(e.metaErr))
	}
	mark := guard.Now()
	err := guard.Do(func() (err error) {
		for db := range e.databases {
			err = errors.Join(err, d.checkTree(ctx, e, db, wrong))
		}
		return err
	})
	if unreadable := guard.Check(mark, e.data); unreadable != nil {
		report(e.damage(unreadable))
	}
	return err
}

func (d *dataset) checkTree(ctx context.Context, e *environment, db int, wrong func(error) error) error {
	if err := e.databases[db].err; err != nil {
		return wrong(err)
	}
	s := newScan(&e.pages, e.databases[db].root, wrong)
	for i := range d.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := s.locate(d.Manifest.Key(i)); err != nil {
			return err
		}
	}
	return s.finish()
}

// damage returns err as a formats.Damage, with the offset of the page if it is about one.
func (e *environment) damage(err error) formats.Damage {
	d := formats.Damage{File: e.name, Cause: err.Error()}
	if page := new(pageError); errors.As(err, &page) && page.no < e.count {
		d.Offset, d.Length = int64(page.no)*int64(e.size), int64(e.size)
	}
	return d
}

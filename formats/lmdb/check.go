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

// CheckQuick implements formats.Checker: it looks each key up in the trees, which have few
// pages, and does not touch the pages of the values.
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

// checkTrees reports each damaged page of e's trees once, and each missing key.
func (d *dataset) checkTrees(ctx context.Context, e *environment, report func(formats.Damage)) error {
	if e.metaErr != nil {
		report(e.damage(e.metaErr))
	}
	reported := map[string]bool{}
	mark := guard.Now()
	err := guard.Do(func() error {
		for i := range d.Len() {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for db := range e.databases {
				if err := e.check(db, d.Index().Key(i)); err != nil && !reported[err.Error()] {
					reported[err.Error()] = true
					report(e.damage(err))
				}
			}
		}
		return nil
	})
	if unreadable := guard.Check(mark, e.data); unreadable != nil {
		report(e.damage(unreadable))
	}
	return err
}

// check looks key up and reports what is wrong with its value's location.
func (e *environment) check(db int, key string) error {
	d := &e.databases[db]
	if d.err != nil {
		return d.err
	}
	n, err := e.find(d.root, []byte(key))
	if errors.Is(err, errNoKey) {
		return fmt.Errorf("%w: the key %q is missing", formats.ErrDamaged, key)
	}
	if err != nil {
		return err
	}
	return e.checkValueLocation(&n)
}

// damage returns err as a formats.Damage, with the offset of the page if it is about one.
func (e *environment) damage(err error) formats.Damage {
	d := formats.Damage{File: e.name, Cause: err.Error()}
	if page := new(pageError); errors.As(err, &page) && page.no < e.count {
		d.Offset, d.Length = int64(page.no)*int64(e.size), int64(e.size)
	}
	return d
}

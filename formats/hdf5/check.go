package hdf5

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
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
	if whole, err := d.checkFooter(report); err != nil || !whole {
		return err
	}
	sums := d.checksums
	sums.Name = filepath.Base(d.Path) // the file's current name
	return checksum.Checksums{sums}.Check(ctx, filepath.Dir(d.Path), int64(len(d.mapping.Data))-sums.Size, p, workers, report)
}

// CheckQuick implements formats.Checker: it verifies all datasets but the values.
func (d *dataset) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := checksum.Arguments(ctx, d.Path, formats.Portion{}, report); err != nil {
		return err
	}
	if whole, err := d.checkFooter(report); err != nil || !whole {
		return err
	}
	damage, err := d.checkDatasets(ctx)
	if err == nil && damage == nil {
		damage, err = d.checkRows(ctx)
	}
	for _, x := range damage {
		report(x)
	}
	return err
}

// checkDatasets returns the damage of all datasets but the values.
func (d *dataset) checkDatasets(ctx context.Context) (damage []formats.Damage, err error) {
	for i := range d.in.extents {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		p := &d.in.extents[i]
		if !p.hasChecksum {
			continue
		}
		same, err := hasChecksum(d.in.bytes(p), p.checksum)
		if err == nil && !same {
			err = fmt.Errorf("the checksum of dataset %s differs", p.name)
		}
		if err != nil {
			damage = append(damage, d.damageOf(p, err))
		}
	}
	return damage, nil
}

func (d *dataset) damageOf(p *extent, err error) formats.Damage {
	return formats.Damage{File: filepath.Base(d.Path), Offset: p.offset, Length: p.length(), Cause: err.Error()}
}

// checkRows compares the manifest and the images' offsets, which other readers use, with the index.
func (d *dataset) checkRows(ctx context.Context) (damage []formats.Damage, err error) {
	p := d.in.extents.find(manifestName)
	if p == nil {
		return nil, fmt.Errorf("check %s: %w: dataset %s is missing", d.Path, formats.ErrDamaged, manifestName)
	}
	offsets := d.in.extents.find(offsetsName)
	err = guard.Do(func() error {
		i := 0
		return located(d.in.manifestRows(d.Meta()))(func(r *sampleindex.Row) error {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := d.Index().Compare(i, r); err != nil {
				return err
			}
			if offsets != nil && !d.in.hasOffset(offsets, i, r.Location) {
				return fmt.Errorf("%w: dataset %s has another offset of the image of key %q than the index", formats.ErrDamaged, offsetsName, r.Key)
			}
			i++
			return nil
		})
	})
	if err == nil || ctx.Err() != nil {
		return nil, err
	}
	return []formats.Damage{d.damageOf(p, err)}, nil
}

// hasOffset reports whether image i is at that location by the rows of offsets.
func (l *loader) hasOffset(offsets *extent, i int, at sampleindex.Location) bool {
	b := l.bytes(offsets)
	if offsets.dtype != formats.Int64 || len(b) < 8*(i+2) {
		return false
	}
	from, to := int64(binary.LittleEndian.Uint64(b[8*i:])), int64(binary.LittleEndian.Uint64(b[8*i+8:]))
	return from == at.Offset && to == at.Offset+at.Length
}

// checkFooter reads the footer again. If the file has another size than when it was opened,
// checkFooter reports that, whole is false, and the mapping must not be used.
func (d *dataset) checkFooter(report func(formats.Damage)) (whole bool, err error) {
	was, is := int64(len(d.mapping.Data)), int64(0)
	st, err := os.Stat(d.Path)
	switch {
	case err == nil:
		is = st.Size()
	case !errors.Is(err, os.ErrNotExist):
		return false, fmt.Errorf("check: %w", err)
	}
	if is != was {
		report(formats.Damage{
			File: filepath.Base(d.Path), Offset: min(is, was), Length: max(is, was) - min(is, was),
			Cause: fmt.Sprintf("the file has %d bytes, but had %d when it was opened", is, was),
		})
		return false, nil
	}
	err = guard.Read(d.mapping.Data, func() error {
		f, err := findFooter(d.mapping.Data)
		if err == nil {
			_, err = f.readChecksums()
		}
		if err == nil {
			_, err = f.readExtents()
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("check %s: %w", d.Path, err)
	}
	return true, nil
}

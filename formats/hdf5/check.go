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
	return d.check(ctx, p, report, func(report func(formats.Damage)) error {
		sums := d.checksums
		sums.Name = filepath.Base(d.Path) // the file's current name
		return checksum.Checksums{sums}.Check(ctx, filepath.Dir(d.Path), int64(len(d.mapping.Data))-sums.Size, p, workers, report)
	})
}

// CheckQuick implements formats.Checker: it verifies all datasets but the values.
func (d *dataset) CheckQuick(ctx context.Context, report func(formats.Damage)) error {
	return d.check(ctx, formats.Portion{}, report, func(report func(formats.Damage)) error { return d.checkDatasets(ctx, report) })
}

// check calls bytes, which compares portion p of the file with checksums. If it reports nothing, check
// compares what the file says twice.
func (d *dataset) check(ctx context.Context, p formats.Portion, report func(formats.Damage), bytes func(report func(formats.Damage)) error) error {
	if err := d.Gate.Enter(0); err != nil {
		return err
	}
	defer d.Gate.Leave(0)
	if err := p.Validate(); err != nil {
		return fmt.Errorf("check %s: %w", d.Path, err)
	}
	if whole, err := d.checkFooter(report); err != nil || !whole {
		return err
	}
	intact := true
	err := bytes(func(x formats.Damage) {
		intact = false
		report(x)
	})
	if err != nil || !intact || p.Index > 0 {
		return err
	}
	return d.checkRows(ctx, report)
}

// checkDatasets reports the damage of all datasets but the values.
func (d *dataset) checkDatasets(ctx context.Context, report func(formats.Damage)) error {
	for i := range d.in.extents {
		if err := ctx.Err(); err != nil {
			return err
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
			report(d.damageOf(p, err))
		}
	}
	return nil
}

func (d *dataset) damageOf(p *extent, err error) formats.Damage {
	return formats.Damage{File: filepath.Base(d.Path), Offset: p.offset, Length: p.length(), Cause: err.Error()}
}

// checkRows compares the manifest and the images' offsets, which other readers use, with the index. It
// reports the first difference.
func (d *dataset) checkRows(ctx context.Context, report func(formats.Damage)) error {
	rows, err := d.in.find(manifestName, formats.Uint8, -1)
	if err != nil {
		return fmt.Errorf("check %s: %w", d.Path, err)
	}
	offsets := d.in.extents.find(offsetsName)
	i := 0
	err = guard.Do(func() error {
		return located(d.in.manifestRows(d.Meta()))(func(r *sampleindex.Row) error {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if offsets != nil && !d.in.hasOffset(offsets, i, r.Location) {
				return fmt.Errorf("%w: dataset %s has another offset of the image with key %q than the sizes in the manifest give", formats.ErrDamaged, offsetsName, r.Key)
			}
			i++
			return d.Index().Compare(i-1, r, true)
		})
	})
	if err != nil && ctx.Err() == nil {
		report(d.damageOf(rows, err))
	}
	return ctx.Err()
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

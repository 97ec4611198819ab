package lmdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dataset is an open LMDB dataset.
type dataset struct {
	description.ValueReader
	extra   []int        // positions in the schema
	headers []npy.Parser // of each field's raw values
	images  *lmdbfile.Environment
	fields  *lmdbfile.Environment // nil without extra fields
	salvage bool                  // the index may be of other data files
}

var (
	_ formats.Dataset  = (*dataset)(nil)
	_ formats.Viewer   = (*dataset)(nil)
	_ formats.Checker  = (*dataset)(nil)
	_ formats.Salvager = Format{}
	_ formats.Removals = (*dataset)(nil)

	_ formats.Prefetcher = (*dataset)(nil)
)

// Open implements formats.Format.
func (Format) Open(path string) (formats.Dataset, error) { return open(path, false) }

// Salvage implements formats.Salvager: reads of damaged samples report the damage.
func (Format) Salvage(path string) (formats.Dataset, error) { return open(path, true) }

// open opens the dataset at path. With salvage, data files may be damaged or missing.
func open(path string, salvage bool) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	path = filepath.Clean(path)
	meta, sums, err := sidecar.Read(path)
	if err != nil {
		return nil, err
	}
	if meta.Format != (Format{}).Name() {
		return nil, fmt.Errorf("%s: %w: its %s says that the format is %q, not lmdb", path, formats.ErrNotDataset, manifest.MetaName, meta.Format)
	}
	environments, err := openEnvironments(path, meta.Schema)
	if err == nil {
		err = checkSizes(path, environments, sums)
	}
	if err != nil && !salvage {
		return nil, errors.Join(err, closeAll(environments))
	}
	extra := extraFields(meta.Schema)
	index, err := sidecar.Describe(path, meta, sums, places(environments, ignore), salvage)
	if err != nil {
		return nil, errors.Join(err, closeAll(environments))
	}
	d := &dataset{extra: extra, headers: make([]npy.Parser, len(meta.Schema)), images: environments[0], salvage: salvage}
	if len(extra) > 0 {
		d.fields = environments[1]
	}
	d.ValueReader = description.ValueReader{Description: index, Path: path, Lend: d.lend}
	d.Gate.Open(path, func() error { return errors.Join(closeAll(environments), index.CloseIndex()) })
	return d, nil
}

// openEnvironments opens the environment of images and, if there are extra fields, that of fields.
func openEnvironments(path string, schema formats.Schema) (list []*lmdbfile.Environment, damage error) {
	images, damage := lmdbfile.OpenEnvironment(path, dataName, nil)
	list = []*lmdbfile.Environment{images}
	if extra := extraFields(schema); len(extra) > 0 {
		fields, more := lmdbfile.OpenEnvironment(path, fieldsName+"/"+dataName, fieldNames(schema, extra))
		list, damage = append(list, fields), errors.Join(damage, more)
	}
	return list, damage
}

func closeAll(environments []*lmdbfile.Environment) (err error) {
	for _, e := range environments {
		err = errors.Join(err, e.Close())
	}
	return err
}

func (d *dataset) environments() []*lmdbfile.Environment {
	if d.fields == nil {
		return []*lmdbfile.Environment{d.images}
	}
	return []*lmdbfile.Environment{d.images, d.fields}
}

// checkSizes compares the lengths of the data files with the table of checksums.
func checkSizes(path string, environments []*lmdbfile.Environment, sums checksum.Checksums) error {
	for _, e := range environments {
		i := slices.IndexFunc(sums, func(fs checksum.FileChecksums) bool { return fs.Name == e.Name })
		if i < 0 {
			return fmt.Errorf("%s: %w: %s is not in the table of checksums", path, formats.ErrDamaged, e.Name)
		}
		if got := int64(len(e.Data)); got != sums[i].Size {
			return fmt.Errorf("%s: %s: %w: it has %d bytes, but %d were written", path, e.Name, formats.ErrDamaged, got, sums[i].Size)
		}
	}
	return nil
}

// Removed implements formats.Removals.
func (d *dataset) Removed() ([]formats.RemovedSample, error) {
	if err := d.Gate.Check(); err != nil {
		return nil, err
	}
	return sidecar.ReadRemoved(d.Path, d.Meta())
}

// lend returns a value in the mapped file; see description.ValueReader.
func (d *dataset) lend(_ int, e sampleindex.Entry, k int, shape []int) (v formats.Value, err error) {
	mark := guard.Now()
	field := &d.Meta().Schema[k]
	db := slices.Index(d.extra, k)
	b, err := d.value(e, db)
	if err != nil {
		return v, err
	}
	if db >= 0 {
		v, err = parseField(field, b, shape, &d.headers[k])
	} else {
		v, err = parseImage(field, e, b, shape, &d.headers[k])
	}
	return v, guard.Since(mark, b, err)
}

// value returns the bytes of a value: of the designated image if db is -1, otherwise in that database of
// extra fields.
func (d *dataset) value(e sampleindex.Entry, db int) ([]byte, error) {
	key, err := e.Key()
	if err != nil {
		return nil, err
	}
	from, at := d.images, e.Location()
	if db >= 0 {
		from, at = d.fields, e.Field(db)
	}
	b, err := from.GetAt(max(0, db), at, key)
	if err != nil && d.salvage {
		if b, other := from.Get(max(0, db), string(key)); other == nil {
			return b, nil
		}
	}
	return b, err
}

// Prefetch implements formats.Prefetcher.
func (d *dataset) Prefetch(indices []int32) {
	if d.Gate.Enter(0) != nil {
		return
	}
	defer d.Gate.Leave(0)
	// If a page cannot be read here, reading its values reports it.
	_ = guard.Do(func() error {
		var files []*mapped.Mapping
		for _, e := range d.environments() {
			files = append(files, e.Mapping)
		}
		sharded.Prefetch(files, d.valueLocations(indices))
		return nil
	})
}

// valueLocations returns the locations of all values; Shard is the index in d.environments.
func (d *dataset) valueLocations(indices []int32) []sampleindex.Location {
	locations := make([]sampleindex.Location, 0, len(indices)*(1+len(d.extra)))
	for _, i := range indices {
		e, err := d.Index().At(int(i))
		if err != nil {
			continue
		}
		locations = append(locations, e.Location())
		for k := range d.extra {
			at := e.Field(k)
			at.Shard = 1
			locations = append(locations, at)
		}
	}
	return locations
}

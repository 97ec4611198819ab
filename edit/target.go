package edit

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// Target is a dataset that is edited.
type Target struct {
	Path   string
	Format formats.WritableFormat
	formats.Dataset
	base string // the version: see staging.VersionAt
}

// Open opens the dataset at path to edit it. If an earlier edit was complete but killed before it was
// published, it is published first.
func Open(f formats.Format, path string) (*Target, error) {
	return openTarget(f, path, "changed", f.Open)
}

// openTarget opens the dataset at path with open, nil if its format has no such function. done is what is done to it, for errors.
func openTarget(f formats.Format, path, done string, open func(string) (formats.Dataset, error)) (*Target, error) {
	w, ok := f.(formats.WritableFormat)
	if !ok || open == nil {
		return nil, fmt.Errorf("%s: a %s cannot be %s; only a dataset that dsconv packed can%s", path, f.Name(), done, sharded.SuggestDatasets(path))
	}
	if _, err := staging.Recover(path); err != nil {
		return nil, err
	}
	base := staging.VersionAt(path)
	ds, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Target{Path: path, Format: w, Dataset: ds, base: base}, nil
}

// Removed implements formats.Removals.
func (t *Target) Removed() ([]formats.RemovedSample, error) {
	list, err := formats.RemovedFrom(t.Dataset)
	if errors.Is(err, formats.ErrDamaged) {
		err = fmt.Errorf("%w: the list of removed samples is lost; dsconv verify --repair SRC repairs the dataset without it", err)
	}
	return list, err
}

// hasShards reports whether the dataset has several files, so that files without changes can be kept.
func (t *Target) hasShards() bool {
	p, err := sharded.ParseShardPath(t.Path)
	return err == nil && p.IsPattern() && t.Format.Traits().Sharded && len(t.Meta().Files) > 0
}

// inOneFile reports whether all samples are in one data file, which can be kept when the sidecar is
// written again.
func (t *Target) inOneFile() bool {
	return !t.hasShards() && t.Format.Traits().Sharded && len(t.Meta().Files) == 1
}

// samplesByFile returns the samples of each file in the file's order.
func (t *Target) samplesByFile() ([][]int32, error) {
	d, ok := t.Dataset.(locator)
	if !ok {
		return nil, fmt.Errorf("%s: the dataset does not record in which file a sample is", t.Path)
	}
	files := make([][]int32, len(t.Meta().Files))
	for _, i := range d.StorageOrder() {
		shard := d.Location(int(i)).Shard
		if shard < 0 || shard >= len(files) {
			return nil, fmt.Errorf("%s: %w: sample %d is in file %d of %d", t.Path, formats.ErrDamaged, i, shard, len(files))
		}
		files[shard] = append(files[shard], i)
	}
	return files, nil
}

// locator is a dataset with several data files.
type locator interface {
	Location(i int) manifest.Location
	StorageOrder() []int32 // of all samples
}

// options returns the options of a new version: o, and those of the dataset's recipe.
func (t *Target) options(o convert.Options) (_ convert.Options, err error) {
	if o.Recipe, o.Create.Zstd, err = recipeOf(t.Meta().Recipe, t.Format.Traits().Zstd); err != nil {
		return o, fmt.Errorf("%s: %w", t.Path, err)
	}
	o.Order = convert.Order(t.Meta().Recipe["order"])
	if err := o.Order.Validate(); err != nil {
		return o, fmt.Errorf("%s: its recipe: %w", t.Path, err)
	}
	return o, nil
}

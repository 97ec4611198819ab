package edit

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// target is a dataset that is edited.
type target struct {
	path   string
	format formats.WritableFormat
	formats.Dataset
	base      string // the version: see staging.VersionAt
	published bool   // an interrupted edit had only to publish it, which was done now
}

// open opens the dataset at path to edit it.
func open(reg formats.Registry, path string) (*target, error) {
	f, err := reg.ByExistingPath(path)
	if err != nil {
		return nil, err
	}
	return openTarget(f, path, "changed", f.Open)
}

// Describe returns what describes the dataset at path, which is about to be edited: its source for Add is
// opened by its SourceSchema (folder.Config's Like) and its Recipe. A new version that was complete
// but not published is published first, as each edit does.
func Describe(ctx context.Context, reg formats.Registry, path string) (*formats.Meta, error) {
	if err := new(Options).check(ctx, "edit.Describe", path); err != nil {
		return nil, err
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	m := *t.Meta()
	return &m, t.Close()
}

// openDamaged opens the damaged dataset at path as far as possible, to repair it.
func openDamaged(reg formats.Registry, path string) (*target, error) {
	f, err := reg.ByExistingPath(path)
	if err != nil {
		return nil, err
	}
	var open func(string) (formats.Dataset, error)
	if s, ok := f.(formats.Salvager); ok {
		open = func(path string) (formats.Dataset, error) {
			ds, err := s.Salvage(path)
			if err != nil {
				err = fmt.Errorf("%w: the dataset's description is lost: pack it again", err)
			}
			return ds, err
		}
	}
	return openTarget(f, path, "repaired", open)
}

// openTarget opens the dataset at path with open, nil if its format has no such function. done is what is
// done to it, for errors. If an earlier edit was complete but killed before it was published, it is
// published first.
func openTarget(f formats.Format, path, done string, open func(string) (formats.Dataset, error)) (*target, error) {
	w, ok := f.(formats.WritableFormat)
	if !ok || open == nil {
		return nil, fmt.Errorf("%s: a %s cannot be %s; only a dataset that dsconv packed can%s", path, f.Name(), done, sharded.SuggestDatasets(path))
	}
	published, err := staging.Recover(path)
	if err != nil {
		return nil, err
	}
	base := staging.VersionAt(path)
	ds, err := open(path)
	if err != nil {
		return nil, err
	}
	return &target{path: path, format: w, Dataset: ds, base: base, published: published}, nil
}

// Removed implements formats.Removals.
func (t *target) Removed() ([]formats.RemovedSample, error) {
	list, err := formats.RemovedFrom(t.Dataset)
	if errors.Is(err, formats.ErrDamaged) {
		err = fmt.Errorf("%w: the list of removed samples is lost; dsconv verify --repair SRC repairs the dataset without it", err)
	}
	return list, err
}

// hasShards reports whether the dataset has several files, so that files without changes can be kept.
func (t *target) hasShards() bool {
	p, err := sharded.ParseShardPath(t.path)
	return err == nil && p.IsPattern() && t.format.Traits().Sharded && len(t.Meta().Files) > 0
}

// inOneFile reports whether all samples are in one data file, which can be kept when the sidecar is
// written again.
func (t *target) inOneFile() bool {
	return !t.hasShards() && t.format.Traits().Sharded && len(t.Meta().Files) == 1
}

// samplesByFile returns the samples of each file in the file's order.
func (t *target) samplesByFile() ([][]int32, error) {
	d, ok := t.Dataset.(locator)
	if !ok {
		return nil, fmt.Errorf("%s: the dataset does not record in which file a sample is", t.path)
	}
	files := make([][]int32, len(t.Meta().Files))
	err := d.EachStored(func(i int32) error {
		at, err := d.Location(int(i))
		if err != nil {
			return err
		}
		shard := at.Shard
		if shard < 0 || shard >= len(files) {
			return fmt.Errorf("%w: sample %d is in file %d of %d", formats.ErrDamaged, i, shard, len(files))
		}
		files[shard] = append(files[shard], i)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return files, nil
}

// locator is a dataset with several data files.
type locator interface {
	Location(i int) (sampleindex.Location, error)
	formats.StorageOrdered
}

// options returns the options of a new version: o, and those of the dataset's recipe. If all samples are ready, a recipe by
// which no images can be added, such as that of a merged dataset, decides only how files are compressed.
func (t *target) options(o convert.Options, ready bool) (_ convert.Options, err error) {
	recipe, compresses := t.Meta().Recipe, t.format.Traits().Zstd
	o.Recipe, o.Create.Zstd, err = recipeOf(recipe, compresses)
	if err != nil && ready {
		files := map[string]string{}
		if level, ok := recipe["compress"]; ok && compresses {
			files["compress"] = level
		}
		o.Recipe, o.Create.Zstd, err = recipeOf(files, compresses)
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w", t.path, err)
	}
	o.Order = convert.Order(t.Meta().Recipe["order"])
	if err := o.Order.Validate(); err != nil {
		return o, fmt.Errorf("%s: its recipe: %w", t.path, err)
	}
	return o, nil
}

package mds

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// Format is the format "mds". The zero value is ready for use.
type Format struct{}

var (
	_ formats.Format        = Format{}
	_ formats.OptionsOpener = Format{}
	_ formats.Aliased       = Format{}
)

// Name is "mds".
func (Format) Name() string { return "mds" }

// Aliases implements formats.Aliased.
func (Format) Aliases() []string { return []string{"mosaicml", "streaming"} }

// Match reports whether the folder at path has an index of MDS shards, or folders in it have.
func (Format) Match(path string) bool { return path != "" && len(splitsOf(path)) > 0 }

// Open opens the dataset at path.
func (f Format) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the dataset at path. A map gives the columns of fields.
func (Format) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	set, err := readSet(path)
	if err != nil {
		return nil, err
	}
	f, err := set.choose(o.Map)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return foreign.Open(ctx, &foreign.Source{
		Format: Format{}.Name(), Path: path, Version: 2, Options: o, Extra: set.texts, Files: set.files, Decode: decode, Scan: f.scan, Layout: f.layout,
	})
}

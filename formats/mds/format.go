package mds

import (
	"context"
	"errors"
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
	if ctx == nil {
		return nil, errors.New("mds.OpenWith: the context is nil: give context.Background()")
	}
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
	s := &foreign.Source{
		Format: Format{}.Name(), Path: path, Version: 2, Options: o, Extra: set.texts, Files: set.files,
		Decode: decode, Scan: f.scan,
		Layout: func(found *foreign.Found) (*foreign.Layout, error) {
			l, err := f.layout(found)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return l, nil
		},
	}
	ds, err := foreign.Open(ctx, s)
	if err != nil {
		return nil, err // not ds: a nil *foreign.Dataset is not a nil Dataset
	}
	return ds, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// detectFormat returns the format of the dataset at path.
func detectFormat(path string) (formats.Format, error) {
	f, err := dsconv.Formats().ByExistingPath(path)
	if errors.Is(err, formats.ErrUnknownFormat) || errors.Is(err, formats.ErrRemote) {
		return nil, usageError{err}
	}
	return f, err
}

// checkWritable returns an error if dst's suffix is not of a format that can be written.
func checkWritable(dst string) error {
	const use = "use one of the suffixes .lmdb, .h5, .tar, .tfrecord for DST"
	f, err := dsconv.Formats().ByPath(dst)
	if err != nil {
		return usageError{fmt.Errorf("%w: %s", err, use)}
	}
	if _, ok := f.(formats.WritableFormat); !ok {
		return usageErrorf("%s: %s (to write a folder use dsconv unpack)", dst, use)
	}
	return nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// openSource opens a dataset, or a folder with cfg.
func openSource(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	ds, err := dsconv.OpenSource(ctx, path, cfg)
	return ds, asUsage(err)
}

// folderConfig returns how to read a folder by options of pack. option returns the value of each: of a
// flag, or of a dataset's recipe.
func folderConfig(option func(name string) string) folder.Config {
	return folder.Config{
		Labels: option("labels"), LabelColumns: splitList(option("label-columns")), LabelSep: option("label-sep"),
		LabelType: option("label-type"), ClassOrder: option("class-order"),
	}
}

// packedConfig returns how the source of a dataset is read: by the flags that are set, else as it was packed.
func packedConfig(cc *cli.Context, m *formats.Meta) folder.Config {
	described := cc.IsSet("labels") && folder.IsDescription(cc.String("labels"))
	cfg := folderConfig(func(name string) string {
		if described && !cc.IsSet(name) {
			return "" // a description replaces the recipe's options
		}
		return packedOption(cc, m, name)
	})
	cfg.Like, cfg.Patterns, cfg.Memory = m.SourceSchema(), formats.PatternsFromRecipe(m.Recipe), memory(cc)
	return cfg
}

// packedOption returns the flag if it is set, else the option that the dataset was packed with.
func packedOption(cc *cli.Context, m *formats.Meta, name string) string {
	if cc.IsSet(name) {
		return cc.String(name)
	}
	return m.Recipe[name]
}

// splitList splits a list of a recipe.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// readFlags say how a dataset that another program wrote is read. source is its name in the help.
func readFlags(source string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "map", Usage: "if another program wrote " + source + ": the keys of its fields, `MAP`, such as image=jpg,label=cls", DefaultText: "by its content"},
		&cli.StringFlag{Name: "source-format", Usage: "read " + source + " as `FORMAT`, such as webdataset, mds or folder", DefaultText: "by its content"},
	}
}

// readOptions are the options of readFlags; none if the command does not have them.
func readOptions(cc *cli.Context) (o formats.ReadOptions, err error) {
	o.Format = cc.String("source-format")
	if o.Map, err = formats.ParseMap(cc.String("map")); err != nil {
		return o, usageErrorf("--map %s: %w", cc.String("map"), err)
	}
	return o, nil
}

// packedReadOptions are the options for the source of the dataset at path with that recipe: the flags that are
// set, else those that it was packed with.
func packedReadOptions(cc *cli.Context, recipe map[string]string) (formats.ReadOptions, error) {
	if cc.IsSet("map") || cc.IsSet("source-format") {
		return readOptions(cc)
	}
	return formats.ReadOptionsFromRecipe(recipe)
}

// opener returns what opens the source of bench, the first of its datasets, as readFlags and sourceFlags say, and others
// by their content; nil if no flag is set.
func opener(cc *cli.Context, source string) (func(ctx context.Context, path string) (formats.Dataset, error), error) {
	read, err := readOptions(cc)
	if err != nil || len(readingWords(cc)) == 0 {
		return nil, err
	}
	cfg, err := sourceConfig(cc, source)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, path string) (formats.Dataset, error) {
		if path == source {
			return openSourceWith(ctx, path, cfg, read)
		}
		return openSourceWith(ctx, path, folder.Config{}, formats.ReadOptions{})
	}, nil
}

// readingWords are the readFlags and sourceFlags that are set, as words of dsconv pack.
func readingWords(cc *cli.Context) (words []string) {
	for _, f := range append(readFlags(""), sourceFlags("", "")...) {
		name := f.Names()[0]
		if !cc.IsSet(name) {
			continue
		}
		values := []string{cc.String(name)}
		if _, isList := f.(*cli.StringSliceFlag); isList {
			values = []string{strings.Join(cc.StringSlice(name), ",")}
		}
		if slices.Contains(listFlags, name) {
			values = splitLines(sourceFlag(cc)(name))
		}
		for _, value := range values {
			words = append(words, "--"+name, value)
		}
	}
	return words
}

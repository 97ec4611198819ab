package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// detectFormat returns the format of the dataset at path.
func detectFormat(ctx context.Context, path string) (formats.Format, error) {
	f, err := lifetime.Call(ctx, func() (formats.Format, error) { return dsconv.Formats().ByExistingPath(path) }, nil)
	if errors.Is(err, formats.ErrUnknownFormat) || errors.Is(err, formats.ErrRemote) {
		return nil, usageError{err}
	}
	return f, err
}

// checkWritable returns an error if dst's suffix is not of a format that can be written.
func checkWritable(dst string) error {
	const use = "use one of the suffixes .lmdb, .h5, .tar, .tfrecord for DST"
	_, err := dsconv.Formats().Writable().ByPath(dst)
	if err == nil {
		return nil
	}
	if f, known := dsconv.Formats().ByPath(dst); known != nil {
		return usageError{fmt.Errorf("%w: %s", err, use)}
	} else if f.Name() == "folder" {
		return usageErrorf("%s: %s (to write a folder use dsconv unpack)", dst, use)
	}
	return usageErrorf("%s: %s", dst, use)
}

// openSource opens a dataset as the command's readFlags say, if it has them, or a folder with cfg.
func openSource(cc *cli.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	o, err := readOptions(cc)
	if err != nil {
		return nil, err
	}
	return openSources(cc.Context, []string{path}, cfg, o)
}

// openSources opens several sources as one dataset, or one.
func openSources(ctx context.Context, sources []string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	ds, err := dsconv.OpenSources(ctx, sources, cfg, o)
	return ds, asUsage(err)
}

// folderConfig returns how to read a folder by options of pack, but for the files of labels. option returns the
// value of each: of a flag, or of a dataset's recipe.
func folderConfig(option func(name string) string) folder.Config {
	return folder.Config{
		LabelColumns: split(option("label-columns"), ","), LabelSep: option("label-sep"),
		LabelType: option("label-type"), ClassOrder: option("class-order"),
		Fields: split(option("field"), "\n"), Boxes: split(option("boxes"), "\n"), Captions: split(option("captions"), "\n"),
	}
}

// flagsOrRecipe is folderConfig of the flags that are set, and else of a dataset's recipe.
func flagsOrRecipe(cc *cli.Context, recipe map[string]string) folder.Config {
	return folderConfig(func(name string) string {
		if cc.IsSet(name) {
			return sourceFlag(cc)(name)
		}
		return recipe[name]
	})
}

// packedConfig returns how the sources, if they are folders, are read as those of the dataset at path: by the flags
// that are set, else as they were packed. The error is about a file that they were packed with and that is not there.
func packedConfig(cc *cli.Context, path string, m *formats.Meta, sources ...string) (folder.Config, error) {
	recipe := recipepath.Resolve(m.Recipe, path)
	given, labelsGiven := folder.Config{}, cc.IsSet("labels")
	if err := parseLabels(cc.StringSlice("labels"), &given); err != nil {
		return given, usageError{err}
	}
	if labelsGiven && folder.IsDescription(given.Labels) {
		recipe = nil // the description replaces the recipe's options
	}
	cfg := flagsOrRecipe(cc, recipe)
	if packedLabels(recipe, &cfg); labelsGiven {
		cfg.Labels, cfg.FolderLabels = given.Labels, given.FolderLabels
	}
	cfg.Like, cfg.Patterns, cfg.Memory = m.SourceSchema(), formats.PatternsFromRecipe(m.Recipe), memory(cc)
	if len(sources) == 1 && !isFolderOfImages(cc.Context, sources[0]) {
		options := folderConfig(sourceFlag(cc)) // those of the recipe are for the folder that was packed
		options.Labels, options.FolderLabels = given.Labels, given.FolderLabels
		options.Like, options.Patterns, options.Memory = cfg.Like, cfg.Patterns, cfg.Memory
		return options, nil
	}
	for key, file := range filesRead(&cfg) {
		if err := checkPacked(cc, path, m.Recipe, key, file); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func isFolderOfImages(ctx context.Context, path string) bool {
	f, err := detectFormat(ctx, path)
	return err == nil && slices.Contains([]string{"folder", "archive", "list"}, f.Name())
}

// checkPacked returns an error if the file that the dataset at path was packed with, under the key of its recipe,
// is not at the place that the recipe says, and the flag does not say another.
func checkPacked(cc *cli.Context, path string, recipe map[string]string, key, file string) error {
	option, before := flagOf(key)
	if file == "" || file == "natural" || cc.IsSet(option) {
		return nil
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return nil // reading it returns the error
	}
	relativeTo := "the present folder, since an earlier dsconv wrote the dataset"
	if recipe[recipepath.Base] != "" {
		relativeTo = "the dataset's folder"
	}
	if filepath.IsAbs(recipe[key]) {
		relativeTo = ""
	}
	text := fmt.Sprintf("%s was packed with --%s %s%s, and there is no such file: %s", path, option, before, recipe[key], file)
	if relativeTo != "" {
		text += " (the path is relative to " + relativeTo + ")"
	}
	if takesValue(cc.Command, option) {
		return usageErrorf("%s; say where it is now with --%s %sFILE", text, option, before)
	}
	return usageErrorf("%s; put it there", text)
}

// split splits a list; "" has no items.
func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

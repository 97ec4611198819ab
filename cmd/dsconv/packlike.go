package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/preprocess"
)

// recipeFlags decide what is done to the images. --like takes their values from a dataset.
var recipeFlags = []string{
	"resize", "upscale", "filter", "encode", "no-tile", "strip", "decode", "decoder", "color", "exif", "max-pixels", "compress", "check", "strict",
	"class-order",
}

// packLike gives o the recipe and the labels of the dataset at path. Tables, annotations and patterns are those of the sources.
func (o *writeOptions) packLike(cc *cli.Context, path string) error {
	for _, flag := range recipeFlags {
		if cc.IsSet(flag) {
			return usageErrorf("--like %s decides --%s: leave one of them out", path, flag)
		}
	}
	m, err := edit.Describe(cc.Context, dsconv.Formats(), path)
	if err != nil {
		return editError(fmt.Errorf("--like %s: %w", path, err), false, path)
	}
	r, err := preprocess.ParseRecipe(m.Recipe)
	if err != nil {
		return fmt.Errorf("--like %s: its recipe: %w", path, err)
	}
	if err := r.CheckPixels(m.Recipe); err != nil {
		return usageErrorf("--like %s: %w: the pixels would differ", path, err)
	}
	o.convert.Create.Zstd, r.Zstd = int(r.Zstd), 0
	o.convert.Recipe = r
	if o.folder, err = likeConfig(cc, path, m.Recipe); err != nil {
		return err
	}
	o.folder.Like = m.SourceSchema()
	return nil
}

// likeConfig returns how sources are read as those of the dataset at path, whose recipe is given: by the flags, else as they were packed.
func likeConfig(cc *cli.Context, path string, recipe map[string]string) (folder.Config, error) {
	given := sourceFlag(cc)
	cfg := folderConfig(func(name string) string {
		if cc.IsSet(name) {
			return given(name)
		}
		return recipe[name]
	})
	cfg.ClassOrder = "" // the dataset's classes have their order
	for key, value := range recipe {
		flag, _ := flagOf(key)
		_, file := recipepath.ForFolder(value)
		named := key == "labels" || recipepath.IsFolderLabels(key) || (key == "boxes" || key == "captions") && !strings.Contains(file, "{")
		if named && value != "" && !cc.IsSet(flag) {
			return cfg, usageErrorf("%s was packed with --%s %s: give that of these images with --%s", path, flag, value, flag)
		}
	}
	if err := parseLabels(cc.StringSlice("labels"), &cfg); err != nil {
		return cfg, usageError{err}
	}
	cfg.Patterns = parsePatterns(cc)
	return cfg, nil
}

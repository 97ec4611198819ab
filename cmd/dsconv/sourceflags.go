package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// sourceFlags say how a folder of images is read: its labels, its fields, and which of its files. see says where the
// help explains them. otherwise, if it is not "", is what each is without the flag.
func sourceFlags(see, otherwise string) []cli.Flag {
	see = "; see " + see
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "labels", Usage: "table of labels in `FILE`: .csv, .tsv, .jsonl, .json, .txt or .parquet with paths and labels; labels.json of unpack; or FOLDER=FILE for one folder of SRC" + see, DefaultText: otherwise},
		&cli.StringFlag{Name: "label-columns", Usage: "label columns `A,B,C` of the table, the first is the designated label; or path=A,label=B (label= if none has labels; label=B,label=C is a multi-hot label of columns that are classes)", DefaultText: otherwise},
		&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` that separates several labels of one image (multi-label)", DefaultText: otherwise},
		&cli.StringFlag{Name: "label-type", Usage: "`TYPE` of the label columns: index, name or float, or A=float,B=name" + see, DefaultText: cmp.Or(otherwise, "by the cells")},
		&cli.StringFlag{Name: "class-order", Usage: "`ORDER` of the classes: natural (2 before 10), or a file with one class per line", DefaultText: cmp.Or(otherwise, "as ImageFolder's")},
		&cli.StringSliceFlag{Name: "field", Usage: "`FIELD` of each sample, NAME=PATTERN[,kind=KIND], such as mask=masks/{key}.png; or none" + see, DefaultText: otherwise},
		&cli.StringSliceFlag{Name: "boxes", Usage: "boxes of objects in `FILE`, a .json of COCO (FOLDER=FILE for one folder), or a pattern such as labels/{key}.txt (YOLO) or Annotations/{key}.xml (Pascal VOC)", DefaultText: otherwise},
		&cli.StringSliceFlag{Name: "captions", Usage: "captions in `FILE`, a .json of COCO, or a .csv or .txt with columns image and caption (FOLDER=FILE for one folder)", DefaultText: otherwise},
		&cli.StringSliceFlag{Name: "include", Usage: "take only files that match `PATTERN`, such as '*.png' or train/" + see, DefaultText: otherwise},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave out files that match `PATTERN`, such as 'test/*'", DefaultText: otherwise},
	}
}

// sourceConfig returns how the folder src is read by its sourceFlags. src is the first of several sources.
func sourceConfig(cc *cli.Context, src string) (cfg folder.Config, err error) {
	cfg = folderConfig(sourceFlag(cc))
	cfg.Patterns = parsePatterns(cc)
	if err := parseLabels(cc.StringSlice("labels"), &cfg); err != nil {
		return cfg, usageError{err}
	}
	if _, err := labels.ParseTypes(cfg.LabelType); err != nil {
		return cfg, usageError{err}
	}
	if err := cfg.Patterns.Validate(); err != nil {
		return cfg, usageError{err}
	}
	if err := cfg.CheckFields(); err != nil {
		return cfg, usageError{err}
	}
	return cfg, checkLabelOptions(src, &cfg)
}

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
			return openSources(ctx, []string{path}, cfg, read)
		}
		return openSources(ctx, []string{path}, folder.Config{}, formats.ReadOptions{})
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
			values = split(sourceFlag(cc)(name), "\n")
		}
		for _, value := range values {
			words = append(words, "--"+name, value)
		}
	}
	return words
}

// patternHelp explains --include and --exclude; see formats.Patterns.
const patternHelp = `PATTERN of --include and --exclude is a name or a path in SRC. Case matters:
   '*.png', 'n01*'    files with that name, in any folder
   test, 'n01*/'      folders with that name, with everything in them
   'train/*/a?.jpg'   a pattern that starts with a / or has one inside is a path relative to SRC
   'test/*', '/test/' the path of a folder, with everything in it
   '**/x/**/*.png'    ** matches any number of folders; * and ? do not match a /
   '*.{png,jpg}'      matches either; [a-z] matches one of these characters, \ escapes the next one
For several patterns repeat the flag, or separate them by commas. Without --include all images
are packed. --exclude overrides --include. A pattern that matches nothing is reported.`

// parsePatterns parses --include and --exclude.
func parsePatterns(cc *cli.Context) formats.Patterns {
	return formats.Patterns{Include: splitPatternFlag(cc, "include"), Exclude: splitPatternFlag(cc, "exclude")}
}

func splitPatternFlag(cc *cli.Context, flag string) []string {
	var patterns []string
	for _, list := range cc.StringSlice(flag) {
		for _, p := range formats.ParsePatterns(list) {
			patterns = append(patterns, strings.TrimSpace(p))
		}
	}
	return patterns
}

// addPatterns returns the patterns of add: those of the flags, else those of the dataset's recipe.
func addPatterns(cc *cli.Context, recipe map[string]string) formats.Patterns {
	was, now := formats.PatternsFromRecipe(recipe), parsePatterns(cc)
	if !cc.IsSet("include") {
		now.Include = was.Include
	}
	if !cc.IsSet("exclude") {
		now.Exclude = was.Exclude
	}
	return now
}

// printUnmatched prints the patterns that match nothing.
func printUnmatched(c *console, p *formats.Patterns) {
	if p == nil {
		return
	}
	for _, text := range p.Include {
		c.printf("--include %q matches nothing%s\n", text, unmatchedHint(text))
	}
	for _, text := range p.Exclude {
		c.printf("--exclude %q matches nothing%s\n", text, unmatchedHint(text))
	}
}

// unmatchedHint returns a hint for a pattern that was perhaps meant for folders.
func unmatchedHint(text string) string {
	if text == "" || strings.ContainsAny(text, "/.") || !strings.ContainsAny(text, `*?[]{}\`) {
		return "" // a plain name matches folders too
	}
	return ": it matches names of files only; " + text + "/ matches folders"
}

// parseLabels sets cfg.Labels and cfg.FolderLabels to the values of --labels: FILE, or FOLDER=FILE for one folder
// of the source. A file that exists is never taken for FOLDER=FILE.
func parseLabels(values []string, cfg *folder.Config) error {
	cfg.Labels, cfg.FolderLabels = "", nil
	for _, entry := range values {
		in, file, forFolder := strings.Cut(entry, "=")
		if !forFolder || fileExists(entry) {
			if cfg.Labels != "" {
				return fmt.Errorf("--labels %s and --labels %s are both for all of SRC: give FOLDER=FILE for one folder of it", cfg.Labels, entry)
			}
			cfg.Labels = entry
			continue
		}
		in = strings.TrimRight(in, "/")
		if before, twice := cfg.FolderLabels[in]; twice {
			return fmt.Errorf("--labels %s: there are two files for this folder, also %s", entry, before)
		}
		if in == "" || file == "" {
			return fmt.Errorf("--labels %s: give FILE, or FOLDER=FILE for one folder of SRC", entry)
		}
		if cfg.FolderLabels == nil {
			cfg.FolderLabels = map[string]string{}
		}
		cfg.FolderLabels[in] = file
	}
	return nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packedLabels sets the files of labels of cfg to those that a dataset with this recipe was packed with.
func packedLabels(recipe map[string]string, cfg *folder.Config) {
	cfg.Labels, cfg.FolderLabels = recipe["labels"], nil
	for key, file := range recipe {
		if recipepath.IsFolderLabels(key) {
			if cfg.FolderLabels == nil {
				cfg.FolderLabels = map[string]string{}
			}
			cfg.FolderLabels[strings.TrimPrefix(key, recipepath.FolderLabels)] = file
		}
	}
}

// filesRead are the files that cfg names, by the recipe's keys.
func filesRead(cfg *folder.Config) map[string]string {
	files := map[string]string{"labels": cfg.Labels, "class-order": cfg.ClassOrder}
	for in, file := range cfg.FolderLabels {
		files[recipepath.FolderLabels+in] = file
	}
	return files
}

// flagOf returns the flag of a key of the recipe, and what precedes the file in its value.
func flagOf(key string) (flag, before string) {
	if recipepath.IsFolderLabels(key) {
		return "labels", strings.TrimPrefix(key, recipepath.FolderLabels) + "="
	}
	return key, ""
}

// listFlags are the flags of a source that can be given several times. A recipe has a line for each.
var listFlags = []string{"field", "boxes", "captions"}

// sourceFlag returns the value of a flag for folderConfig.
func sourceFlag(cc *cli.Context) func(name string) string {
	return func(name string) string {
		if !slices.Contains(listFlags, name) {
			return cc.String(name)
		}
		var list []string
		for _, item := range cc.StringSlice(name) {
			if in, _ := recipepath.ForFolder(item); name != "field" && in != "" && fileExists(item) {
				item = "./" + item // it is no FOLDER=FILE
			}
			list = append(list, item)
		}
		return strings.Join(list, "\n")
	}
}

// printFields prints what was found for the fields of samples.
func printFields(c *console, fields []folder.FieldSummary, indent string) {
	for _, f := range fields {
		text := fmt.Sprintf("field %s (%s): %d from %s", f.Name, f.Kind, f.Found, printable(f.From))
		if f.Missing > 0 {
			text += fmt.Sprintf("; %d images have none", f.Missing)
		}
		if f.Unused > 0 {
			text += fmt.Sprintf("; %d belong to no image, such as %s", f.Unused, printable(f.Example))
		}
		if f.Note != "" {
			text += "; " + printable(f.Note)
		}
		c.printf("%s%s\n", indent, text)
	}
}

package main

import (
	"cmp"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
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

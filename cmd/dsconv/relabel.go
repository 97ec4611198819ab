package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
)

func relabelCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "relabel",
		Usage:     "change labels, splits or columns of samples, or names of classes",
		ArgsUsage: "DATASET LABELS | DATASET KEY... --set NAME=VALUE | DATASET --rename OLD=NEW",
		Description: "LABELS is a table, .csv, .tsv or .jsonl. Its column key, path or file_name names the sample. The\n" +
			"other columns have the names of the dataset's label fields (label is the designated one), of its\n" +
			"own columns, or split. Cells are parsed like the dataset's labels: as class indices, names of classes\n" +
			"or numbers to predict. An empty cell means no label; -1 means no label too, except in numbers to predict.\n" +
			"A class or a split that the dataset has not is an error, unless --new-class or --new-split allows it;\n" +
			"new classes come after the old ones. If the dataset's classes have names, a table of numbers is an\n" +
			"error, unless --label-type name says that the numbers are names.\n\n" +
			"--set NAME=VALUE sets the value of one such column in all samples that are named. " + selectionHelp + "\n\n" +
			"--rename OLD=NEW renames a class of the designated label, wherever it occurs; a=b with b=a exchanges two\n" +
			"names. Indices do not change, and dsconv add maps the source's class OLD to NEW from then on. If NEW is\n" +
			"the name of another class, this is an error; --class OLD --set label=NEW gives its samples that class.\n\n" +
			"No image is decoded. If only the designated label changes, LMDB's data file stays as it is. Shards\n" +
			"without any of the samples are not written again. A row whose sample is not in the dataset is an\n" +
			"error, and nothing is changed. dsconv add keeps these labels even if the source has other ones.\n\n" +
			"Examples:\n   dsconv relabel out.lmdb labels.csv\n   dsconv relabel out.lmdb --glob 'cat/9*' --set label=dog\n" +
			"   dsconv relabel out.lmdb --rename kitty=cat\n\n" + editExitCodes,
		Flags: writeFlags(selectionFlags(
			&cli.StringSliceFlag{Name: "set", Usage: "set a label, a column or the split by `NAME=VALUE` in the samples that are named; may be repeated", KeepSpace: true},
			&cli.StringSliceFlag{Name: "rename", Usage: "rename a class by `OLD=NEW`; may be repeated", KeepSpace: true},
			&cli.BoolFlag{Name: "new-class", Usage: "labels may be classes that the dataset has not"},
			&cli.BoolFlag{Name: "new-split", Usage: "splits may be ones that the dataset has not"},
			&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` that separates several labels of one image", DefaultText: "as packed"},
			&cli.StringFlag{Name: "label-type", Usage: "`TYPE` of numbers that are not yet classes of the dataset: index (may have gaps) or name", DefaultText: "as packed"},
		)...),
		Action: func(cc *cli.Context) error {
			args, err := argumentsOrMore(cc, "DATASET")
			if err != nil {
				return err
			}
			s, err := parseSelection(cc, c, args[1:])
			if err != nil {
				return err
			}
			set, rename := cc.IsSet("set"), cc.IsSet("rename")
			switch {
			case rename && (set || !s.all()):
				return usageErrorf("--rename renames a class wherever it occurs: leave out --set, keys, tables and what else names samples")
			case rename:
				return renameClasses(cc, c, args[0])
			case set && s.all():
				return usageErrorf("no samples are named: with --set give a KEY, --keys-from FILE, --glob PATTERN, --class NAME or --split SPLIT")
			case set:
				given, err := setLabels(cc.StringSlice("set"))
				if err != nil {
					return err
				}
				given.Choose = s.chooser()
				return relabel(cc, c, args[0], given)
			}
			if args, err = arguments(cc, "DATASET", "LABELS"); err != nil {
				return err
			}
			if s.keys = nil; !s.all() {
				return usageErrorf("a table of labels names the samples itself: leave out --keys-from, --glob, --class and --split, or use --set NAME=VALUE")
			}
			table, err := folder.ReadRows(args[1], "key", "path", "file_name")
			if err != nil {
				return err
			}
			return relabel(cc, c, args[0], &edit.Labels{Name: args[1], ByPath: table.By != "key", Columns: table.Columns, Rows: table.Rows})
		},
	}
}

// setLabels returns what --set sets.
func setLabels(assignments []string) (*edit.Labels, error) {
	given := &edit.Labels{Name: "--set"}
	for _, text := range assignments {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "":
			return nil, usageErrorf("--set %s: use NAME=VALUE, for instance label=cat or split=val", text)
		case slices.Contains(given.Columns, name):
			return nil, usageErrorf("--set: %s is set twice", name)
		}
		given.Columns, given.Cells = append(given.Columns, name), append(given.Cells, value)
	}
	return given, nil
}

func relabel(cc *cli.Context, c *console, path string, given *edit.Labels) error {
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	if _, err := labels.ParseTypes(cc.String("label-type")); err != nil {
		return usageError{err}
	}
	given.Sep, given.Type = cc.String("label-sep"), cc.String("label-type")
	given.KnownClasses, given.KnownSplits = !cc.Bool("new-class"), !cc.Bool("new-split")
	r, err := edit.Relabel(cc.Context, dsconv.Formats(), path, *given, o.editing())
	o.progress.end()
	if errors.Is(err, edit.ErrNewName) {
		err = fmt.Errorf("%w. If it is no typing error, give --new-class or --new-split", err)
	}
	if err != nil {
		return editError(err, r != nil && !r.Published, path)
	}
	return printEdit(c, &r.Report, o, editOutcome{summary: relabelledText(&r.Relabelled), details: r.Relabelled})
}

func relabelledText(found *edit.Relabelled) string {
	said := fmt.Sprintf("%d relabelled, %d unchanged", found.Changed, found.Unchanged)
	if len(found.NewClasses) > 0 {
		said += fmt.Sprintf("; %d new class(es): %s", len(found.NewClasses), shortList(found.NewClasses, 10))
	}
	if found.Without > 0 {
		said += fmt.Sprintf("; %d without a label", found.Without)
	}
	return said
}

// renameClasses runs relabel --rename.
func renameClasses(cc *cli.Context, c *console, path string) error {
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	var classes []string
	if ds, err := openSource(cc, path, folder.Config{}); err == nil { // else RenameClasses says why not
		classes = ds.Meta().Classes()
		if err := ds.Close(); err != nil {
			return err
		}
	}
	names := map[string]string{}
	for _, text := range cc.StringSlice("rename") {
		from, to, err := parseRename(text, classes)
		if err != nil {
			return err
		}
		if was, twice := names[from]; twice && was != to {
			return usageErrorf("--rename: %s is renamed twice, to %s and to %s", printable(from), printable(was), printable(to))
		}
		names[from] = to
	}
	r, err := edit.RenameClasses(cc.Context, dsconv.Formats(), path, names, o.editing())
	o.progress.end()
	if err != nil {
		return editError(err, r != nil && !r.Published, path)
	}
	return printEdit(c, &r.Report, o, editOutcome{summary: renamedText(&r.Renamed), details: r.Renamed})
}

// parseRename splits OLD=NEW. Names may have a = themselves: OLD is a class if one of the ways to split gives one.
func parseRename(text string, classes []string) (from, to string, err error) {
	for i, char := range text {
		if char == '=' && slices.Contains(classes, nameFrom(text[:i])) {
			return nameFrom(text[:i]), nameFrom(text[i+1:]), nil
		}
	}
	from, to, ok := strings.Cut(text, "=")
	if !ok || from == "" || to == "" {
		return "", "", usageErrorf("--rename %s: use OLD=NEW, for instance kitty=cat", text)
	}
	return nameFrom(from), nameFrom(to), nil
}

func renamedText(found *edit.Renamed) string {
	var said []string
	for _, r := range found.Renamed {
		said = append(said, fmt.Sprintf("class %s renamed to %s (%d samples)", printable(r.From), printable(r.To), r.Samples))
	}
	if len(said) == 0 {
		return "the classes have these names"
	}
	return strings.Join(said, "\n  ")
}

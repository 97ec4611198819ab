package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
)

func relabelCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "relabel",
		Usage:     "give samples of a dataset other labels",
		ArgsUsage: "DATASET LABELS",
		Description: "LABELS is a table, .csv, .tsv or .jsonl, with a column key, path or file_name that says which\n" +
			"sample, and columns that are called as the dataset's label fields (label is the main one), its own\n" +
			"columns, or split. The cells are read as the dataset's own labels are: class indices,\n" +
			"names of classes or numbers to predict; an empty cell is no label, and -1 neither but where labels are\n" +
			"numbers to predict. Classes that the dataset has not come after the old ones; where its classes have\n" +
			"names, a table of numbers is an error unless --label-type name says that they are new names. No image is decoded:\n" +
			"LMDB's data are not touched at all if only the main label changes; of shards those are written anew\n" +
			"that hold one of the samples. A row that fits no sample is an error, and nothing is changed.\n" +
			"What was set so is kept when dsconv add brings other labels from the source.\n\n" +
			"Example:\n   dsconv relabel out.lmdb labels.csv\n\n" + editExitCodes,
		Flags: editFlags(&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` between several labels of one image", DefaultText: "as packed"}, labelTypeFlag()),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET", "LABELS")
			if err != nil {
				return err
			}
			table, err := folder.ReadRows(args[1], "key", "path", "file_name")
			if err != nil {
				return err
			}
			return withTarget(cc, args[0], func(t *edit.Target, o *packOptions) error {
				given := edit.Labels{ByPath: table.By != "key", Columns: table.Columns, Rows: table.Rows, Sep: t.Meta().Recipe["label-sep"]}
				if cc.IsSet("label-sep") {
					given.Sep = cc.String("label-sep")
				}
				if given.Types, err = labelTypes(cc, t.Meta().Recipe); err != nil {
					return usageError{err}
				}
				p, found, err := edit.Relabel(t, given, o.convert)
				if err != nil {
					return fmt.Errorf("%s: %w", args[1], err)
				}
				said := fmt.Sprintf("%d relabelled, %d had these labels already", found.Changed, found.Unchanged)
				if len(found.NewClasses) > 0 {
					said += fmt.Sprintf("; %d new class(es): %s", len(found.NewClasses), shortList(found.NewClasses, 10))
				}
				if found.Without > 0 {
					said += fmt.Sprintf("; %d without a label", found.Without)
				}
				return runEdit(cc.Context, c, t, p, o, editOutcome{summary: said, details: found})
			})
		},
	}
}

// newTypesFlag is about numbers that the dataset has no class of.
func labelTypeFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "label-type", Usage: "`TYPE` of numbers that the dataset has no class of: index (with gaps) or name", DefaultText: "as packed",
	}
}

// labelTypes are those that the flag gives, else those that the dataset was packed with.
func labelTypes(cc *cli.Context, recipe map[string]string) (labels.Types, error) {
	if cc.IsSet("label-type") {
		return labels.ParseTypes(cc.String("label-type"))
	}
	return labels.ParseTypes(recipe["label-type"])
}

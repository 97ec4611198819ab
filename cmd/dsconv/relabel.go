package main

import (
	"fmt"

	"github.com/dsconv/dsconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
)

func relabelCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "relabel",
		Usage:     "change labels, splits or columns of samples",
		ArgsUsage: "DATASET LABELS",
		Description: "LABELS is a table, .csv, .tsv or .jsonl. Its column key, path or file_name names the sample. The\n" +
			"other columns have the names of the dataset's label fields (label is the designated one), of its\n" +
			"own columns, or split. Cells are parsed like the dataset's labels: as class indices, names of classes\n" +
			"or numbers to predict. An empty cell means no label; -1 means no label too, except in numbers to predict.\n" +
			"New classes come after the old ones. If the dataset's classes have names, a table of numbers is an\n" +
			"error, unless --label-type name says that the numbers are names.\n\n" +
			"No image is decoded. If only the designated label changes, LMDB's data file stays as it is. Shards\n" +
			"without any of the samples are not written again. A row whose sample is not in the dataset is an\n" +
			"error, and nothing is changed. dsconv add keeps these labels even if the source has other ones.\n\n" +
			"Example:\n   dsconv relabel out.lmdb labels.csv\n\n" + editExitCodes,
		Flags: writeFlags(&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` that separates several labels of one image", DefaultText: "as packed"}, labelTypeFlag()),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET", "LABELS")
			if err != nil {
				return err
			}
			table, err := folder.ReadRows(args[1], "key", "path", "file_name")
			if err != nil {
				return err
			}
			o, err := parseWriteFlags(cc, c)
			if err != nil {
				return err
			}
			if _, err := labels.ParseTypes(cc.String("label-type")); err != nil {
				return usageError{err}
			}
			given := edit.Labels{
				Name: args[1], ByPath: table.By != "key", Columns: table.Columns, Rows: table.Rows,
				Sep: cc.String("label-sep"), Type: cc.String("label-type"),
			}
			r, err := edit.Relabel(cc.Context, dsconv.Formats(), args[0], given, o.editing())
			o.progress.end()
			if err != nil {
				return editError(err, r != nil && !r.Published, args[0])
			}
			return printEdit(c, &r.Report, o, editOutcome{summary: relabelledText(&r.Relabelled), details: r.Relabelled})
		},
	}
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

// labelTypeFlag is the flag --label-type of add and relabel.
func labelTypeFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "label-type", Usage: "`TYPE` of numbers that are not yet classes of the dataset: index (may have gaps) or name", DefaultText: "as packed",
	}
}

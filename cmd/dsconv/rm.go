package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
)

func removeCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove samples from a dataset",
		ArgsUsage: "DATASET [KEY...]",
		Description: "The samples' bytes are removed from all files. Shards without any of the samples are not\n" +
			"written again. An unknown key is an error, and nothing is removed. The dataset records what was\n" +
			"removed, so that dsconv add does not add it again.\n\n" + selectionHelp + "\n\n" +
			"Examples:\n   dsconv rm out.lmdb train/cat/12 train/dog/7\n   dsconv rm out.lmdb --glob 'train/cat/9*' --dry-run\n\n" + editExitCodes,
		Flags: writeFlags(selectionFlags(
			&cli.StringSliceFlag{Name: "key", Usage: "`KEY` of a sample, as the arguments are; may be repeated", KeepSpace: true},
		)...),
		Action: func(cc *cli.Context) error { return removeSamples(cc, c) },
	}
}

func removeSamples(cc *cli.Context, c *console) error {
	args, err := argumentsOrMore(cc, "DATASET")
	if err != nil {
		return err
	}
	s, err := parseSelection(cc, c, append(cc.StringSlice("key"), args[1:]...))
	if err != nil {
		return err
	}
	if s.all() {
		return usageErrorf("no samples are named: give a KEY, --keys-from FILE, --glob PATTERN, --class NAME or --split SPLIT")
	}
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	r, err := edit.RemoveSelected(cc.Context, dsconv.Formats(), args[0], s.chooser(), o.editing())
	o.progress.end()
	if err != nil {
		return editError(err, r != nil && !r.Published, args[0])
	}
	return printEdit(c, &r.Report, o, editOutcome{
		summary: fmt.Sprintf("%d sample(s) removed", r.Removed), details: map[string]int{"removed": r.Removed},
	})
}

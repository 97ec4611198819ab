package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dsconv/dsconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
)

func undoCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "restore the previous version of a dataset, which --keep-old kept",
		ArgsUsage: "DATASET",
		Description: "An edit with --keep-old keeps the previous version in the folder DATASET.old/, where it is a complete\n" +
			"dataset. undo exchanges it with the present version, so a second undo reverts the first one. Only one\n" +
			"version is kept: the next --keep-old replaces it. Edits without --keep-old leave the kept version as it\n" +
			"is, so undo reverts them too. Files that both versions share are stored once (hard links). To delete the kept\n" +
			"version and free its space, remove the folder.\n\n" +
			"Example:\n   dsconv rm out.lmdb --key train/cat/12 --keep-old\n   dsconv undo out.lmdb\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
			quietFlag(),
		},
		Action: func(cc *cli.Context) error { return undo(cc, c) },
	}
}

func undo(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DATASET")
	if err != nil {
		return err
	}
	u, err := edit.Undo(cc.Context, dsconv.Formats(), args[0], edit.UndoOptions{DryRun: cc.Bool("dry-run")})
	if errors.Is(err, formats.ErrPartial) {
		return fmt.Errorf("%w: repeat that command first to finish it, or with --discard to drop it", err)
	}
	if errors.Is(err, formats.ErrNotDataset) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (--keep-old)", err)
	}
	if err != nil {
		return editError(err, false, args[0])
	}
	switch {
	case cc.Bool("json"):
		return c.json(u)
	case cc.Bool("quiet"):
	case u.DryRun:
		c.printf("%s: would restore the %d samples of %s, and keep the present version, with %d samples, there\n", args[0], u.Samples, u.Kept, u.Was)
	default:
		c.printf("%s: restored the previous version, with %d samples; the replaced one, with %d, is kept in %s: undo restores it\n",
			args[0], u.Samples, u.Was, u.Kept)
	}
	return nil
}

package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

func undoCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "bring back the version of a dataset that --keep-old kept",
		ArgsUsage: "DATASET",
		Description: "An edit with --keep-old keeps the version before in DATASET.old/, a folder in which it is a dataset\n" +
			"of its own. undo makes that version the dataset again and keeps the present one in its place, so that\n" +
			"a second undo takes the first one back. One version is kept: the next --keep-old replaces it, and\n" +
			"edits without --keep-old leave it as it is, so that undo then goes back behind them too.\n" +
			"Files that both versions have are there once (as hard links). To give up the kept version, and its\n" +
			"room, remove the folder.\n\n" +
			"Example:\n   dsconv rm out.lmdb --key train/cat/12 --keep-old\n   dsconv undo out.lmdb\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done"},
			&cli.BoolFlag{Name: "json", Usage: "print what was done as JSON"},
			&cli.BoolFlag{Name: "quiet", Usage: "print errors only"},
		},
		Action: func(cc *cli.Context) error { return undo(cc, c) },
	}
}

// undone is what --json prints.
type undoResult struct {
	Path   string `json:"path"`
	DryRun bool   `json:"dry_run,omitempty"`
	*edit.Undone
}

func undo(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DATASET")
	if err != nil {
		return err
	}
	f, err := detectFormat(args[0])
	if err != nil {
		return err
	}
	dry := cc.Bool("dry-run")
	u, err := edit.Undo(f, args[0], dry)
	if errors.Is(err, formats.ErrPartial) {
		return fmt.Errorf("%w: finish that command first, or drop it with the same command and --discard", err)
	}
	if err != nil {
		return err
	}
	switch {
	case cc.Bool("json"):
		return c.json(undoResult{args[0], dry, u})
	case cc.Bool("quiet"):
	case dry:
		c.printf("%s: would have the %d samples of %s again, and keep the present version, with %d, in its place\n", args[0], u.Samples, u.Kept, u.Was)
	default:
		c.printf("%s: the kept version is back, with %d samples; the one that it replaced, with %d, is %s now: undo brings it back\n",
			args[0], u.Samples, u.Was, u.Kept)
	}
	return nil
}

func keepOldFlag() cli.Flag {
	return &cli.BoolFlag{Name: "keep-old", Usage: "keep the version before in DATASET.old/, for dsconv undo; files that change take room twice"}
}

// keptOld is the version before, as an edit kept it.
type oldVersion struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // that it takes beside the new one
}

// findOld finds what the edit kept, or would keep.
func (e *editResult) findOld(o *packOptions) error {
	if !o.convert.KeepOld {
		return nil
	}
	if o.dryRun {
		if err := atrest.MayKeep(e.Path); err != nil {
			return err
		}
		e.Old = &oldVersion{Path: e.Path + atrest.KeptSuffix}
		return nil
	}
	k, err := atrest.Kept(e.Path)
	if errors.Is(err, formats.ErrNotDataset) {
		return nil // there was no version before
	}
	if err != nil {
		return err
	}
	n, err := k.Bytes()
	e.Old = &oldVersion{Path: k.Path, Bytes: n}
	return err
}

func (k *oldVersion) print(c *console, o *packOptions) {
	switch {
	case k == nil:
	case o.dryRun:
		c.printf("would keep the version before in %s\n", k.Path)
	default:
		c.printf("the version before is %s and takes %s; dsconv undo brings it back\n", k.Path, formatBytes(k.Bytes))
	}
}

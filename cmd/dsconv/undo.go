package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
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

// undoResult is the output of --json.
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
		return fmt.Errorf("%w: repeat that command first to finish it, or with --discard to drop it", err)
	}
	if err != nil {
		return err
	}
	switch {
	case cc.Bool("json"):
		return c.json(undoResult{args[0], dry, u})
	case cc.Bool("quiet"):
	case dry:
		c.printf("%s: would restore the %d samples of %s, and keep the present version, with %d samples, there\n", args[0], u.Samples, u.Kept, u.Was)
	default:
		c.printf("%s: restored the previous version, with %d samples; the replaced one, with %d, is kept in %s: undo restores it\n",
			args[0], u.Samples, u.Was, u.Kept)
	}
	return nil
}

// oldVersion is the previous version that an edit kept.
type oldVersion struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // space that it needs besides the new version
}

// findOld sets e.Old to the version that the edit kept or would keep.
func (e *editResult) findOld(o *writeOptions) error {
	if !o.convert.KeepOld {
		return nil
	}
	if o.dryRun {
		if err := staging.CheckKeepPrevious(e.Path); err != nil {
			return err
		}
		e.Old = &oldVersion{Path: e.Path + staging.PreviousSuffix}
		return nil
	}
	k, err := staging.FindPrevious(e.Path)
	if errors.Is(err, formats.ErrNotDataset) {
		return nil // there was no previous version
	}
	if err != nil {
		return err
	}
	n, err := k.Bytes()
	e.Old = &oldVersion{Path: k.Path, Bytes: n}
	return err
}

func (k *oldVersion) print(c *console, o *writeOptions) {
	switch {
	case k == nil:
	case o.dryRun:
		c.printf("would keep the previous version in %s\n", k.Path)
	default:
		c.printf("the previous version is kept in %s and needs %s; dsconv undo restores it\n", k.Path, formatBytes(k.Bytes))
	}
}

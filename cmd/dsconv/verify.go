package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/all"
	"github.com/dsconv/dsconv/verify"
)

func verifyCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check everything in a dataset against its checksums, or its pixels against Pillow's",
		ArgsUsage: "DATASET",
		Description: "Every block of every file is read and compared with the checksum that was written with it,\n" +
			"so that a flipped bit anywhere is found. Every sample is found by its key, taken apart and compared\n" +
			"with the manifest: order, label, size, encoding, checksum. What is damaged is named, with file,\n" +
			"place and key; of many damaged samples the first, and how many there are of each cause (--json lists\n" +
			"all). A dataset that was copied or renamed is checked under the names that its files have now.\n\n" +
			"--quick reads no images: it checks the table of checksums, names and sizes of the files, the files\n" +
			"that describe the dataset, and that each record has a place of its own.\n\n" +
			"--repair SRC restores what is damaged from the folder that the dataset was packed from, or from any\n" +
			"dataset that has the same samples. It must give the very bytes that were written, or nothing is\n" +
			"changed. Only damaged files are written anew; the dataset stays as it is until they are complete.\n" +
			"After a rename it also writes the index files for other programs with the new names.\n\n" +
			"--parity SRC checks no files: it has Pillow, and torchvision where that is installed, decode and\n" +
			"resize the images of SRC beside dsconv, and prints of each path that pixels take how many images\n" +
			"differ, the largest difference and the PSNR in dB, of all images and of the one that is furthest\n" +
			"off. Default paths differ by 0; a lossy encoding shows what it costs. --python names a Python 3.9 or\n" +
			"later with Pillow 13. What is found does not depend on the number of workers.\n\n" +
			"Examples:\n   dsconv verify out.lmdb\n   dsconv verify out.lmdb --repair images/\n" +
			"   dsconv verify --parity images/ out.lmdb\n\n" +
			"Exit codes: 0 nothing is damaged (any more), or differs; 1 something is or does, or the command failed;\n" +
			"2 wrong usage.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "check the structure and do not read the images"},
			&cli.StringFlag{Name: "repair", Usage: "restore what is damaged from `SRC`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --repair: say what would be restored"},
			keepOldFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print what is damaged as JSON"},
			&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines that read", DefaultText: "the number of cores"},
		}, parityFlags()...),
		Action: func(cc *cli.Context) error { return verifyDataset(cc, c) },
	}
}

// verified is what --json prints.
type verifyResult struct {
	*verify.Report
	DryRun   bool           `json:"dry_run,omitempty"` // nothing was repaired: this is what would be
	Repaired *edit.Repaired `json:"repaired,omitempty"`
}

func verifyDataset(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DATASET")
	if err != nil {
		return err
	}
	if cc.String("parity") != "" {
		return compareWithPillow(cc, c, args[0])
	}
	if cc.IsSet("sample") || cc.IsSet("python") {
		return usageErrorf("--sample and --python are for --parity SRC")
	}
	from, dry := cc.String("repair"), cc.Bool("dry-run")
	if from == "" && (dry || cc.Bool("keep-old")) {
		return usageErrorf("--dry-run and --keep-old are for --repair SRC")
	}
	o := verify.Options{Quick: cc.Bool("quick"), Workers: cc.Int("workers")}
	if o.Quick && from != "" {
		return usageErrorf("--quick does not find all that --repair restores: leave one of them out")
	}
	f, err := detectFormat(args[0])
	if err != nil {
		return err
	}
	found, err := verify.Run(cc.Context, f, args[0], o)
	if errors.Is(err, verify.ErrNoChecksums) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	done := verifyResult{Report: found}
	if from != "" && (!found.Sound() || len(found.Notes) > 0) {
		if done.Repaired, err = repair(cc.Context, c, f, args[0], from, found, convert.Options{
			Workers: o.Workers, KeepOld: cc.Bool("keep-old"),
		}, dry); err != nil {
			return err
		}
		done.DryRun = dry
		if len(done.Repaired.Lost) == 0 && !dry {
			if done.Report, err = verify.Run(cc.Context, f, args[0], o); err != nil {
				return err
			}
		}
	}
	if cc.Bool("json") {
		err = c.json(done)
	} else {
		if done.DryRun {
			c.printf("nothing is changed; without --dry-run this would be done:\n")
		}
		done.print(c, o.Quick)
	}
	if err == nil && !done.Sound() {
		err = errors.New("the dataset is damaged")
	}
	return err
}

// formatAt is the format of the dataset at path.
func detectFormat(path string) (formats.Format, error) {
	f, err := all.Formats().Of(path)
	if errors.Is(err, formats.ErrUnknownFormat) || errors.Is(err, formats.ErrRemote) {
		return nil, usageError{err}
	}
	return f, err
}

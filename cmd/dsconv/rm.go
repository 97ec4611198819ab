package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/dsconv/dsconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
)

func removeCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove samples from a dataset",
		ArgsUsage: "DATASET",
		Description: "The samples' bytes are removed from all files. Shards without any of the samples are not\n" +
			"written again. An unknown key is an error, and nothing is removed. The dataset records what was\n" +
			"removed, so that dsconv add does not add it again.\n\n" +
			"Example:\n   dsconv rm out.lmdb --key train/cat/12 --key train/dog/7\n\n" + editExitCodes,
		Flags: writeFlags(
			&cli.StringSliceFlag{Name: "key", Usage: "`KEY` of a sample; may be repeated", KeepSpace: true},
			&cli.StringFlag{Name: "keys-from", Usage: "`FILE` with one key per line"},
		),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET")
			if err != nil {
				return err
			}
			keys, err := parseKeys(cc)
			if err != nil {
				return err
			}
			o, err := parseWriteFlags(cc, c)
			if err != nil {
				return err
			}
			r, err := edit.Remove(cc.Context, dsconv.Formats(), args[0], keys, o.editing())
			o.progress.end()
			if err != nil {
				return editError(err, r != nil && !r.Published, args[0])
			}
			return printEdit(c, &r.Report, o, editOutcome{
				summary: fmt.Sprintf("%d sample(s) removed", r.Removed), details: map[string]int{"removed": r.Removed},
			})
		},
	}
}

// parseKeys returns the keys of --key and --keys-from.
func parseKeys(cc *cli.Context) ([]string, error) {
	keys := cc.StringSlice("key")
	if name := cc.String("keys-from"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if lines.Text() != "" {
				keys = append(keys, lines.Text())
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	if len(keys) == 0 {
		return nil, usageErrorf("no samples are named: use --key KEY or --keys-from FILE")
	}
	return keys, nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

func addCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "pack what is new or changed into a dataset",
		ArgsUsage: "DATASET SRC",
		Description: "The images of SRC that the dataset has not, and those that changed, are packed as the dataset\n" +
			"was: its recipe says how, its options for labels hold unless others are given. Labels, splits and\n" +
			"columns become those of SRC; what SRC has not stays. A file of the same size and time counts as\n" +
			"unchanged; where the time differs, its bytes are compared. New classes come after the old ones. New\n" +
			"images of shards go to new shards; LMDB, HDF5 and single files are written anew, without decoding\n" +
			"what they hold. An image that was packed and is damaged now is skipped, and so is gone.\n\n" + patternHelp + "\n\n" +
			"Example:\n   dsconv add out.lmdb images/\n\n" + strings.Replace(editExitCodes, "0 done", "0 done, 3 some skipped", 1),
		Flags: editFlags(
			&cli.StringFlag{Name: "labels", Usage: "table of labels: `FILE`", DefaultText: "as packed"},
			&cli.StringFlag{Name: "label-columns", Usage: "label columns `A,B,C` of the table", DefaultText: "as packed"},
			&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` between several labels", DefaultText: "as packed"},
			newTypesFlag(),
			&cli.StringSliceFlag{Name: "include", Usage: "take only files that fit `PATTERN`", DefaultText: "as packed"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "leave out what fits `PATTERN`", DefaultText: "as packed"},
			&cli.BoolFlag{Name: "hash", Usage: "compare the bytes of files that seem unchanged, too"},
			&cli.StringFlag{Name: "shard-size", Usage: "`SIZE` of a new shard", DefaultText: "that of the largest there is"},
			&cli.StringFlag{Name: "on-error", Value: "skip", Usage: "skip a bad image, fail, or quarantine:DIR"},
			&cli.StringFlag{Name: "report", Usage: "table of what was skipped or odd: `FILE`.csv or .json", DefaultText: "DATASET.report.csv"},
		),
		Action: func(cc *cli.Context) error { return add(cc, c) },
	}
}

func add(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DATASET", "SRC")
	if err != nil {
		return err
	}
	return withTarget(cc, args[0], func(t *edit.Target, o *packOptions) error { return addTo(cc, c, t, args[1], o) })
}

func addTo(cc *cli.Context, c *console, t *edit.Target, from string, o *packOptions) error {
	cfg, err := addConfig(cc, t.Meta())
	if err != nil {
		return err
	}
	src, err := openSource(cc.Context, from, cfg)
	if err != nil {
		return err
	}
	defer src.Close()
	o.report = cc.String("report")
	if err := addOptions(cc, o); err != nil {
		return usageError{err}
	}
	if dir := o.convert.Quarantine; dir != "" {
		if err := notInside(dir, from); err != nil {
			return err
		}
	}
	p, found, err := edit.Add(cc.Context, t, src, edit.AddOptions{Options: o.convert, Hash: cc.Bool("hash")})
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%d new, %d changed, %d relabelled, %d unchanged, %d not in %s", found.New, found.Changed,
		found.Relabelled, found.Unchanged, found.Absent, from)
	if len(found.NewClasses) > 0 {
		said += fmt.Sprintf("; %d new class(es): %s", len(found.NewClasses), shortList(found.NewClasses, 10))
	}
	table, err := newSummary(src, takeOf(cc)) // patterns of the recipe need not fit here
	if err != nil {
		return err
	}
	return amend(cc.Context, c, t, p, o, amended{said: said, what: found, table: table})
}

// addConfig is how the folder is read: as the recipe says, but for the flags that are given.
func addConfig(cc *cli.Context, m *formats.Meta) (cfg folder.Config, err error) {
	cfg = folderConfig(m)
	cfg.Take, err = takeAgain(cc, m.Recipe)
	for flag, set := range map[string]func(){
		"labels":        func() { cfg.Labels = cc.String("labels") },
		"label-columns": func() { cfg.LabelColumns = splitList(cc.String("label-columns")) },
		"label-sep":     func() { cfg.LabelSep = cc.String("label-sep") },
		"label-type":    func() { cfg.LabelType = cc.String("label-type") },
	} {
		if cc.IsSet(flag) {
			set()
		}
	}
	return cfg, err
}

// splitList takes a list of a recipe apart.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func addOptions(cc *cli.Context, o *packOptions) (err error) {
	if err := o.parseOnError(cc.String("on-error")); err != nil {
		return err
	}
	if size := cc.String("shard-size"); size != "" {
		o.convert.Shards.Size, err = convert.ParseSize(size)
	}
	return err
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
			"columns become those of SRC. A file of the same size and time counts as unchanged; where the time\n" +
			"differs, its bytes are compared. New classes come after the old ones. New images of shards go to new\n" +
			"shards; LMDB, HDF5 and single files are written anew, without decoding what they hold. An image that\n" +
			"was packed and is damaged now is skipped, and so is gone.\n\n" +
			"Edits stay: what rm removed does not come back, also not under another name with the same bytes, and\n" +
			"what relabel set is kept, also if the image changes. --reset-edits takes all that from SRC again.\n\n" +
			"Samples that SRC lacks stay, unless --prune drops them: those of a class folder that was renamed\n" +
			"would be there twice. --prune leaves alone what came from another folder or dataset, and drops\n" +
			"nothing if SRC lacks more than half of what came from it; --prune-all drops all that SRC lacks.\n\n" + patternHelp + "\n\n" +
			"Example:\n   dsconv add out.lmdb images/\n\n" + strings.Replace(editExitCodes, "0 done", "0 done, 3 some skipped", 1),
		Flags: editFlags(
			&cli.StringFlag{Name: "labels", Usage: "table of labels: `FILE`", DefaultText: "as packed"},
			&cli.StringFlag{Name: "label-columns", Usage: "label columns `A,B,C` of the table", DefaultText: "as packed"},
			&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` between several labels", DefaultText: "as packed"},
			newTypesFlag(),
			&cli.StringSliceFlag{Name: "include", Usage: "take only files that fit `PATTERN`", DefaultText: "as packed"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "leave out what fits `PATTERN`", DefaultText: "as packed"},
			&cli.BoolFlag{Name: "prune", Usage: "drop the samples that came from SRC and are not there any more"},
			&cli.BoolFlag{Name: "prune-all", Usage: "drop all samples that SRC lacks, wherever they came from"},
			&cli.BoolFlag{Name: "reset-edits", Usage: "take labels from SRC that relabel set, and samples that rm removed"},
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
	if (cc.Bool("prune") || cc.Bool("prune-all")) && (cc.IsSet("include") || cc.IsSet("exclude")) {
		return usage("--prune drops what SRC lacks, so it looks at all of SRC: leave --include and --exclude out")
	}
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
	table, err := newSummary(src, takeOf(cc)) // patterns of the recipe need not fit here
	if err != nil {
		return err
	}
	excluded, err := excludedFrom(from, cfg.Take)
	if err != nil {
		return err
	}
	p, found, err := edit.Add(cc.Context, t, src, edit.AddOptions{
		Options: o.convert, Hash: cc.Bool("hash"), ResetEdits: cc.Bool("reset-edits"),
		Prune: cc.Bool("prune"), PruneAll: cc.Bool("prune-all"), Unread: unread(table, from), Excluded: excluded,
	})
	if err != nil {
		return err
	}
	return amend(cc.Context, c, t, p, o, amended{said: saidOf(found, from), what: found, table: table})
}

// unread are the paths in the folder from that are there and were skipped when it was listed.
func unread(s *summary, from string) []string {
	var paths []string
	for _, k := range s.listed {
		if _, err := os.Lstat(filepath.Join(from, filepath.FromSlash(k.Path))); !errors.Is(err, os.ErrNotExist) {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// excludedFrom reports whether a file is in the folder from, but the patterns leave it out.
func excludedFrom(from string, take formats.Patterns) (func(path string) bool, error) {
	c, err := take.Chooser()
	if err != nil {
		return nil, err
	}
	return func(path string) bool {
		if path == "" || c.File(path) {
			return false
		}
		_, err := os.Lstat(filepath.Join(from, filepath.FromSlash(path)))
		return err == nil
	}, nil
}

func saidOf(found *edit.Added, from string) string {
	said := fmt.Sprintf("%d new, %d changed, %d relabelled, %d unchanged, %d not in %s", found.New, found.Changed,
		found.Relabelled, found.Unchanged, found.Absent+found.Pruned, from)
	if len(found.NewClasses) > 0 {
		said += fmt.Sprintf("; %d new class(es): %s", len(found.NewClasses), shortList(found.NewClasses, 10))
	}
	for _, part := range []struct {
		n    int
		text string
	}{
		{found.Pruned, "%d dropped, which are not in the source any more"},
		{found.Absent, "%d stay that are not in the source (--prune drops those that came from it)"},
		{found.KeptOut, "%d removed sample(s) stayed out"},
		{found.KeptEdits, "%d sample(s) keep what was edited"},
		{found.Reset, "%d edit(s) reset"},
	} {
		if part.n > 0 {
			said += "\n  " + fmt.Sprintf(part.text, part.n)
		}
	}
	return said
}

// addConfig is how the folder is read: as the recipe says, but for the flags that are given.
func addConfig(cc *cli.Context, m *formats.Meta) (cfg folder.Config, err error) {
	cfg = folderConfig(m)
	if cc.IsSet("labels") && folder.IsDescription(cc.String("labels")) { // it says all that these say
		cfg.LabelColumns, cfg.LabelSep, cfg.LabelType, cfg.ClassOrder = nil, "", "", ""
	}
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

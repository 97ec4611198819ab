package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

func addCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add new and changed images to a dataset",
		ArgsUsage: "DATASET SRC...",
		Description: "New and changed samples of SRC are packed with the options that the dataset was packed with.\n" +
			"Options for labels and fields can be changed by flags. Several folders and archives are one folder, and\n" +
			"NAME=SRC puts one below the folder NAME, as in dsconv pack. Labels, splits and columns become those of\n" +
			"SRC. An image file of the same size and time counts as unchanged; if the time differs, its bytes are\n" +
			"compared. Masks, boxes and other fields have no times: what pack makes of them is compared, which takes\n" +
			"as long as packing if images are resized or encoded. New classes come after the old ones. In a sharded dataset new images go to new shards; LMDB, HDF5 and single files\n" +
			"are written again, without decoding their images. If a file of a packed sample, its image or its mask, is\n" +
			"damaged now, or its mask is gone, the sample stays as it was, and is named. A file\n" +
			"that cannot be read (rights, disk, network) is an error, and the dataset does not change.\n\n" +
			"Edits are kept: a sample that rm removed is not added again, and labels\n" +
			"that relabel set stay, even if the image changes. --reset-edits drops these edits.\n\n" +
			"Samples that SRC lacks stay, unless --prune drops them. So if a class folder was renamed, its samples\n" +
			"are in the dataset twice without --prune, and edits stay with the old names. --prune keeps samples that came from another folder or\n" +
			"dataset, and is an error if SRC lacks more than half of the samples that came from SRC.\n\n" + patternHelp + "\n\n" +
			"Examples:\n   dsconv add out.lmdb images/\n   dsconv add out.lmdb train=train.tar val=val/\n\n" + strings.Replace(editExitCodes, "0 done", "0 done, 3 some skipped", 1),
		Flags: slices.Concat(readFlags("SRC"), sourceFlags("dsconv pack --help", "as packed"), writeFlags(
			&cli.BoolFlag{Name: "prune", Usage: "drop samples that came from SRC and are not in it any more"},
			&cli.BoolFlag{Name: "reset-edits", Usage: "drop edits: use the labels of SRC, and add samples that rm removed"},
			&cli.BoolFlag{Name: "hash", Usage: "compare the bytes of all files, also of those with the same size and time"},
			nvjpegFlag("`PATH` of libnvjpeg.so, if the dataset was packed with --decoder gpu"),
			&cli.StringFlag{Name: "shard-size", Usage: "`SIZE` of a new shard", DefaultText: "size of the largest shard"},
			&cli.StringFlag{Name: "on-error", Value: "skip", Usage: "`POLICY` for bad images: skip or fail"},
			maxSkippedFlag(),
			&cli.StringFlag{Name: "report", Usage: "write the skipped images and warnings to `FILE`.csv", DefaultText: "DATASET.report.csv"},
		)),
		Action: func(cc *cli.Context) error { return add(cc, c) },
	}
}

func add(cc *cli.Context, c *console) error {
	args, err := argumentsOrMore(cc, "DATASET", "SRC")
	if err != nil {
		return err
	}
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	m, err := edit.Describe(cc.Context, dsconv.Formats(), args[0])
	if err != nil {
		return editError(err, false, args[0])
	}
	path, sources := args[0], args[1:]
	if cc.Bool("prune") && (cc.IsSet("include") || cc.IsSet("exclude")) {
		return usageErrorf("--prune drops what SRC lacks, so it needs all of SRC: leave out --include and --exclude")
	}
	gpu, err := openEditGPU(cc, m)
	if err != nil {
		return err
	}
	defer gpu.close()
	o.convert.GPU = gpu.GPU
	src, cfg, err := openAdded(cc, c, path, m, sources)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := checkTable(cc, &cfg, sources); err != nil {
		return err
	}
	o.report = cc.String("report")
	if err := o.parseSkipping(cc); err != nil {
		return err
	}
	if err := parseSize(cc, "shard-size", &o.convert.Shards.Size); err != nil {
		return err
	}
	table, err := newSummary(src, parsePatterns(cc)) // patterns of the recipe may match nothing here
	if err != nil {
		return err
	}
	reportFile, err := dsconv.TablePath(o.report, path)
	if err != nil && !o.dryRun {
		return asUsage(fmt.Errorf("%w\n%s is unchanged", err, path))
	}
	r, err := edit.Add(cc.Context, dsconv.Formats(), path, src, edit.AddOptions{
		Options: o.editing(), OnError: o.convert.OnError, ShardSize: o.convert.Shards.Size,
		MaxSkipped: o.convert.MaxSkipped, Hash: cc.Bool("hash"), ResetEdits: cc.Bool("reset-edits"),
		Prune: cc.Bool("prune"),
	})
	o.progress.end()
	if r == nil {
		return editError(gpu.explain(path, err), false, path)
	}
	if err := table.finishEdit(&r.Report, err, reportFile, o); err != nil {
		return err
	}
	return printEdit(c, &r.Report, o, editOutcome{summary: addedText(&r.Added, strings.Join(sources, ", ")), details: r.Added, inputs: table})
}

// openAdded opens the sources as those of the dataset at path, which m describes.
func openAdded(cc *cli.Context, c *console, path string, m *formats.Meta, sources []string) (formats.Dataset, folder.Config, error) {
	cfg, err := packedConfig(cc, path, m, sources...)
	if err != nil {
		return nil, cfg, err
	}
	cfg.Patterns = addPatterns(cc, m.Recipe)
	read, err := packedReadOptions(cc, m.Recipe)
	if err != nil {
		return nil, cfg, err
	}
	cfg.Stdin = c.in
	src, err := openSources(cc.Context, sources, cfg, read)
	if err != nil {
		return nil, cfg, err
	}
	if f, ok := src.(*folder.Dataset); ok {
		if err := f.Question(); err != nil {
			return nil, cfg, errors.Join(usageError{err}, f.Close())
		}
	}
	return src, cfg, nil
}

// finishEdit adds the report of an edit, whose error is err, to s, and writes the table of bad inputs to file.
func (s *summary) finishEdit(r *edit.Report, err error, file string, o *writeOptions) error {
	if r.Run != nil {
		s.Add(r.Run)
	}
	if err != nil {
		err = editError(err, !r.Published, r.Path)
	}
	if r.Run == nil && (len(s.Skipped) == 0 || o.dryRun) {
		return err
	}
	return errors.Join(err, s.WriteTable(file, err))
}

// changedFields lists the fields that changed though the image stayed.
func changedFields(found *edit.Added) string {
	if len(found.ChangedFields) == 0 {
		return ""
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(found.ChangedFields)) {
		list = append(list, fmt.Sprintf("%s %d", printable(name), found.ChangedFields[name]))
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func addedText(found *edit.Added, from string) string {
	said := fmt.Sprintf("%d new, %d changed%s, %d relabelled, %d unchanged, %d not in %s", found.New, found.Changed, changedFields(found),
		found.Relabelled, found.Unchanged, found.Absent+found.Pruned, from)
	if len(found.NewClasses) > 0 {
		said += fmt.Sprintf("; %d new class(es): %s", len(found.NewClasses), shortList(found.NewClasses, 10))
	}
	if len(found.KeptOld) > 0 {
		said += fmt.Sprintf("\n  %d stay as they were, since their files are damaged or missing now: %s", len(found.KeptOld), shortList(found.KeptOld, 10))
	}
	for _, count := range []struct {
		n    int
		text string
	}{
		{found.Pruned, "%d dropped: they are not in the source any more"},
		{found.Absent, "%d are not in the source but stay (--prune drops those that came from it)"},
		{found.KeptOut, "%d sample(s) not added: they were removed by hand"},
		{found.KeptEdits, "%d sample(s) keep their edits by hand"},
		{found.Reset, "%d edit(s) reset"},
	} {
		if count.n > 0 {
			said += "\n  " + fmt.Sprintf(count.text, count.n)
		}
	}
	return said
}

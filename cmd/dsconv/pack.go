package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/legible"
)

func packCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "convert a folder of images, or a dataset, into a dataset",
		ArgsUsage: "SRC... DST",
		Description: `SRC is a folder of images, an archive of one (.zip, .tar, .tar.gz, .tar.zst), which is read
in place, a list of images, or any dataset. Several folders and archives are packed as one folder; NAME=SRC puts
one below the folder NAME. The suffix of DST is the format: .lmdb, .h5 or .hdf5, .tar or .tar.zst, .tfrecord. A pattern such as
train-%06d.tar writes shards. With --format and a folder OUT/ each split becomes a
separate dataset: OUT/train.lmdb, OUT/val.lmdb.

The folders of SRC are classes, as in torchvision's ImageFolder. If all of them are named train,
val, valid, validation or test, they are splits and the folders in them are classes. Folders
without images are no classes, and neither are hidden and system folders, such as .git,
.ipynb_checkpoints, __MACOSX and @eaDir: their images are counted and left out, unless --include
names the folder.

Labels from a table (--labels): white space around a cell is ignored. An empty cell and -1
mean no label. Whole numbers are class indices if every number from 0 to n-1 occurs.
Other numbers, and lists of numbers, are an error unless --label-type says what they are:

   index    class indices, which may have gaps
   name     each number is the name of a class, also -1
   float    numbers to predict, float32; an empty cell is NaN

With --label-sep, cells of a 0 or 1 for each class, such as 1 0 0 1, are a multi-hot label.
--label-columns label=A,label=B makes one of columns that are classes.

All other cells are names of classes. Names are sorted as ImageFolder sorts folders; names
that are numbers are sorted by value. The summary says how each column was interpreted.

--labels val=FILE is for the folder val alone: its paths are relative to that folder or to SRC, and
all other images have the class of their folder, which also names the classes. ImageNet's own
files are known: LOC_val_solution.csv, and the development kit (ILSVRC2012_devkit_t12.tar.gz, or
its folder).

SRC may be a list of images: a .csv, .tsv, .jsonl, .json, .txt or .parquet file with paths, which
are relative to the list or absolute, and perhaps labels; - reads paths from standard input, one
on each line, or JSON Lines. Keys are paths relative to the deepest folder that has all images.
--field gives samples more than an image and a label. PATTERN is a path in SRC, in which {key} is the
image's path without extension, {stem} its name, {dir} its folder, {split} and {class} what it has, and *
any characters but / and a dot:

   mask=masks/{key}.png   a mask: a resize does not mix its values
   caption={key}.txt      a text
   image={key}.left.png   the sample's image; {key} is then that part of its path
   auto                   files of one name up to its first dot are one sample
   none                   each image is a sample of its own

The kind follows from name and extension, or from ,kind=mask, image, text, json, array, boxes or bytes.

Files of fields are no samples, and their folders no classes. If images look like masks of others
(1.png or 1_mask.png beside 1.jpg, masks/ beside images/), pack asks for --field. A sample
without one of its files is a bad image: see --on-error. Details: docs/fields.md.

A bad image was read and is wrong, or is not there; it is skipped and named. If more are bad than
--max-skipped allows, or all of them, nothing is published. What cannot be read (rights, disk, network) is
never skipped: the pack ends with an error, and can be resumed. --exclude leaves such files out.

--encode says how images are stored:

   keep         copy the bytes
` +
			"   jpeg-tiled   add restart markers to JPEGs and improve their Huffman tables; their coefficients, and so " +
			"their pixels, do not change. A region can then be decoded alone, so random crops are faster. Images that " +
			"cannot be tiled are copied and counted. jpeg-tiled:MCUS sets the number of MCUs between two markers " +
			"(default: 8)\n" +
			"   jpeg         encode as jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS] says (default: " +
			"quality 90, 4:2:0, and restart markers as in jpeg-tiled; progressive JPEGs and --no-tile have none)\n" + `   png, raw     lossless

--decoder gpu decodes and scales JPEGs on an NVIDIA GPU by nvJPEG, which pip install nvidia-nvjpeg
provides. Its pixels are close to Pillow's but not equal; the dataset records library and card,
and only they can resume the pack or add to it. Other images, and JPEGs that the GPU cannot
decode, are decoded on the CPU; the summary counts them.

An interrupted pack leaves DST.partial. Repeat the command to resume from its last
checkpoint, or add --discard to drop it and start over. --dry-run lists what
would be packed; dsconv plan computes the size.

` + patternHelp + `

Examples:
   dsconv pack images/ out.lmdb
   dsconv pack train=train.tar val=val.zip out.lmdb
   dsconv pack images/ 'out/train-%06d.tar' --resize shorter:256 --encode jpeg:90
   dsconv pack images/ tiled.lmdb --encode jpeg-tiled
   dsconv pack images/ out/ --format hdf5 --resize cover:224x224 --encode raw
   dsconv pack val/ val.lmdb --like train.lmdb

Exit codes: 0 all written, 3 some skipped, 1 failed, 2 wrong usage.`,
		Flags: append(packFlags(),
			// Hidden, for the Python package: the sockets of the processes that send samples, whose description is the standard input.
			&cli.IntSliceFlag{Name: "items", Hidden: true, Usage: "pack what the processes at the other ends of the sockets `FD` send"}),
		Action: func(cc *cli.Context) error { return pack(cc, c) },
	}
}

func pack(cc *cli.Context, c *console) error {
	if cc.IsSet("items") {
		return packItems(cc, c)
	}
	sources, dst, o, err := parsePack(cc, c)
	if err != nil {
		return err
	}
	closeGPU, err := o.openGPU(cc)
	if err != nil {
		return err
	}
	defer closeGPU()
	p, err := dsconv.PlanPack(cc.Context, sources, dst, o.packOptions())
	if err != nil {
		if errors.Is(err, formats.ErrUnknownFormat) && o.format == "" {
			err = fmt.Errorf("%w (--format lmdb)", err)
		}
		if hint := unquoted(sources); hint != "" {
			err = fmt.Errorf("%w%s", err, hint)
		}
		return asUsage(err)
	}
	defer p.Close()
	if o.dryRun {
		return packDryRun(c, p, o)
	}
	return runPack(cc.Context, c, p, o)
}

// checkLabelOptions returns an error if options of a table are given, but no table.
func checkLabelOptions(src string, cfg *folder.Config) error {
	options := cfg.LabelSep != "" || cfg.LabelType != "" || len(cfg.LabelColumns) > 0
	if options && cfg.Labels == "" && len(cfg.FolderLabels) == 0 && !folder.IsList(src) {
		return usageErrorf("--label-columns, --label-sep and --label-type need --labels")
	}
	return nil
}

// checkTable returns an error if --report names a file that is read: it would be replaced.
func checkTable(cc *cli.Context, cfg *folder.Config, sources []string) error {
	report, err := os.Stat(cc.String("report"))
	if err != nil {
		return nil //nolint:nilerr // there is nothing to replace
	}
	replaces := func(file string) bool {
		in, err := os.Stat(file)
		return err == nil && in.Mode().IsRegular() && os.SameFile(in, report)
	}
	for key, file := range filesRead(cfg) {
		if replaces(file) {
			flag, _ := flagOf(key)
			return usageErrorf("--report %s: this is the file of --%s, which the report would replace: choose another one", cc.String("report"), flag)
		}
	}
	for _, text := range sources {
		if slices.ContainsFunc(dsconv.SplitSources(text), func(s dsconv.Source) bool { return replaces(s.Path) }) {
			return usageErrorf("--report %s: this is SRC, which the report would replace: choose another one", cc.String("report"))
		}
	}
	return nil
}

// runPack packs, and prints the summary.
func runPack(ctx context.Context, c *console, p *dsconv.PackPlan, o *writeOptions) error {
	discard, err := makeParents(p.Datasets[0].Path)
	if err != nil {
		return err
	}
	r, err := p.Run(ctx)
	s := &summary{r}
	return s.finish(c, err, o, discard)
}

// finish prints the summary of a pack, or if it ended with err how far it came; discard removes the folders that it made.
func (s *summary) finish(c *console, err error, o *writeOptions, discard func()) error {
	o.progress.end()
	if err != nil {
		discard()
		return s.failed(c, err, o)
	}
	return s.print(c, o)
}

// failed prints how far a pack came that ended with err, and returns err with a hint.
func (s *summary) failed(c *console, err error, o *writeOptions) error {
	if len(s.Datasets) == 0 {
		return err
	}
	if !o.quiet && s.Written > 0 {
		c.logf("%s", s.counts())
	}
	return withHint(err, s.Datasets[len(s.Datasets)-1].Path)
}

// packItems is pack of samples that processes send.
func packItems(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DST")
	if err != nil {
		return err
	}
	o, err := parsePackFlags(cc, c)
	if err != nil {
		return err
	}
	closeGPU, err := o.openGPU(cc)
	if err != nil {
		return err
	}
	defer closeGPU()
	discard, err := makeParents(args[0])
	if err != nil {
		return err
	}
	r, err := dsconv.PackItems(cc.Context, c.in, cc.IntSlice("items"), args[0], o.packOptions())
	s := &summary{r}
	return asUsage(s.finish(c, err, o, discard))
}

// dryRun is the result of pack --dry-run.
type dryRun struct {
	DryRun bool `json:"dry_run"` // the same key as in the commands that edit
	*summary
	Datasets []dryDataset `json:"datasets"`
}

// dryDataset is a dataset that a pack would write.
type dryDataset struct {
	Path    string          `json:"path"`
	Format  string          `json:"format"`
	Images  int             `json:"images"`
	Shards  int             `json:"shards"`
	BytesIn int64           `json:"bytes_in"`
	Splits  []formats.Split `json:"splits,omitempty"`
	Classes []string        `json:"classes,omitempty"`
	First   []drySample     `json:"first"`
}

type drySample struct {
	Key   string `json:"key"`
	Label *int64 `json:"label,omitempty"` // nil if the label is not a class index
	Split string `json:"split,omitempty"`
	Bytes int64  `json:"bytes"`
}

// packDryRun prints what would be done.
func packDryRun(c *console, p *dsconv.PackPlan, o *writeOptions) error {
	d := dryRun{DryRun: true, summary: &summary{p.Report}}
	for _, one := range p.Datasets {
		ds, err := describePlan(one)
		if err != nil {
			return err
		}
		d.Datasets = append(d.Datasets, ds)
	}
	if o.json {
		return c.json(d)
	}
	for i := range d.Datasets {
		d.Datasets[i].print(c, len(d.Labels) > 0 && d.Labels[0].Column == "")
	}
	d.printSplits(c, o.src)
	printLabels(c, d.Labels, d.LabelNotices, "  ")
	printFields(c, d.Fields, "  ")
	d.printSkips(c)
	printUnmatched(c, d.Unmatched)
	printUnusedTable(c, d.UnusedTable)
	d.printFolders(c)
	return nil
}

func describePlan(p *convert.Plan) (d dryDataset, err error) {
	d = dryDataset{
		Path: p.Path, Format: p.Meta.Format, Images: p.Len(), Shards: p.Shards, BytesIn: p.Bytes, Splits: p.SplitCounts(), Classes: p.Meta.Classes(),
	}
	head, err := p.Head(5)
	for _, in := range head {
		sample := drySample{Key: in.Key, Split: in.Split, Bytes: in.Size}
		if k := p.Meta.Schema.LabelIndex(); k >= 0 && p.Meta.Schema[k].Kind == formats.Label {
			sample.Label = &in.Label
		}
		d.First = append(d.First, sample)
	}
	return d, err
}

// print prints the dataset. named says that the line about class folders names the classes.
func (d *dryDataset) print(c *console, named bool) {
	c.printf("%s: %d images as %s, %d file(s), from %s\n", printable(d.Path), d.Images, d.Format, d.Shards, formatBytes(d.BytesIn))
	for _, s := range d.Splits {
		c.printf("  split %s: %d\n", printable(s.Name), s.Count)
	}
	if len(d.Classes) > 0 && !named {
		c.printf("  %d classes: %s\n", len(d.Classes), shortList(d.Classes, 10))
	}
	for _, s := range d.First {
		c.printf("  %s", printable(s.Key))
		if s.Label != nil {
			c.printf("  label %d", *s.Label)
		}
		c.printf("  split %q  %s\n", s.Split, formatBytes(s.Bytes))
	}
}

func (d *dryRun) printSkips(c *console) {
	if len(d.Skipped) > 0 {
		c.printf("would skip %d:\n", len(d.Skipped))
	}
	printFirst(c, d.Skipped, 10, " (--json lists them all)", func(s convert.Problem) string {
		return "  " + printable(s.Path) + ": " + legible.Line(s.Cause)
	})
}

// makeParents makes the folders that are missing above path. discard removes those that are still
// empty, if what should be written there was not begun.
func makeParents(path string) (discard func(), err error) {
	var made []string // the deepest first
	for dir := filepath.Dir(path); !durable.Exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return func() {
		for _, dir := range made {
			if os.Remove(dir) != nil {
				return
			}
		}
	}, nil
}

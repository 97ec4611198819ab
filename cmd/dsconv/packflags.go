package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/preprocess"
)

// packOptions are the flags of pack.
type packOptions struct {
	format              string
	folder              folder.Config
	convert             convert.Options
	dryRun, json, quiet bool
	progressJSON        bool
	report              string
}

func packFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: "format of DST: lmdb, hdf5, shard, tfrecord", DefaultText: "by DST's suffix"},
		&cli.BoolFlag{Name: "force", Usage: "replace DST if it is a dataset that dsconv wrote"},
		keepOldFlag(),
		&cli.BoolFlag{Name: "discard", Usage: "drop an unfinished pack of DST and start anew"},
		&cli.StringFlag{Name: "checkpoint", Usage: "write about `SIZE` between two checkpoints", DefaultText: "256MiB"},
		&cli.StringFlag{Name: "split", Value: "auto", Usage: "auto, none, train=0.9,val=0.1 or a `COLUMN` of the labels"},
		&cli.StringFlag{Name: "labels", Usage: "table of labels: `FILE`.csv, .tsv or .jsonl with path or file_name, and label; or labels.json of unpack"},
		&cli.StringFlag{Name: "label-columns", Usage: "label columns `A,B,C` of the table; the first is the main one"},
		&cli.StringFlag{Name: "label-sep", Usage: "`TEXT` between several labels of one image (multi-label)"},
		&cli.StringFlag{Name: "label-type", Usage: "`TYPE` of the label columns: index, name or float, or A=float,B=name; see below", DefaultText: "by the cells"},
		&cli.StringFlag{Name: "class-order", Usage: "natural, or a `FILE` with a class a line", DefaultText: "as ImageFolder's"},
		&cli.StringFlag{Name: "resize", Usage: "shorter:256, longer:N, exact:WxH, fit:WxH or cover:WxH"},
		&cli.BoolFlag{Name: "upscale", Usage: "let shorter, longer and fit enlarge small images"},
		&cli.StringFlag{Name: "filter", Value: "bilinear", Usage: "nearest, box, bilinear, hamming, bicubic or lanczos, antialiased as Pillow's"},
		&cli.StringFlag{Name: "encode", Value: "keep", Usage: "keep (the bytes as they are), jpeg-tiled, jpeg:90, png or raw; see below"},
		&cli.BoolFlag{Name: "no-tile", Usage: "write no restart markers with --encode jpeg, as Pillow's files have none"},
		&cli.BoolFlag{Name: "strip", Usage: "drop metadata with --encode jpeg-tiled, but for the EXIF orientation"},
		&cli.StringFlag{Name: "decode", Value: "exact", Usage: "exact (Pillow's pixels), or fast: JPEGs no larger than needed, near Pillow's pixels"},
		&cli.StringFlag{Name: "color", Value: "rgb", Usage: "rgb, gray or keep, where images are encoded anew"},
		&cli.StringFlag{Name: "exif", Value: "keep", Usage: "keep (ignore the orientation, as ImageFolder does) or apply"},
		&cli.IntFlag{Name: "max-pixels", Usage: "skip images of more than `N` pixels", DefaultText: "Pillow's limit"},
		&cli.StringFlag{Name: "compress", Usage: "zstd or zstd:LEVEL, for raw pixels and for tars"},
		&cli.StringFlag{Name: "shard-size", Usage: "`SIZE` of a shard, such as 500MB", DefaultText: "1GB"},
		&cli.IntFlag{Name: "shard-count", Usage: "exactly `N` shards", DefaultText: "by size"},
		&cli.IntFlag{Name: "min-shards", Usage: "at least `N` shards", DefaultText: "1"},
		&cli.StringFlag{Name: "order", Usage: "key or shuffle:SEED, in tars and TFRecords", DefaultText: "shuffle:0"},
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines that decode and encode", DefaultText: "the number of cores"},
		&cli.IntFlag{Name: "io-workers", Usage: "goroutines that read", DefaultText: "4 or more"},
		&cli.IntFlag{Name: "limit", Usage: "take the first `N` images by key", DefaultText: "all"},
		&cli.StringSliceFlag{Name: "include", Usage: "take only files that fit `PATTERN`, such as '*.png' or train/; see above"},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave out what fits `PATTERN`, such as 'test/*'"},
		&cli.StringFlag{Name: "on-error", Value: "skip", Usage: "skip a bad image, fail, or quarantine:`DIR`: skip and copy it there"},
		&cli.StringFlag{Name: "check", Value: "structure", Usage: "of images whose bytes are kept: structure, or decode each"},
		&cli.BoolFlag{Name: "strict", Usage: "treat images that are odd, but readable, as bad"},
		&cli.StringFlag{Name: "report", Usage: "table of what was skipped or odd: `FILE`.csv or .json; unprintable names are quoted: \"a\\xffb.jpg\"", DefaultText: "DST.report.csv"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done and what it takes, by packing a few hundred images into the folder for temporary files"},
		&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		progressFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print errors only"},
	}
}

func packOptionsOf(cc *cli.Context) (*packOptions, error) {
	asJSON, err := progressAsJSON(cc)
	if err != nil {
		return nil, err
	}
	o := &packOptions{
		format: cc.String("format"), dryRun: cc.Bool("dry-run"), json: cc.Bool("json"), quiet: cc.Bool("quiet"),
		progressJSON: asJSON, report: cc.String("report"),
	}
	take := takeOf(cc)
	o.folder = folder.Config{
		Labels: cc.String("labels"), LabelSep: cc.String("label-sep"), LabelType: cc.String("label-type"), ClassOrder: cc.String("class-order"), Take: take,
	}
	if names := cc.String("label-columns"); names != "" {
		o.folder.LabelColumns = strings.Split(names, ",")
	}
	if o.folder.Labels == "" && (o.folder.LabelSep != "" || o.folder.LabelType != "" || len(o.folder.LabelColumns) > 0) {
		return nil, usage("--label-columns, --label-sep and --label-type need --labels")
	}
	if _, err := labels.ParseTypes(o.folder.LabelType); err != nil {
		return nil, usageError{err}
	}
	o.convert = convert.Options{
		Take: take, Limit: cc.Int("limit"), Workers: cc.Int("workers"), IOWorkers: cc.Int("io-workers"),
		KeepOld: cc.Bool("keep-old"),
		Create:  formats.CreateOptions{Replace: cc.Bool("force")},
	}
	for _, n := range []string{"limit", "workers", "io-workers", "shard-count", "min-shards", "max-pixels"} {
		if cc.IsSet(n) && cc.Int(n) < 1 {
			return nil, usage("--%s %d: it must be at least 1", n, cc.Int(n))
		}
	}
	if err := o.parse(cc); err != nil {
		return nil, usageError{err}
	}
	return o, nil
}

// parse reads the flags that have a syntax of their own.
func (o *packOptions) parse(cc *cli.Context) (err error) {
	if err := o.folder.Take.Validate(); err != nil {
		return err
	}
	if err := o.parseOnError(cc.String("on-error")); err != nil {
		return err
	}
	if err := o.parseCheck(cc); err != nil {
		return err
	}
	if o.convert.Split, err = convert.ParseSplit(cc.String("split")); err != nil {
		return err
	}
	if o.convert.Order, err = convert.ParseOrder(cc.String("order")); err != nil {
		return err
	}
	if size := cc.String("shard-size"); size != "" {
		if o.convert.Shards.Size, err = convert.ParseSize(size); err != nil {
			return err
		}
	}
	if size := cc.String("checkpoint"); size != "" {
		if o.convert.Checkpoint, err = convert.ParseSize(size); err != nil {
			return err
		}
	}
	o.convert.Discard = cc.Bool("discard")
	o.convert.Shards.Count, o.convert.Shards.Min = cc.Int("shard-count"), cc.Int("min-shards")
	return o.parseRecipe(cc)
}

// parseOnError reads what is to be done with bad images.
func (o *packOptions) parseOnError(on string) error {
	dir, quarantine := strings.CutPrefix(on, "quarantine:")
	switch {
	case on == "skip":
	case on == "fail":
		o.convert.Fail = true
	case quarantine && dir != "":
		o.convert.Quarantine = dir
	default:
		return fmt.Errorf("on-error %q: choose skip, fail or quarantine:DIR", on)
	}
	return nil
}

// parseCheck reads what a bad image is.
func (o *packOptions) parseCheck(cc *cli.Context) error {
	switch check := cc.String("check"); check {
	case "structure":
	case "decode":
		o.convert.Recipe.Decode = true
	default:
		return fmt.Errorf("check %q: choose structure or decode", check)
	}
	o.convert.Recipe.Strict = cc.Bool("strict")
	return nil
}

func (o *packOptions) parseRecipe(cc *cli.Context) (err error) {
	r := &o.convert.Recipe
	if s := cc.String("resize"); s != "" {
		if r.Resize, err = preprocess.ParseResize(s); err != nil {
			return err
		}
	}
	if r.Encode, err = parseEncode(cc.String("encode"), cc.Bool("no-tile")); err != nil {
		return err
	}
	if r.Fast, err = preprocess.ParseDecode(cc.String("decode")); err != nil {
		return err
	}
	if r.Filter, err = preprocess.ParseFilter(cc.String("filter")); err != nil {
		return err
	}
	if r.Color, err = preprocess.ParseColor(cc.String("color")); err != nil {
		return err
	}
	if r.EXIF, err = preprocess.ParseEXIF(cc.String("exif")); err != nil {
		return err
	}
	r.Upscale, r.MaxPixels, r.Strip = cc.Bool("upscale"), cc.Int("max-pixels"), cc.Bool("strip")
	level, err := preprocess.ParseZstd(cc.String("compress"))
	if err != nil {
		return err
	}
	// A format that compresses its files does so for any encoding; else it is the raw
	// pixels of each value that are compressed.
	o.convert.Create.Zstd = level
	return nil
}

// parseEncode reads how images are encoded: JPEGs that are made anew are tiled unless noTile
// or another option is against it.
func parseEncode(s string, noTile bool) (preprocess.Encode, error) {
	e, err := preprocess.ParseEncode(s)
	jpeg := e.Encoding == formats.JPEG
	switch {
	case err != nil:
		return e, err
	case noTile && (!jpeg || e.Interval > 0):
		return e, fmt.Errorf("encode %s: --no-tile is for --encode jpeg without tile=", e)
	case jpeg && !noTile && !e.Progressive && e.Interval == 0 && preprocess.CanTile:
		e.Interval = preprocess.DefaultInterval
	}
	return e, nil
}

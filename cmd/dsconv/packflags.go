package main

import (
	"encoding"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

func packFlags() []cli.Flag {
	return slices.Concat(readFlags("SRC"), sourceFlags("above", ""), writeFlags(
		&cli.StringFlag{Name: "format", Usage: "`FORMAT` of DST: lmdb, hdf5 (h5), shard (tar, webdataset) or tfrecord", DefaultText: "by DST's suffix"},
		&cli.BoolFlag{Name: "force", Usage: "replace DST if it is a dataset that dsconv wrote"},
		&cli.StringFlag{Name: "like", Usage: "pack with the options and the classes of `DATASET`: val/ as train.lmdb was packed", DefaultText: "by the flags"},
		&cli.StringFlag{Name: "split", Value: "auto", Usage: "`SPLITS`: auto (folders train/, val/, ...), none, train=0.9,val=0.1 (with :seed=3 other images), or a column of the labels"},
		&cli.StringFlag{Name: "resize", Usage: "resize to `SIZE`: shorter:256, longer:N, exact:WxH, fit:WxH or cover:WxH"},
		&cli.BoolFlag{Name: "upscale", Usage: "let shorter, longer and fit enlarge small images"},
		&cli.StringFlag{Name: "filter", Value: "bilinear", Usage: "`FILTER` of --resize: nearest, box, bilinear, hamming, bicubic or lanczos, antialiased like Pillow's"},
		&cli.StringFlag{Name: "encode", Value: "keep", Usage: "`ENCODING` of the images: keep (copy the bytes), jpeg-tiled, jpeg:90, png or raw; see above"},
		&cli.BoolFlag{Name: "no-tile", Usage: "with --encode jpeg: write no restart markers, like Pillow"},
		&cli.BoolFlag{Name: "strip", Usage: "with --encode jpeg-tiled: drop metadata except the EXIF orientation"},
		&cli.StringFlag{Name: "decode", Value: "exact", Usage: "`MODE` of decoding JPEGs: exact (Pillow's pixels), or fast (at a reduced size if that is enough; pixels close to Pillow's)"},
		&cli.StringFlag{Name: "decoder", Value: "cpu", Usage: "`DECODER` of JPEGs: cpu, or gpu (decode and resize on an NVIDIA GPU; pixels close to Pillow's); see above"},
		nvjpegFlag("with --decoder gpu: `PATH` of libnvjpeg.so"),
		&cli.StringFlag{Name: "color", Value: "rgb", Usage: "`COLOR` of images that are encoded again: rgb, gray or keep"},
		&cli.StringFlag{Name: "exif", Value: "keep", Usage: "`ACTION` for the EXIF orientation: keep (ignore it, as ImageFolder does) or apply"},
		&cli.IntFlag{Name: "max-pixels", Usage: "skip images of more than `N` pixels", DefaultText: "Pillow's limit"},
		&cli.StringFlag{Name: "compress", Usage: "compress raw pixels and tars; `METHOD` is zstd or zstd:LEVEL"},
		&cli.StringFlag{Name: "shard-size", Usage: "write shards of `SIZE`, such as 500MB", DefaultText: "1GB"},
		&cli.IntFlag{Name: "shard-count", Aliases: []string{"shards"}, Usage: "write exactly `N` shards", DefaultText: "by size"},
		&cli.IntFlag{Name: "min-shards", Usage: "write at least `N` shards", DefaultText: "1"},
		&cli.StringFlag{Name: "order", Usage: "`ORDER` of samples in tars and TFRecords: key or shuffle:SEED", DefaultText: "shuffle:0"},
		&cli.IntFlag{Name: "io-workers", Usage: "`N` goroutines that read", DefaultText: "4 or more; up to 32 if the disk is slow to answer"},
		&cli.IntFlag{Name: "limit", Usage: "pack only the first `N` images by key", DefaultText: "all"},
		&cli.IntFlag{Name: "sample", Usage: "pack a random sample of `N` images, which --seed decides", DefaultText: "all"},
		&cli.Uint64Flag{Name: "seed", Usage: "with --sample: another `N` chooses other images"},
		&cli.StringFlag{Name: "on-error", Value: "skip", Usage: "`POLICY` for bad images: skip or fail"},
		maxSkippedFlag(),
		&cli.StringFlag{Name: "check", Value: "structure", Usage: "`CHECK` of images that are copied: structure, or decode (decode each of them)"},
		&cli.BoolFlag{Name: "stats", Usage: "record mean and deviation of each channel, class balance and sizes in the dataset; each image is decoded for it"},
		&cli.BoolFlag{Name: "strict", Usage: "treat irregular images, which are readable, as bad"},
		&cli.StringFlag{Name: "report", Usage: "write the skipped images and warnings to `FILE`, which ends in .csv; unprintable names are quoted: \"a\\xffb.jpg\"", DefaultText: "DST.report.csv"},
	))
}

// parsePack parses the arguments SRC... DST and the flags of a pack.
func parsePack(cc *cli.Context, c *console) (sources []string, dst string, o *writeOptions, err error) {
	args, err := argumentsOrMore(cc, "SRC", "DST")
	if err != nil {
		return nil, "", nil, err
	}
	sources, dst = args[:len(args)-1], args[len(args)-1]
	if o, err = parsePackFlags(cc, c); err != nil {
		return nil, "", nil, err
	}
	o.src, o.folder.Stdin = strings.Join(sources, ", "), c.in
	return sources, dst, o, checkTable(cc, &o.folder, sources)
}

func parsePackFlags(cc *cli.Context, c *console) (*writeOptions, error) {
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return nil, err
	}
	o.format, o.report = cc.String("format"), cc.String("report")
	if o.read, err = readOptions(cc); err != nil {
		return nil, err
	}
	if o.folder, err = sourceConfig(cc, cc.Args().First()); err != nil {
		return nil, err
	}
	o.folder.Memory = memory(cc)
	o.convert.Patterns, o.convert.Limit, o.convert.IOWorkers = o.folder.Patterns, cc.Int("limit"), cc.Int("io-workers")
	o.convert.Stats = cc.Bool("stats")
	o.convert.Create = formats.CreateOptions{Replace: cc.Bool("force")}
	if o.convert.Sample = cc.Int("sample"); cc.IsSet("sample") {
		o.convert.SampleSeed = cc.Uint64("seed")
	}
	switch {
	case cc.IsSet("sample") && cc.IsSet("limit"):
		return nil, usageErrorf("--sample and --limit exclude each other: --limit takes the first images, --sample random ones")
	case cc.IsSet("seed") && !cc.IsSet("sample"):
		return nil, usageErrorf("--seed is for --sample N; --order shuffle:N decides the order, and --split train=0.9,val=0.1:seed=N the splits")
	}
	if err := positive(cc, "limit", "sample", "workers", "io-workers", "shard-count", "min-shards", "max-pixels"); err != nil {
		return nil, usageError{err}
	}
	if err := parsePackSyntax(cc, o); err != nil {
		return nil, usageError{err}
	}
	if path := cc.String("like"); path != "" {
		return o, o.packLike(cc, path)
	}
	return o, nil
}

// parsePackSyntax parses the flags whose values have a syntax.
func parsePackSyntax(cc *cli.Context, o *writeOptions) (err error) {
	if err := o.parseSkipping(cc); err != nil {
		return err
	}
	if err := o.parseCheck(cc); err != nil {
		return err
	}
	if err := parseSize(cc, "shard-size", &o.convert.Shards.Size); err != nil {
		return err
	}
	o.convert.Shards.Count, o.convert.Shards.Min = cc.Int("shard-count"), cc.Int("min-shards")
	if o.convert.Shards.Count > 0 {
		o.convert.Shards.Size = 0 // the count overrides it
	}
	parseFlag(cc, "split", &o.convert.Split, parseSplitter, &err)
	parseFlag(cc, "order", &o.convert.Order, parseOrder, &err)
	r := &o.convert.Recipe
	r.Upscale, r.MaxPixels, r.Strip = cc.Bool("upscale"), cc.Int("max-pixels"), cc.Bool("strip")
	if cc.String("resize") != "" {
		parseText(cc, "resize", &r.Resize, &err)
	}
	noTile := cc.Bool("no-tile")
	parseFlag(cc, "encode", &r.Encode, func(s string) (codec.EncodeOptions, error) { return parseEncode(s, noTile) }, &err)
	parseText(cc, "decode", &r.Decode, &err)
	parseText(cc, "decoder", &r.Decoder, &err)
	parseText(cc, "filter", &r.Filter, &err)
	parseText(cc, "color", &r.Color, &err)
	parseText(cc, "exif", &r.EXIF, &err)
	// convert.New decides whether the level applies to the files or to raw pixels.
	parseText(cc, "compress", (*preprocess.Zstd)(&o.convert.Create.Zstd), &err)
	return err
}

func parseSplitter(s string) (convert.Splitter, error) {
	return convert.Splitter(s), convert.Splitter(s).Validate()
}

func parseOrder(s string) (convert.Order, error) {
	return convert.Order(s), convert.Order(s).Validate()
}

// parseFlag sets to to the parsed value of a flag, unless err is set; it sets err if parsing fails.
func parseFlag[T any](cc *cli.Context, flag string, to *T, parse func(string) (T, error), err *error) {
	if *err == nil {
		*to, *err = parse(cc.String(flag))
	}
}

// parseText is parseFlag for values that read their own text.
func parseText(cc *cli.Context, flag string, to encoding.TextUnmarshaler, err *error) {
	if *err == nil {
		*err = to.UnmarshalText([]byte(cc.String(flag)))
	}
}

// parseCheck parses --check and --strict.
func (o *writeOptions) parseCheck(cc *cli.Context) error {
	switch check := cc.String("check"); check {
	case "structure":
	case "decode":
		o.convert.Recipe.Check = preprocess.CheckDecode
	default:
		return fmt.Errorf("--check %s: use structure or decode", check)
	}
	o.convert.Recipe.Strict = cc.Bool("strict")
	return nil
}

// parseEncode parses --encode. JPEGs that are encoded are tiled by default, unless noTile is set or
// they are progressive.
func parseEncode(s string, noTile bool) (codec.EncodeOptions, error) {
	var e codec.EncodeOptions
	err := e.UnmarshalText([]byte(s))
	isJPEG := e.Encoding == formats.JPEG
	switch {
	case err != nil:
		return e, err
	case noTile && (!isJPEG || e.Interval > 0):
		return e, fmt.Errorf("--encode %s: --no-tile is for --encode jpeg without tile=", e)
	case isJPEG && !noTile && !e.Progressive && e.Interval == 0:
		e.Interval = codec.DefaultInterval
	}
	return e, nil
}

// recipeFlags decide what is done to the images. --like takes their values from a dataset.
var recipeFlags = []string{
	"resize", "upscale", "filter", "encode", "no-tile", "strip", "decode", "decoder", "color", "exif", "max-pixels", "compress", "check", "strict",
	"class-order",
}

// packLike gives o the recipe and the labels of the dataset at path. Tables, annotations and patterns are those of the sources.
func (o *writeOptions) packLike(cc *cli.Context, path string) error {
	for _, flag := range recipeFlags {
		if cc.IsSet(flag) {
			return usageErrorf("--like %s decides --%s: leave one of them out", path, flag)
		}
	}
	m, err := edit.Describe(cc.Context, dsconv.Formats(), path)
	if err != nil {
		return editError(fmt.Errorf("--like %s: %w", path, err), false, path)
	}
	r, err := preprocess.ParseRecipe(m.Recipe)
	if err != nil {
		return fmt.Errorf("--like %s: its recipe: %w", path, err)
	}
	if err := r.CheckPixels(m.Recipe); err != nil {
		return usageErrorf("--like %s: %w: the pixels would differ", path, err)
	}
	o.convert.Create.Zstd, r.Zstd = int(r.Zstd), 0
	o.convert.Recipe = r
	if o.folder, err = likeConfig(cc, path, m.Recipe); err != nil {
		return err
	}
	o.folder.Like = m.SourceSchema()
	return nil
}

// likeConfig returns how sources are read as those of the dataset at path, whose recipe is given: by the flags, else as they were packed.
func likeConfig(cc *cli.Context, path string, recipe map[string]string) (folder.Config, error) {
	cfg := flagsOrRecipe(cc, recipe)
	cfg.ClassOrder = "" // the dataset's classes have their order
	for key, value := range recipe {
		flag, _ := flagOf(key)
		_, file := recipepath.ForFolder(value)
		named := key == "labels" || recipepath.IsFolderLabels(key) || (key == "boxes" || key == "captions") && !strings.Contains(file, "{")
		if named && value != "" && !cc.IsSet(flag) {
			return cfg, usageErrorf("%s was packed with --%s %s: give that of these images with --%s", path, flag, value, flag)
		}
	}
	if err := parseLabels(cc.StringSlice("labels"), &cfg); err != nil {
		return cfg, usageError{err}
	}
	cfg.Patterns = parsePatterns(cc)
	return cfg, nil
}

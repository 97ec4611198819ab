package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"strings"

	"github.com/disintegration/imaging"
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/contactsheet"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/outside"
	"github.com/dsconv/dsconv/reader/augment"
)

func showCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "draw some images of a dataset on one picture",
		ArgsUsage: "DATASET [KEY...]",
		Description: `Draws random images with the names of their classes below them, as many of each class as possible:
from left to right and from top to bottom, class by class. Images are drawn as a loader gives them:
one whose EXIF orientation was not applied when it was packed lies on its side. Boxes are drawn
around what they mark. A sample that cannot be read has an empty tile with its key.

With --augment each row has one sample: the image, then what a loader with these transforms and
this seed makes of it in its epochs 0, 1, 2 and so on, without MixUp and CutMix. Normalised pixels are
shown as they were before. With --split these are the draws of a loader of that split.

Keys and flags say which samples may be drawn. If there are keys, all of them are.
` + selectionHelp + `

Examples:
   dsconv show out.lmdb -o sheet.png
   dsconv show images/ -o cats.jpg --class cat -n 100 --columns 10
   dsconv show out.lmdb -o draws.png --augment rrc:224,flip,normalize
   dsconv show out.lmdb -o - cat/0001 cat/0002 | display

Augmentations:
   ` + strings.ReplaceAll(augment.Syntax, "\n", "\n   ") + `

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but some samples cannot be read.`,
		Flags: append(readFlags("DATASET"), selectionFlags(
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the picture to `FILE`.png or .jpg, or with - as PNG to standard output"},
			&cli.BoolFlag{Name: "force", Usage: "replace the file if it exists"},
			&cli.IntFlag{Name: "number", Aliases: []string{"n"}, Usage: "show `N` samples", DefaultText: fmt.Sprintf("%d; with --augment %d; with keys all", contactsheet.DefaultSamples, contactsheet.DefaultAugmented)},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of the choice and of the augmentation"},
			&cli.StringFlag{Name: "augment", Usage: "show what `OPS` make of each image, such as rrc:224,flip,normalize"},
			&cli.IntFlag{Name: "columns", Usage: "`N` tiles in a row", DefaultText: fmt.Sprint(contactsheet.DefaultColumns)},
			&cli.IntFlag{Name: "size", Usage: "side of a tile in `PIXELS`", DefaultText: fmt.Sprintf("%d; with --augment at least that of the augmented images", contactsheet.DefaultSize)},
			&cli.IntFlag{Name: "max-pixels", Usage: "an image of more than `N` pixels is bad", DefaultText: "Pillow's limit"},
			&cli.BoolFlag{Name: "json", Usage: "print what the picture shows as JSON"},
		)...),
		Action: func(cc *cli.Context) error { return show(cc, c) },
	}
}

func show(cc *cli.Context, c *console) error {
	args, err := argumentsOrMore(cc, "DATASET")
	if err != nil {
		return err
	}
	out, err := newPicture(cc, c, args[0])
	if err != nil {
		return err
	}
	o, err := showOptions(cc)
	if err != nil {
		return usageError{err}
	}
	wanted, err := parseSelection(cc, c, args[1:])
	if err != nil {
		return err
	}
	ds, err := openSource(cc, args[0], folder.Config{})
	if err != nil {
		return err
	}
	defer ds.Close()
	chosen, err := wanted.chooseOne(ds)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	o.Wanted, o.Splits = chosen.has, wanted.splits
	if wanted.hasKeys() && o.Samples == 0 {
		o.Samples = chosen.count
	}
	sheet, err := contactsheet.Make(cc.Context, ds, o)
	if errors.Is(err, contactsheet.ErrOptions) {
		return usageError{fmt.Errorf("%s: %w", args[0], err)}
	} else if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if err := out.write(sheet.Image); err != nil {
		return err
	}
	return out.report(cc, ds.Meta().Classes() == nil, sheet)
}

// showOptions reads the flags of show but those of selectionFlags.
func showOptions(cc *cli.Context) (o contactsheet.Options, err error) {
	if err := positive(cc, "number", "columns", "size", "max-pixels"); err != nil {
		return o, err
	}
	o = contactsheet.Options{
		Samples: cc.Int("number"), Seed: cc.Uint64("seed"), Columns: cc.Int("columns"), Size: cc.Int("size"), MaxPixels: cc.Int("max-pixels"),
	}
	o.Transforms, err = augment.Parse(cc.String("augment"))
	if err == nil && cc.IsSet("augment") && len(o.Transforms) == 0 {
		err = errors.New("--augment is empty")
	}
	return o, err
}

// picture is the file that a sheet is written to.
type picture struct {
	c        *console
	path     string
	standard bool // it is standard output
	format   imaging.Format
}

// newPicture checks the file before anything is read.
func newPicture(cc *cli.Context, c *console, src string) (*picture, error) {
	p := &picture{c: c, path: cc.String("output"), format: imaging.PNG}
	fd, open := durable.Descriptor(p.path)
	if p.standard = p.path == "-" || open && fd == 1; p.standard {
		return p, p.checkStandard(cc)
	}
	if p.path == "" {
		return nil, usageErrorf("--output FILE is missing: write the name of a PNG or JPEG file, or - for standard output")
	}
	format, err := imaging.FormatFromFilename(p.path)
	switch {
	case err == nil && (format == imaging.PNG || format == imaging.JPEG):
		p.format = format
	case !open:
		return nil, usageErrorf("--output %s: the suffix must be .png, .jpg or .jpeg", p.path)
	}
	if st, err := os.Lstat(p.path); err == nil && st.Mode().IsRegular() && !cc.Bool("force") {
		return nil, fmt.Errorf("%s %w: choose another name, or replace it with --force", p.path, formats.ErrExists)
	}
	if err := errors.Join(durable.Check(p.path), outside.Check(p.path, src)); err != nil {
		return nil, err
	}
	return p, durable.CheckParent(p.path)
}

// checkStandard returns an error if standard output cannot take a picture.
func (p *picture) checkStandard(cc *cli.Context) error {
	if p.c.terminal {
		return usageErrorf("--output %s: standard output is a terminal, which cannot show a PNG: write it to a file or a pipe", p.path)
	}
	if cc.Bool("json") {
		return usageErrorf("--json and --output %s both write to standard output: give the picture a file", p.path)
	}
	return nil
}

func (p *picture) write(m image.Image) error {
	if p.format == imaging.JPEG && max(m.Bounds().Dx(), m.Bounds().Dy()) > 65535 {
		return usageErrorf("%s: a JPEG has at most 65535 rows and columns, and the picture is %dx%d: write a PNG, or choose fewer samples", p.path, m.Bounds().Dx(), m.Bounds().Dy())
	}
	write := func(w io.Writer) error {
		return imaging.Encode(w, m, p.format, imaging.JPEGQuality(92))
	}
	if !p.standard {
		return durable.Write(p.path, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := p.c.out.Write(b.Bytes())
	return err
}

// shownSample is a sample in show --json.
type shownSample struct {
	Index  int      `json:"index"`
	Key    string   `json:"key"`
	Labels []string `json:"labels,omitempty"`
	Damage string   `json:"damage,omitempty"`
}

// report prints what was written; numbers says that the labels are no classes. errSkipped is returned if
// samples are missing.
func (p *picture) report(cc *cli.Context, numbers bool, s *contactsheet.Sheet) error {
	classes := map[string]bool{}
	result := struct {
		File    string        `json:"file"`
		Width   int           `json:"width"`
		Height  int           `json:"height"`
		Columns int           `json:"columns"`
		Rows    int           `json:"rows"`
		Damaged int           `json:"damaged"`
		Samples []shownSample `json:"samples"`
	}{File: p.path, Width: s.Image.Rect.Dx(), Height: s.Image.Rect.Dy(), Columns: s.Columns, Rows: s.Rows}
	var bad []string
	for _, sample := range s.Samples {
		row := shownSample{Index: sample.Index, Key: sample.Key, Labels: sample.Labels}
		if sample.Damage != nil {
			row.Damage = sample.Damage.Error()
			bad = append(bad, row.Damage)
		}
		for _, name := range row.Labels {
			classes[name] = true
		}
		result.Samples = append(result.Samples, row)
	}
	result.Damaged = len(bad)
	switch {
	case cc.Bool("json"):
		if err := p.c.json(result); err != nil {
			return err
		}
	case !p.standard:
		p.c.printf("%s: %d samples", p.path, len(s.Samples))
		if len(classes) > 0 && !numbers {
			p.c.printf(" of %d class%s", len(classes), map[bool]string{false: "es"}[len(classes) == 1])
		}
		p.c.printf(", %dx%d pixels\n", result.Width, result.Height)
	}
	for _, text := range bad[:min(10, len(bad))] {
		p.c.logf("cannot be shown: %s", strings.ReplaceAll(text, "\n", " "))
	}
	if len(bad) > 0 {
		return errSkipped
	}
	return nil
}

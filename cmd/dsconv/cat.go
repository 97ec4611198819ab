package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func catCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "cat",
		Usage:     "write an image to standard output, or several into a folder",
		ArgsUsage: "DATASET [KEY...]",
		Description: "Writes the bytes as they are stored. Raw pixels are written as PNG. Several images need --output DIR;\n" +
			"their files get the names that dsconv unpack gives them, and no file is replaced.\n\n" + selectionHelp + "\n\n" +
			"Examples:\n   dsconv cat out.lmdb cat/0001 > 0001.jpg\n   dsconv cat out.lmdb --class cat -o cats\n\n" + exitCodes,
		Flags: append(readFlags("DATASET"), selectionFlags(
			&cli.StringFlag{Name: "field", Usage: "write this `FIELD` of the samples", DefaultText: "the image"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write a file for each sample into the folder `DIR`"},
		)...),
		Action: func(cc *cli.Context) error {
			args, err := argumentsOrMore(cc, "DATASET")
			if err != nil {
				return err
			}
			s, err := parseSelection(cc, c, args[1:])
			if err != nil {
				return err
			}
			if s.all() {
				return usageErrorf("KEY is missing: see dsconv cat --help")
			}
			ds, err := openSource(cc, args[0], folder.Config{})
			if err != nil {
				return err
			}
			defer ds.Close()
			if err := cat(cc, c, ds, s); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
}

func cat(cc *cli.Context, c *console, ds formats.Dataset, s *selection) error {
	f := ds.Meta().Schema.ImageIndex()
	if name := cc.String("field"); name != "" {
		if f = ds.Meta().Schema.Index(name); f < 0 {
			return unknownFieldError(ds.Meta(), name)
		}
	}
	only, err := s.chooseOne(ds)
	if err != nil {
		return err
	}
	if dir := cc.String("output"); dir != "" {
		return catInto(cc.Context, c, ds, dir, only, f)
	}
	if cc.IsSet("output") {
		return usageErrorf("--output: the name of the folder is empty")
	}
	if only.count > 1 {
		return usageErrorf("%d samples are selected, but standard output takes one: give --output DIR for a file each", only.count)
	}
	i := 0
	for !only.has(i) {
		i++
	}
	v, err := readValue(ds, i, f)
	if err != nil {
		return err
	}
	_, err = c.out.Write(v.Data)
	return err
}

// catInto writes field f of the selected samples into files in dir.
func catInto(ctx context.Context, c *console, ds formats.Dataset, dir string, only *chosenSamples, f int) error {
	if err := formats.CheckPath(dir); err != nil {
		return err
	}
	field := &ds.Meta().Schema[f]
	if field.Kind.IsLabel() {
		return usageErrorf("field %s is a label: dsconv ls --long prints labels", field.Name)
	}
	u := &unpacker{ds: ds, dir: dir}
	var err error
	if u.plan, err = planUnpack(ds, "", only); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if u.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	defer u.root.Close()
	for at, i := range u.plan.indices {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := readValue(ds, int(i), f)
		if err != nil {
			return err
		}
		name := u.plan.names[at]
		if f != ds.Meta().Schema.ImageIndex() {
			name = u.plan.fieldFileName(at, field, v.Encoding)
		}
		if err := u.write(name, v.Data, 0); err != nil {
			return err
		}
	}
	c.printf("%s: %d files\n", dir, len(u.plan.indices))
	return nil
}

// readValue reads field f of sample i. Raw pixels are converted to PNG.
func readValue(ds formats.Dataset, i, f int) (*formats.Value, error) {
	var s formats.Sample
	if err := ds.Read(i, &s); err != nil {
		return nil, err
	}
	v := &s.Values[f]
	if kind := ds.Meta().Schema[f].Kind; kind != formats.Image && kind != formats.Mask {
		return v, nil
	}
	coder := newPNGCoder()
	defer coder.close()
	return v, coder.toPNG(v)
}

// unknownFieldError returns the error for an unknown field. A likely mistake is the name of a column.
func unknownFieldError(m *formats.Meta, field string) error {
	hint := ""
	if slices.Contains(m.Columns, field) {
		hint = fmt.Sprintf("; %q is a column: dsconv ls --json prints columns", field)
	}
	return fmt.Errorf("unknown field %q; the dataset has %s%s", field, strings.Join(m.Schema.Names(), ", "), hint)
}

// pngCoder converts raw pixels to PNG. It belongs to one goroutine.
type pngCoder struct {
	dec *codec.Decoder
	enc *codec.Encoder
	img pixel.Image
}

func newPNGCoder() *pngCoder {
	return &pngCoder{dec: codec.NewDecoder(), enc: codec.NewEncoder()}
}

func (p *pngCoder) close() {
	p.dec.Close()
	p.enc.Close()
}

// toPNG converts v to PNG if it is raw pixels.
func (p *pngCoder) toPNG(v *formats.Value) error {
	if !v.Encoding.IsRaw() {
		return nil
	}
	if err := p.dec.Decode(&p.img, v, codec.DecodeOptions{Color: pixel.ColorKeep}); err != nil {
		return err
	}
	return p.enc.Encode(v, &p.img, codec.EncodeOptions{Encoding: formats.PNG}, 0)
}

package main

import (
	"fmt"
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
		Usage:     "write an image to standard output",
		ArgsUsage: "DATASET KEY",
		Description: "Writes the bytes as they are stored. Raw pixels are written as PNG. dsconv unpack writes several images.\n\n" +
			"Example:\n   dsconv cat out.lmdb cat/0001 > 0001.jpg\n\n" + exitCodes,
		Flags: append(readFlags("DATASET"), &cli.StringFlag{Name: "field", Usage: "write this `FIELD` of the sample", DefaultText: "the image"}),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET", "KEY")
			if err != nil {
				return err
			}
			ds, err := openSource(cc, args[0], folder.Config{})
			if err != nil {
				return err
			}
			defer ds.Close()
			if err := cat(cc, c, ds, nameFrom(args[1])); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
}

func cat(cc *cli.Context, c *console, ds formats.Dataset, key string) error {
	f := ds.Meta().Schema.ImageIndex()
	if name := cc.String("field"); name != "" {
		if f = ds.Meta().Schema.Index(name); f < 0 {
			return unknownFieldError(ds.Meta(), name)
		}
	}
	i, err := findKey(ds, key)
	if err != nil {
		return err
	}
	v, err := readValue(ds, i, f)
	if err != nil {
		return err
	}
	_, err = c.out.Write(v.Data)
	return err
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

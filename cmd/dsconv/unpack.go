package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/npy"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
)

func unpackCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "unpack",
		Usage:     "write a dataset back as a folder of images",
		ArgsUsage: "DATASET DIR",
		Description: "Images get the names that they came from, if they still are of that type, and their bytes as\n" +
			"they are stored; raw pixels are written as PNG. Further fields lie beside the image, and what a\n" +
			"folder cannot say (several labels, columns) is in labels.csv. Nothing is written outside DIR.\n\n" +
			"Example:\n   dsconv unpack out.lmdb images/\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "split", Usage: "only this `SPLIT`"},
			&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines", DefaultText: "the number of cores"},
		},
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET", "DIR")
			if err != nil {
				return err
			}
			if err := formats.CheckLocal(args[1]); err != nil {
				return err
			}
			ds, err := openSource(cc.Context, args[0], folder.Config{})
			if err != nil {
				return err
			}
			defer ds.Close()
			table, n, err := unpack(cc.Context, ds, args[1], cc.String("split"), cc.Int("workers"))
			if err != nil {
				return err
			}
			c.printf("%s: %d samples\n", args[1], n)
			if table != "" && table != labelsTable {
				c.printf("an image is called %s, so the labels are in %s\n", labelsTable, table)
			}
			return nil
		},
	}
}

// unpacker writes samples below a root that no name can leave.
type unpacker struct {
	ds    formats.Dataset
	root  *os.Root
	split string
	table string // the name of the table of labels; "" if none is needed
	n     atomic.Int64
}

// unpack gives the name of the table of labels, if there is one, and the number of samples.
func unpack(ctx context.Context, ds formats.Dataset, dir, split string, workers int) (string, int, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", 0, fmt.Errorf("%s is not empty: unpack into a new folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", 0, err
	}
	defer root.Close()
	u := &unpacker{ds: ds, root: root, split: split}
	needed, err := u.needsTable()
	if err == nil && needed {
		u.table, err = u.tableName()
	}
	if err != nil {
		return "", 0, err
	}
	if err := u.samples(ctx, workers); err != nil {
		return "", 0, err
	}
	if needed {
		if err := u.writeTable(); err != nil {
			return "", 0, err
		}
	}
	return u.table, int(u.n.Load()), nil
}

func (u *unpacker) samples(ctx context.Context, workers int) error {
	return parallel.Each(ctx, u.ds.Len(), workers, func() (func(int) error, func(), error) {
		coder := newPNGCoder()
		var s formats.Sample
		return func(i int) error { return u.sample(i, &s, coder) }, coder.close, nil
	})
}

func (u *unpacker) sample(i int, s *formats.Sample, coder *pngCoder) error {
	in, err := u.ds.Info(i)
	if err != nil {
		return err
	}
	if u.split != "" && in.Split != u.split {
		return nil
	}
	return guard.For(fmt.Sprintf("key %q", in.Key), func() error { return u.files(i, &in, s, coder) })
}

// files writes the files of sample i.
func (u *unpacker) files(i int, in *formats.Info, s *formats.Sample, coder *pngCoder) error {
	if err := u.ds.Read(i, s); err != nil {
		return err
	}
	schema := u.ds.Meta().Schema
	img := schema.ImageIndex()
	if err := coder.pixels(&s.Values[img]); err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	name := fileName(in, s.Values[img].Encoding)
	if err := u.write(name, s.Values[img].Data, in.Source.ModTime); err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	for f := range schema {
		if f == img || schema[f].Kind.IsLabel() {
			continue
		}
		if err := u.further(s, f, coder); err != nil {
			return fmt.Errorf("key %q: field %s: %w", s.Key, schema[f].Name, err)
		}
	}
	u.n.Add(1)
	return nil
}

// further writes a field other than the image and the labels, as KEY.NAME.EXT.
func (u *unpacker) further(s *formats.Sample, f int, coder *pngCoder) error {
	field, v := u.ds.Meta().Schema[f], &s.Values[f]
	ext := ".bin"
	data := v.Data
	switch field.Kind {
	case formats.Image, formats.Mask:
		if err := coder.pixels(v); err != nil {
			return err
		}
		ext, data = v.Encoding.Extension(), v.Data
	case formats.Text:
		ext = ".txt"
	case formats.JSON:
		ext = ".json"
	case formats.Boxes, formats.Array:
		ext = ".npy"
		data = append(npy.AppendHeader(nil, v.DType, v.Shape), v.Data...)
	}
	return u.write(s.Key+"."+field.Name+ext, data, 0)
}

// fileName is the path that the image came from if it still has the type that its
// extension says, else the key with its own extension.
func fileName(in *formats.Info, enc formats.Encoding) string {
	ext := strings.ToLower(path.Ext(in.Source.Path))
	same := ext == enc.Extension() || enc == formats.JPEG && (ext == ".jpeg" || ext == ".jpe" || ext == ".jfif") ||
		enc == formats.TIFF && ext == ".tiff"
	if same && filepath.IsLocal(filepath.FromSlash(in.Source.Path)) {
		return in.Source.Path
	}
	if in.Encoding == enc && ext != "" && strings.TrimSuffix(in.Source.Path, path.Ext(in.Source.Path)) == in.Key {
		return in.Source.Path // a PNG that is called .jpg stays so
	}
	return in.Key + enc.Extension()
}

func (u *unpacker) write(name string, data []byte, modTime int64) error {
	name = filepath.FromSlash(name)
	if err := u.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if modTime != 0 {
		t := time.Unix(0, modTime)
		return u.root.Chtimes(name, t, t)
	}
	return nil
}

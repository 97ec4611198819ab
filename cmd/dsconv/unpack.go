package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
)

func unpackCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "unpack",
		Usage:     "write a dataset as a folder of images",
		ArgsUsage: "DATASET DIR [KEY...]",
		Description: "Images get the names of the files that they were packed from, unless their type has changed.\n" +
			"Their bytes are written as they are stored; raw pixels are written as PNG. Fields that are neither\n" +
			"the image nor a label become files beside the image. If class folders cannot represent the labels,\n" +
			"splits and columns, the table labels.csv has them, and labels.json describes the table:\n" +
			"   dsconv pack DIR DST --labels DIR/labels.json\n" +
			"packs the same samples again, with the same keys, labels, classes, splits and columns. If\n" +
			"there is no table, dsconv pack DIR DST is enough. Nothing is written outside DIR, and no file is replaced.\n\n" +
			selectionHelp + "\n\n" +
			"Until DIR is complete it has a file " + markerName + ". After an interruption repeat the command to\n" +
			"resume it.\n\n" +
			"Examples:\n   dsconv unpack out.lmdb images/\n   dsconv unpack out.lmdb cats/ --class cat --split val\n\n" + exitCodes,
		Flags: slices.Concat(readFlags("DATASET"), selectionFlags(workersFlag("goroutines that read and write")), resultFlags()),
		Action: func(cc *cli.Context) error {
			args, err := argumentsOrMore(cc, "DATASET", "DIR")
			if err != nil {
				return err
			}
			s, err := parseSelection(cc, c, args[2:])
			if err != nil {
				return err
			}
			ds, err := openSource(cc, args[0], folder.Config{})
			if err != nil {
				return err
			}
			defer ds.Close()
			if err := formats.CheckPath(args[1]); err != nil {
				return err
			}
			only, err := s.chooseOne(ds)
			if err != nil {
				return err
			}
			show, err := newProgress(cc, c, progressWords{unit: "images", finish: "syncing to the disk"})
			if err != nil {
				return err
			}
			u, err := unpack(cc.Context, ds, args[1], strings.Join(s.splits, ","), only, cc.Int("workers"), show.show)
			show.end()
			if err != nil {
				return err
			}
			switch {
			case cc.Bool("json"):
				return c.json(u.result())
			case !cc.Bool("quiet"):
				u.print(c)
			}
			return nil
		},
	}
}

// unpacker writes samples into a folder. It uses an os.Root, so no name leads out of the folder.
type unpacker struct {
	ds      formats.Dataset
	dir     string
	root    *os.Root
	marker  *os.File
	plan    *unpackPlan
	written atomic.Int64
	show    func(convert.Progress)
	started time.Time
}

// unpack writes the samples of only to dir; split is that of planUnpack. It calls show with its progress.
func unpack(ctx context.Context, ds formats.Dataset, dir, split string, only *chosenSamples, workers int, show func(convert.Progress)) (*unpacker, error) {
	plan, err := planUnpack(ds, split, only)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	u := &unpacker{ds: ds, dir: dir, plan: plan, show: show, started: time.Now()}
	if u.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	defer u.root.Close()
	if u.marker, err = createMarker(u.root, dir, plan.fingerprint); err != nil {
		return nil, err
	}
	defer u.marker.Close()
	if err := u.run(ctx, workers); err != nil {
		return nil, stoppedError{err, fmt.Sprintf("\n%s is not complete (it has the file %s): repeat the command to resume", dir, markerName)}
	}
	return u, nil
}

func (u *unpacker) run(ctx context.Context, workers int) error {
	if err := u.samples(ctx, workers); err != nil {
		return err
	}
	u.showStep(convert.StepFinish, len(u.plan.indices))
	if u.plan.table != "" {
		if err := u.writeTable(); err != nil {
			return err
		}
	}
	if err := syncDisk(u.marker); err != nil { // the marker stays until everything is on the disk
		return err
	}
	return u.root.Remove(markerName)
}

// unpackResult is the result of unpack, for --json.
type unpackResult struct {
	Path    string `json:"path"`
	Samples int64  `json:"samples"`
	// Table is the table of labels and Labels its description, for pack --labels, if they were written.
	Table  string `json:"table,omitempty"`
	Labels string `json:"labels,omitempty"`
}

func (u *unpacker) result() unpackResult {
	r := unpackResult{Path: u.dir, Samples: u.written.Load()}
	if u.plan.table != "" {
		r.Table, r.Labels = filepath.Join(u.dir, u.plan.table), filepath.Join(u.dir, u.plan.description())
	}
	return r
}

func (u *unpacker) print(c *console) {
	c.printf("%s: %d samples\n", u.dir, u.written.Load())
	p := u.plan
	if p.table == "" {
		return
	}
	if p.stem != labelsStem {
		c.printf("an image has the name %s.csv or .json, so the labels are in %s\n", labelsStem, p.table)
	}
	c.printf("to pack it again: dsconv pack %s DST --labels %s\n", shellWord(u.dir), shellWord(filepath.Join(u.dir, p.description())))
}

// showStep shows how many of the samples are done.
func (u *unpacker) showStep(step convert.Step, done int) {
	u.show(convert.Progress{Path: u.dir, Step: step, Done: done, Total: len(u.plan.indices), Elapsed: time.Since(u.started)})
}

func (u *unpacker) samples(ctx context.Context, workers int) error {
	count := parallel.Counter{Show: func(done int) { u.showStep(convert.StepWrite, done) }}
	return parallel.Each(ctx, len(u.plan.indices), workers, func() (func(int) error, func(), error) {
		coder := newPNGCoder()
		var s formats.Sample
		return func(at int) error {
			err := guard.For(fmt.Sprintf("key %q", u.plan.keyAt(at)), func() error { return u.sample(at, &s, coder) })
			count.Add(1)
			return err
		}, coder.close, nil
	})
}

// sample writes the files of the sample at index at of the plan.
func (u *unpacker) sample(at int, s *formats.Sample, coder *pngCoder) error {
	i := int(u.plan.indices[at])
	in, err := u.ds.Info(i)
	if err != nil {
		return err
	}
	if err := u.ds.Read(i, s); err != nil {
		return err
	}
	schema := u.ds.Meta().Schema
	img := schema.ImageIndex()
	if err := coder.toPNG(&s.Values[img]); err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	if err := u.write(u.plan.names[at], s.Values[img].Data, in.Source.ModTime); err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	for f := range schema {
		if f == img || schema[f].Kind.IsLabel() {
			continue
		}
		name := u.plan.fieldFileName(at, &schema[f], s.Values[f].Encoding)
		data, err := fieldFileData(&schema[f], &s.Values[f], coder)
		if err == nil {
			err = u.write(name, data, 0)
		}
		if err != nil {
			return fmt.Errorf("key %q: field %s: %w", s.Key, schema[f].Name, err)
		}
	}
	u.written.Add(1)
	return nil
}

// fileName returns the path of the image's source file if its extension still fits the image's type,
// else the key with the extension of that type.
func fileName(in *formats.Info, enc formats.Encoding) string {
	ext := strings.ToLower(path.Ext(in.Source.Path))
	same := ext == enc.Extension() || enc == formats.JPEG && (ext == ".jpeg" || ext == ".jpe" || ext == ".jfif") ||
		enc == formats.TIFF && ext == ".tiff"
	if same && filepath.IsLocal(filepath.FromSlash(in.Source.Path)) {
		return path.Clean(in.Source.Path)
	}
	if in.Encoding == enc && ext != "" && strings.TrimSuffix(in.Source.Path, path.Ext(in.Source.Path)) == in.Key {
		return in.Source.Path // a PNG that was called .jpg keeps that name
	}
	return in.Key + enc.Extension()
}

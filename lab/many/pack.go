//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// packedFolder is the folder of the dataset that is packed.
const packedFolder = "packed"

func packedPath(s *settings) string { return filepath.Join(s.dir, packedFolder, "x-%06d.rows") }

func newPlan(s *settings, r *result) (p *convert.Plan, err error) {
	d, err := newMadeUp(s.Samples)
	if err != nil {
		return nil, err
	}
	err = r.timed("plan", func() error {
		p, err = convert.New(context.Background(), d, rowsFormat{}, packedPath(s), convert.Options{Shards: convert.Sharding{Count: s.Shards}})
		return err
	})
	return p, err
}

// plan plans the pack and writes nothing.
func plan(s *settings, r *result) error {
	p, err := newPlan(s, r)
	if err != nil {
		return err
	}
	if p.Len() != s.Samples {
		return fmt.Errorf("%d samples are planned, want %d", p.Len(), s.Samples)
	}
	return r.sizes(s, nil)
}

// pack plans the dataset and writes it.
func pack(s *settings, r *result) error {
	if err := os.MkdirAll(filepath.Dir(packedPath(s)), 0o755); err != nil {
		return err
	}
	p, err := newPlan(s, r)
	if err != nil {
		return err
	}
	var report *convert.Report
	if err := r.timed("run", func() error {
		report, err = p.Run(context.Background())
		return err
	}); err != nil {
		return err
	}
	if report.Written != s.Samples {
		return fmt.Errorf("%d samples were written, want %d", report.Written, s.Samples)
	}
	side := filepath.Join(s.dir, packedFolder, "x.rows.dsconv")
	return r.sizes(s, map[string]string{"manifest": filepath.Join(side, "manifest.parquet"), "index": filepath.Join(side, indexName)})
}

// load opens the packed dataset and a Loader, and looks up samples as a program does.
func load(s *settings, r *result) (err error) {
	d, err := newMadeUp(s.Samples)
	if err != nil {
		return err
	}
	var ds formats.Dataset
	if err := r.timed("open", func() error {
		ds, err = rowsFormat{}.Open(packedPath(s))
		return err
	}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	if err := r.timed("epoch", func() error { return firstBatch(ds) }); err != nil {
		return err
	}
	err = r.lookups(s, d, func(i int) (int64, error) {
		in, err := ds.Info(i)
		return in.Label, err
	}, func(key string) (int, bool, error) {
		i, err := formats.Find(ds, key)
		return i, err == nil, err
	})
	if err != nil {
		return err
	}
	return r.sizes(s, nil)
}

// firstBatch begins a shuffled epoch of the split and loads its first batch.
func firstBatch(ds formats.Dataset) (err error) {
	l, err := reader.New(ds, reader.Config{BatchSize: 64, Shuffle: true, Split: "train", Transforms: augment.Train(side)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for b, err := range l.Epoch(context.Background(), 0) {
		if err == nil && b.N == 0 {
			err = errors.New("an empty batch")
		}
		return err
	}
	return errors.New("no batch")
}

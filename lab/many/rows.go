//go:build linux

package main

import (
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// rowsFormat is a format of shards without their records: samples are all the same image. What describes
// them is written and read as that of tars.
type rowsFormat struct{}

var _ formats.WritableFormat = rowsFormat{}

func (rowsFormat) Name() string { return "rows" }

func (rowsFormat) Match(string) bool { return false }

func (rowsFormat) Traits() formats.Traits { return formats.Traits{Sharded: true} }

func (f rowsFormat) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	m.Format = f.Name()
	s, err := staging.CreateShards(path, m, o, nil)
	if err != nil {
		return nil, err
	}
	return &rowsWriter{Shards: s}, nil
}

func (rowsFormat) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	s, err := staging.ResumeShards(path, formats.CreateOptions{}, nil)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	return &rowsWriter{Shards: s}, s.Stage().Meta, s.Stage().Note, nil
}

type rowsWriter struct{ *staging.Shards }

var record = []byte{1}

func (w *rowsWriter) Write(s *formats.Sample) error {
	st := w.Stage()
	if err := st.CheckSample(s, false); err != nil {
		return err
	}
	at, err := w.Append(record)
	if err != nil {
		return err
	}
	return st.Add(s, at)
}

func (w *rowsWriter) Commit() error {
	return w.Shards.Commit(func(string) ([]string, error) { return nil, nil })
}

func (rowsFormat) Open(path string) (formats.Dataset, error) {
	r, err := sharded.OpenRecords(path)
	if err != nil {
		return nil, err
	}
	image, err := newMadeUp(1)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &rowsDataset{Records: r, image: image}, nil
}

type rowsDataset struct {
	*sharded.Records
	image *madeUp
}

// Read gives each sample the one image, and its own label.
func (d *rowsDataset) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	if err := d.image.Read(0, s); err != nil {
		return err
	}
	s.Key, s.Split, s.Source = in.Key, in.Split, in.Source
	s.Values[1].SetInt64(in.Label)
	return nil
}

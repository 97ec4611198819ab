package tfrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// scanner finds the samples of files.
type scanner struct {
	files  []file
	source *foreign.Source
	layout *layout
	lowest int64 // label
}

// The examples that the fields are judged by: the first ones of the first file, and the first one of each
// of some files.
const (
	surveyedExamples = 100
	surveyedFiles    = 64
)

// each calls do with each frame of file k and the example in it, with most at most.
func (c *scanner) each(s *foreign.Scan, k, most int, do func(at int64, frame, example []byte) error) error {
	data, at := s.Files[k].Data, int64(0)
	for n := 0; at < int64(len(data)) && n != most; n++ {
		frame, example, err := frameAt(data, at)
		if err == nil {
			err = do(at, frame, example)
		}
		if err != nil {
			return fmt.Errorf("%s: byte %d: %w", c.files[k].path, at, err)
		}
		at += int64(len(frame))
	}
	return nil
}

// frameAt returns the frame at byte at and the example in it. The checksum of its length is verified, that of its data is not.
func frameAt(data []byte, at int64) (frame, example []byte, err error) {
	rest := data[at:]
	if at == 0 && isCompressed(rest) {
		return nil, nil, errCompressed
	}
	n, err := tfexample.FrameLength(rest)
	if err == nil && n > int64(len(rest)) {
		err = fmt.Errorf("%w: a frame of %d bytes, but the file ends after %d", formats.ErrDamaged, n, len(rest))
	}
	if err != nil {
		return nil, nil, err
	}
	frame = rest[:n:n]
	if example, err = tfexample.Unframe(frame, false); err == nil && tfexample.IsSequence(example) {
		err = errSequence
	}
	return frame, example, err
}

var errSequence = fmt.Errorf("%w: it is a SequenceExample, whose lists of features are not read: write each record as a tf.train.Example, "+
	"with a list of values where it has a list of features", formats.ErrSchema)

// verifyFrame implements foreign.Source: it compares the data of a frame with its checksum.
func verifyFrame(frame []byte) error {
	_, err := tfexample.Unframe(frame, true)
	return err
}

// survey judges the fields by some examples.
func (c *scanner) survey(s *foreign.Scan) error {
	all := &survey{features: map[string]*seen{}}
	var damaged error
	step := max(1, len(c.files)/surveyedFiles)
	for k := 0; k < len(c.files); k += step {
		most := 1
		if k == 0 || all.examples == 0 {
			most = surveyedExamples
		}
		err := c.each(s, k, most, func(at int64, _, example []byte) error {
			err := all.add(example)
			if errors.Is(err, formats.ErrDamaged) { // the scan skips it
				damaged = cmp.Or(damaged, fmt.Errorf("%s: byte %d: %w", c.files[k].path, at, err))
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if damaged != nil && all.examples == 0 {
		return damaged
	}
	if all.examples == 0 {
		return fmt.Errorf("%s: %w: its files have no records", c.source.Path, formats.ErrNotDataset)
	}
	l, err := newLayout(all, c.source.Options.Map)
	if err != nil {
		return fmt.Errorf("%s: %w", c.source.Path, err)
	}
	c.layout, c.source.Columns = l, l.columns
	return nil
}

// scan implements foreign.Source.
func (c *scanner) scan(ctx context.Context, s *foreign.Scan) error {
	if err := c.survey(s); err != nil {
		return err
	}
	for k := range c.layout.schema {
		if _, err := s.Column(c.layout.schema[k].Name); err != nil {
			return err
		}
	}
	numbers := map[string]int{} // examples so far, by split
	r := &record{c.layout, make([]tfexample.Feature, len(c.layout.names))}
	for k := range c.files {
		split := c.files[k].split
		err := c.each(s, k, -1, func(at int64, frame, example []byte) error {
			one, err := foreign.Sample{}, r.parse(example)
			if err == nil {
				one, err = r.sample(split, numbers[split], k)
			}
			numbers[split]++
			if err == nil {
				err = r.locate(s.Files[k], at, frame, &one)
			}
			switch {
			case errors.Is(err, formats.ErrDamaged):
				return s.SkipBad(fmt.Sprintf("%s, byte %d", c.source.Files[k].Name, at), err)
			case err != nil:
				return err
			}
			if one.Label >= 0 {
				c.lowest = min(c.lowest, one.Label)
			}
			return s.Add(&one)
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// layoutOf implements foreign.Source.
func (c *scanner) layoutOf(*foreign.Found) (*foreign.Layout, error) {
	if c.layout.unclear && c.lowest > 0 && c.lowest < math.MaxInt64 {
		return nil, fmt.Errorf("%w: the smallest label in %s is %d, so nobody knows whether they count from 0 or, as TensorFlow's ImageNet scripts have it, from 1: "+
			"give the map label=%s+0 or label=%s-1", formats.ErrSchema, classLabel, c.lowest, classLabel, classLabel)
	}
	l := &foreign.Layout{Schema: c.layout.schema}
	if durable.Exists(filepath.Join(filepath.Dir(c.files[0].path), "features.json")) {
		l.Notices = []string{"the names of classes, which TensorFlow Datasets has in files of its own, are not read: dsconv.pack(tfds.as_numpy(...), ...) has them: docs/python-datasets.md"}
	}
	for k, from := range c.layout.fields {
		var of foreign.FieldSource
		if c.layout.schema[k].Kind != formats.Label {
			of = foreign.FieldSource{Columns: []int{k}, As: from.as}
		}
		l.Fields = append(l.Fields, of)
	}
	return l, nil
}

// openExamples opens the files at path.
func openExamples(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	files, err := find(path)
	if err != nil {
		return nil, err
	}
	c := &scanner{files: files, lowest: math.MaxInt64}
	c.source = &foreign.Source{Format: Examples{}.Name(), Path: path, Version: 3, Options: o, Scan: c.scan, Layout: c.layoutOf, Decode: decodeFeature, Verify: verifyFrame}
	for _, f := range files {
		name, dir := filepath.Base(f.path), filepath.Base(filepath.Dir(f.path))
		if filepath.Dir(f.path) != filepath.Dir(files[0].path) || len(files) > 1 && dir == f.split {
			name = dir + "/" + name
		}
		c.source.Files = append(c.source.Files, foreign.File{Path: f.path, Name: name, Stem: name})
	}
	return foreign.Open(ctx, c.source)
}

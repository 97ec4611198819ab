package hdf5

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/h5file"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// imageDataset is the samples of an open file. Its index is the arrays themselves.
type imageDataset struct {
	gate    lifetime.Gate
	path    string
	state   filestate.State // of the file when it was opened
	mapping *mapped.Mapping
	file    *h5file.File
	parts   []*part
	starts  []int // the first sample of each part
	meta    formats.Meta
	names   []string // of the extra fields
	labels  []int64  // of all samples, if the label is a class
	skips   []formats.Skip
}

var (
	_ formats.Dataset    = (*imageDataset)(nil)
	_ formats.Viewer     = (*imageDataset)(nil)
	_ formats.Identifier = (*imageDataset)(nil)
	_ formats.Skipper    = (*imageDataset)(nil)
)

// maxSamples is what keys of eight digits can number.
const maxSamples = 100_000_000

func openImages(path string, o formats.ReadOptions) (formats.Dataset, error) {
	st, err := filestate.Of(path)
	if err != nil {
		return nil, formats.NotFound(path)
	}
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	d := &imageDataset{path: path, state: st, mapping: m}
	if err := guard.Read(m.Data, func() error { return d.load(o) }); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), m.Close())
	}
	d.gate.Open(path, m.Close)
	return d, nil
}

// load finds the arrays and reads the labels.
func (d *imageDataset) load(o formats.ReadOptions) (err error) {
	if d.file, err = h5file.Open(d.mapping.Data); err != nil {
		return err
	}
	f := &finder{file: d.file, m: o.Map}
	if err := f.find(); err != nil {
		return err
	}
	d.parts = f.parts
	for _, k := range f.skipped {
		d.skips = append(d.skips, formats.Skip{Path: k.path, Cause: k.cause})
	}
	d.meta = formats.Meta{Version: 1, Format: Images{}.Name(), Recipe: o.Recipe(), Files: []string{filepath.Base(d.path)}}
	for _, p := range d.parts {
		d.starts = append(d.starts, d.meta.Count)
		d.meta.Stats.Bytes += int64(p.count) * int64(p.image.RowSize())
		if d.meta.Count += p.count; d.meta.Count > maxSamples {
			return fmt.Errorf("%w: more than %d rows", formats.ErrSchema, maxSamples)
		}
		if p.split != "" {
			d.meta.Splits = append(d.meta.Splits, formats.Split{Name: p.split, Count: p.count})
		}
	}
	if d.meta.Count == 0 {
		return fmt.Errorf("%w: it has no samples", formats.ErrNotDataset)
	}
	d.meta.Schema = formats.Schema{{Name: "image", Kind: formats.Image}}
	if err := d.loadLabels(d.file); err != nil {
		return err
	}
	for name := range d.parts[0].extras {
		d.names = append(d.names, name)
	}
	slices.Sort(d.names)
	for _, name := range d.names {
		d.meta.Schema = append(d.meta.Schema, foreign.ExtraField(d.meta.Schema, fieldOf(name, d.parts[0].extras[name])))
	}
	return d.meta.Schema.Validate()
}

// partOf returns the part of sample i, and its row there.
func (d *imageDataset) partOf(i int) (*part, int) {
	k := sort.SearchInts(d.starts, i+1) - 1
	for d.parts[k].count == 0 {
		k--
	}
	return d.parts[k], i - d.starts[k]
}

// Meta implements formats.Dataset.
func (d *imageDataset) Meta() *formats.Meta { return &d.meta }

// Len implements formats.Dataset.
func (d *imageDataset) Len() int { return d.meta.Count }

// Skips implements formats.Skipper.
func (d *imageDataset) Skips() []formats.Skip { return d.skips }

// Identify implements formats.Identifier.
func (d *imageDataset) Identify(w io.Writer) error {
	_, err := fmt.Fprint(w, d.state.Size(), d.state.Identity().ModTime, d.meta.Recipe)
	return err
}

func (p *part) key(row int) string {
	if p.split == "" {
		return fmt.Sprintf("%08d", row)
	}
	return fmt.Sprintf("%s/%08d", p.split, row)
}

// check returns an error if there is no sample i.
func (d *imageDataset) check(i int) error {
	if i < 0 || i >= d.meta.Count {
		return fmt.Errorf("%s: index %d out of range: the dataset has %d samples", d.path, i, d.meta.Count)
	}
	return nil
}

// Info implements formats.Dataset.
func (d *imageDataset) Info(i int) (in formats.Info, err error) {
	if err := d.gate.Enter(i); err != nil {
		return in, err
	}
	defer d.gate.Leave(i)
	if err := d.check(i); err != nil {
		return in, err
	}
	p, row := d.partOf(i)
	in.Key, in.Split, in.Label = p.key(row), p.split, formats.NoLabel
	if d.labels != nil {
		in.Label = d.labels[i]
	}
	err = d.guarded(in.Key, func() error {
		v, err := p.imageAt(d.file, row)
		in.Size, in.Encoding = int64(len(v.Data)), v.Encoding
		return err
	})
	in.Source = formats.Source{Path: in.Key, Size: in.Size, ModTime: d.state.Identity().ModTime}
	return in, err
}

// guarded calls read, which reads the sample of that key.
func (d *imageDataset) guarded(key string, read func() error) error {
	err := guard.Read(d.mapping.Data, read)
	if changed := d.state.Check(d.path); changed != nil {
		return fmt.Errorf("key %q: %w", key, changed)
	}
	if err != nil {
		return fmt.Errorf("%s: key %q: %w", d.path, key, err)
	}
	return nil
}

// Read implements formats.Dataset.
func (d *imageDataset) Read(i int, s *formats.Sample) error { return d.read(i, s, false) }

// View implements formats.Viewer.
func (d *imageDataset) View(i int, s *formats.Sample) error { return d.read(i, s, true) }

func (d *imageDataset) read(i int, s *formats.Sample, lend bool) error {
	if err := d.gate.Enter(i); err != nil {
		return err
	}
	defer d.gate.Leave(i)
	if err := d.check(i); err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("%s: sample %d: there is nothing to read it into: the *formats.Sample is nil", d.path, i)
	}
	if lend {
		d.gate.Lend()
	}
	p, row := d.partOf(i)
	s.Key, s.Split, s.Checksum, s.Provenance = p.key(row), p.split, [16]byte{}, formats.Provenance{}
	s.SetColumns()
	s.Resize(len(d.meta.Schema))
	return d.guarded(s.Key, func() error {
		if err := d.fill(i, p, row, s, lend); err != nil {
			return err
		}
		s.Source = formats.Source{Path: s.Key, Size: int64(len(s.Values[0].Data)), ModTime: d.state.Identity().ModTime}
		return nil
	})
}

// fill sets the values of s.
func (d *imageDataset) fill(i int, p *part, row int, s *formats.Sample, lend bool) (err error) {
	for k := range d.meta.Schema {
		field, to := &d.meta.Schema[k], &s.Values[k]
		var v formats.Value
		switch first := len(d.meta.Schema) - len(d.names); {
		case k == 0:
			v, err = p.imageAt(d.file, row)
		case k >= first:
			v, err = extraAt(d.file, field, p.extras[d.names[k-first]], row)
		case field.Kind == formats.Label:
			value.SetLabel(to, d.labels[i], lend)
			continue
		default:
			v, err = labelAt(field, p.label, row)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", field.Name, err)
		}
		if to.Data, to.Encoding, to.DType = v.Data, v.Encoding, v.DType; !lend {
			to.Copy(v.Data)
		}
		to.SetShape(v.Shape...)
	}
	return nil
}

// Lease implements formats.Viewer.
func (d *imageDataset) Lease() (release func(), err error) { return d.gate.Lease() }

// Close implements formats.Dataset.
func (d *imageDataset) Close() error { return d.gate.Close() }

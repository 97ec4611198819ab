package arrays

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
)

// dataset is an open Set.
type dataset struct {
	set    *Set
	gate   lifetime.Gate
	meta   formats.Meta
	ranges []blockRange
}

// blockRange is a Block and the indices of its samples.
type blockRange struct {
	Block
	from      int // index of the block's first sample
	splitFrom int // index of its split's first sample
	digits    int // of the numbers in its split's keys
}

var (
	_ formats.Dataset    = (*dataset)(nil)
	_ formats.Viewer     = (*dataset)(nil)
	_ formats.Identifier = (*dataset)(nil)
)

// Meta implements formats.Dataset.
func (d *dataset) Meta() *formats.Meta { return &d.meta }

// Len implements formats.Dataset.
func (d *dataset) Len() int { return d.meta.Count }

// at returns the block of sample i and its number there.
func (d *dataset) at(i int) (*blockRange, int, error) {
	if i < 0 || i >= d.Len() {
		return nil, 0, fmt.Errorf("%s: index %d out of range: the dataset has %d samples", d.set.Path, i, d.Len())
	}
	k := sort.Search(len(d.ranges), func(k int) bool { return d.ranges[k].from > i }) - 1
	return &d.ranges[k], i - d.ranges[k].from, nil
}

func (r *blockRange) key(j int) string {
	return fmt.Sprintf("%s%0*d", prefix(r.Split), r.digits, r.from+j-r.splitFrom)
}

// Info implements formats.Dataset.
func (d *dataset) Info(i int) (in formats.Info, err error) {
	if err := d.gate.Enter(i); err != nil {
		return formats.Info{}, err
	}
	defer d.gate.Leave(i)
	r, j, err := d.at(i)
	if err != nil {
		return formats.Info{}, err
	}
	in = formats.Info{
		Key: r.key(j), Split: r.Split, Label: formats.NoLabel, Size: int64(r.Images.size()), Encoding: formats.Raw, Shape: r.Images.Shape,
		Source: r.source(),
	}
	for _, texts := range r.Columns {
		in.Columns = append(in.Columns, texts[j])
	}
	if k := d.meta.Schema.LabelIndex(); k > 0 && d.meta.Schema[k].Kind == formats.Label {
		c := &r.Labels[k-1]
		err = guard.Read(c.Data, func() error {
			in.Label, _ = c.number(j)
			return nil
		})
	}
	if err != nil {
		return formats.Info{}, fmt.Errorf("%s in %s: %w", in.Key, r.File.Path, err)
	}
	return in, nil
}

// source is what is known of an image's file; a file of many images is no image's path.
func (r *blockRange) source() formats.Source {
	return formats.Source{Size: int64(r.Images.size()), ModTime: r.File.state.Identity().ModTime}
}

// Read implements formats.Dataset.
func (d *dataset) Read(i int, s *formats.Sample) error {
	return d.use(i, s, false)
}

// View implements formats.Viewer. Images that are stored plane by plane are copied.
func (d *dataset) View(i int, s *formats.Sample) error {
	return d.use(i, s, true)
}

func (d *dataset) use(i int, s *formats.Sample, lend bool) error {
	if err := d.gate.Enter(i); err != nil {
		return err
	}
	defer d.gate.Leave(i)
	r, j, err := d.at(i)
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("%s: sample %d: there is nothing to read it into: the *formats.Sample is nil", d.set.Path, i)
	}
	if lend {
		d.gate.Lend()
	}
	err = d.fill(r, j, s, lend)
	if err != nil || !lend { // a loader, which borrows, reads far more samples in a second
		if changed := r.File.check(); changed != nil {
			return fmt.Errorf("%s: %w", r.key(j), changed)
		}
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", r.key(j), r.File.Path, err)
	}
	return nil
}

// fill fills s with sample j of the block.
func (d *dataset) fill(r *blockRange, j int, s *formats.Sample, lend bool) error {
	s.Key, s.Split, s.Source, s.Checksum, s.Provenance = r.key(j), r.Split, r.source(), [16]byte{}, formats.Provenance{}
	s.SetColumns()
	for _, texts := range r.Columns {
		s.Columns = append(s.Columns, texts[j])
	}
	s.Resize(1 + len(r.Labels))
	for k := range r.Labels {
		c := &r.Labels[k]
		err := guard.Read(c.Data, func() error {
			c.set(&s.Values[k+1], d.meta.Schema[k+1].Kind, j)
			return nil
		})
		if err != nil {
			return err
		}
	}
	stored := r.Images.stored(j)
	err := guard.Read(stored, func() error {
		r.Images.set(&s.Values[0], j, lend)
		return nil
	})
	if err != nil || r.File.mapping == nil {
		return err
	}
	return guard.Shortened(stored)
}

// Lease implements formats.Viewer.
func (d *dataset) Lease() (release func(), err error) { return d.gate.Lease() }

// Identify implements formats.Identifier.
func (d *dataset) Identify(w io.Writer) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	if w == nil {
		return fmt.Errorf("%s: Identify into a nil io.Writer", d.set.Path)
	}
	for _, f := range d.set.Files {
		if _, err := fmt.Fprintf(w, "%q %v\n", filepath.Base(f.Path), f.identity()); err != nil {
			return err
		}
	}
	return nil
}

// Close implements formats.Dataset.
func (d *dataset) Close() error { return d.gate.Close() }

package arrays

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
)

// Set describes a dataset of arrays before it is opened.
type Set struct {
	Path   string // as the user gave it
	Format string
	Labels []Label
	// Columns names the user's columns.
	Columns []string
	Recipe  map[string]string
	Files   []*File
	Blocks  []Block
}

// Label is a field of labels. Its kind follows from the columns.
type Label struct {
	Name    string
	Classes []string // nil: as many as the largest label needs, named by their numbers
}

// Block is consecutive samples. Those of a split are numbered in the order of their blocks.
type Block struct {
	Split  string
	File   *File // that the images are in
	Images Pixels
	Labels []Column // one per Set.Labels
	// Columns has the texts of each of the user's columns, one per image.
	Columns [][]string
}

// maxClasses is how many classes get the names of their numbers.
const maxClasses = 1 << 16

// schema checks the blocks and returns the fields.
func (s *Set) schema() (formats.Schema, error) {
	if len(s.Blocks) == 0 {
		return nil, fmt.Errorf("%s: it has no images", s.Path)
	}
	image := formats.Field{Name: "image", Kind: formats.Image, DType: s.Blocks[0].Images.DType}
	schema := formats.Schema{image}
	for k, l := range s.Labels {
		kind, err := s.Blocks[0].Labels[k].kind()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Path, l.Name, err)
		}
		schema = append(schema, formats.Field{Name: l.Name, Kind: kind, Classes: l.Classes})
	}
	for i := range s.Blocks {
		if err := s.checkBlock(schema, &s.Blocks[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Blocks[i].File.Path, err)
		}
	}
	if err := s.nameClasses(schema); err != nil {
		return nil, err
	}
	return schema, schema.Validate()
}

func (s *Set) checkBlock(schema formats.Schema, b *Block) error {
	if err := cmp.Or(b.Images.check(), formats.CheckSplit(b.Split)); err != nil {
		return err
	}
	if b.Images.DType != schema[0].DType {
		return fmt.Errorf("%w: its images are %s, others %s", formats.ErrSchema, b.Images.DType, schema[0].DType)
	}
	for k := range b.Labels {
		c := &b.Labels[k]
		if err := c.check(); err != nil {
			return err
		}
		if c.Count != b.Images.Count {
			return fmt.Errorf("%w: there are %d images and %d labels", formats.ErrDamaged, b.Images.Count, c.Count)
		}
		if kind, err := c.kind(); err != nil || kind != schema[k+1].Kind || c.Width != s.Blocks[0].Labels[k].Width {
			return cmp.Or(err, fmt.Errorf("%w: the labels of the splits are of different kinds", formats.ErrSchema))
		}
	}
	for _, texts := range b.Columns {
		if len(texts) != b.Images.Count {
			return fmt.Errorf("%w: there are %d images and %d file names", formats.ErrDamaged, b.Images.Count, len(texts))
		}
	}
	return nil
}

// nameClasses names the classes that have no names, and checks that labels are classes.
func (s *Set) nameClasses(schema formats.Schema) error {
	for k := range s.Labels {
		f := &schema[k+1]
		n := len(f.Classes)
		switch f.Kind {
		case formats.Number:
			continue
		case formats.MultiHot:
			n = s.Blocks[0].Labels[k].Width
			if err := s.checkMultiHot(k); err != nil {
				return err
			}
			if f.Classes != nil && len(f.Classes) != n {
				return fmt.Errorf("%s: %w: labels of %d classes, but %d names", s.Path, formats.ErrSchema, n, len(f.Classes))
			}
		default:
			largest, err := s.largest(k)
			if err != nil {
				return err
			}
			if f.Classes != nil && largest >= int64(n) {
				return fmt.Errorf("%s: %w: the label %d, but there are names of %d classes", s.Path, formats.ErrSchema, largest, n)
			}
			if n = int(largest) + 1; largest >= maxClasses {
				continue // not classes but identities
			}
		}
		if s.Labels[k].Classes == nil {
			if err := f.NumberClasses(int64(n) - 1); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
		}
	}
	return nil
}

// largest returns the largest label of field k. -1, no label, is the only negative one.
func (s *Set) largest(k int) (largest int64, err error) {
	largest = formats.NoLabel
	for i := range s.Blocks {
		c := &s.Blocks[i].Labels[k]
		for j := range c.Count {
			x, ok := c.number(j)
			if !ok || x < formats.NoLabel {
				return 0, fmt.Errorf("%s: %w: sample %d has the label %d: classes are numbered from 0, and -1 is no label", s.Blocks[i].File.Path, formats.ErrSchema, j, x)
			}
			largest = max(largest, x)
		}
	}
	return largest, nil
}

// checkMultiHot returns an error unless the labels of field k are 0 and 1.
func (s *Set) checkMultiHot(k int) error {
	for i := range s.Blocks {
		c := &s.Blocks[i].Labels[k]
		for j := range c.Count {
			if at := slices.IndexFunc(c.row(j), func(x byte) bool { return x > 1 }); at >= 0 {
				return fmt.Errorf("%s: %w: sample %d has %d in the labels of its classes, which are 0 or 1", s.Blocks[i].File.Path, formats.ErrSchema, j, c.row(j)[at])
			}
		}
	}
	return nil
}

// Open opens the dataset, which then owns the files; also after an error.
func (s *Set) Open() (formats.Dataset, error) {
	d := &dataset{set: s}
	var err error
	read := func() error {
		d.meta.Schema, err = s.schema()
		return err
	}
	for _, f := range s.Files { // unreadable pages of any file
		inner := read
		read = func() error { return f.Guarded(inner) }
	}
	if err := read(); err != nil {
		return nil, errors.Join(err, closeFiles(s.Files))
	}
	d.number()
	if n := d.Len(); n == 0 || n > math.MaxInt32 {
		return nil, errors.Join(fmt.Errorf("%s: it has %d images: a dataset has 1 to %d", s.Path, n, math.MaxInt32), closeFiles(s.Files))
	}
	files := s.Files
	d.gate.Open(s.Path, func() error { return closeFiles(files) })
	return d, nil
}

func closeFiles(files []*File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// number sorts the blocks by their samples' keys and sets the rest of the description.
func (d *dataset) number() {
	blocks := slices.Clone(d.set.Blocks)
	slices.SortStableFunc(blocks, func(a, b Block) int { return cmp.Compare(prefix(a.Split), prefix(b.Split)) })
	d.meta.Version, d.meta.Format, d.meta.Columns, d.meta.Recipe = 1, d.set.Format, d.set.Columns, d.set.Recipe
	d.meta.Version = d.meta.RequiredVersion()
	for _, b := range blocks {
		last := len(d.ranges) - 1
		if b.Images.Count == 0 {
			continue
		}
		r := blockRange{Block: b, from: d.meta.Count, splitFrom: d.meta.Count}
		if last >= 0 && d.ranges[last].Split == b.Split {
			r.splitFrom = d.ranges[last].splitFrom
		}
		d.ranges = append(d.ranges, r)
		d.meta.Count += b.Images.Count
		d.count(&b.Images)
	}
	d.countSplits()
	if d.meta.Stats.Uniform {
		d.meta.Schema[0].Shape = slices.Clone(d.ranges[0].Images.Shape[:])
	}
}

func prefix(split string) string {
	if split == "" {
		return ""
	}
	return split + "/"
}

// count adds images to the statistics.
func (d *dataset) count(p *Pixels) {
	s, h, w := &d.meta.Stats, p.Shape[0], p.Shape[1]
	if s.Bytes == 0 {
		*s = formats.Stats{MinHeight: h, MinWidth: w, Uniform: true}
	}
	s.Uniform = s.Uniform && p.Shape == d.ranges[0].Images.Shape
	s.Bytes += int64(p.Count) * int64(p.size())
	s.MinHeight, s.MinWidth = min(s.MinHeight, h), min(s.MinWidth, w)
	s.MaxHeight, s.MaxWidth = max(s.MaxHeight, h), max(s.MaxWidth, w)
}

// countSplits sets the splits, and the digits of each one's numbers.
func (d *dataset) countSplits() {
	for i := 0; i < len(d.ranges); {
		from, n := i, 0
		for ; i < len(d.ranges) && d.ranges[i].Split == d.ranges[from].Split; i++ {
			n += d.ranges[i].Images.Count
		}
		for k := from; k < i; k++ {
			d.ranges[k].digits = max(5, len(strconv.Itoa(n-1)))
		}
		if name := d.ranges[from].Split; name != "" {
			d.meta.Splits = append(d.meta.Splits, formats.Split{Name: name, Count: n})
		}
	}
}

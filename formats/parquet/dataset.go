package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// dataset is an open dataset. What its files have of a sample is read when it is asked for.
type dataset struct {
	path  string
	gate  lifetime.Gate
	meta  formats.Meta
	roles *roles
	// labels are the class indices of a label's texts.
	labels map[string]int64
	parts  []part
	cache  *parquetfile.Cache
}

// part is a file, and the indices of its samples.
type part struct {
	*parquetfile.File
	split     string
	from      int      // index of its first sample
	splitFrom int      // index of its split's first sample
	digits    int      // of the numbers in its split's keys
	placed    []placed // of the fields, then of the user's columns
}

// placed is where a role's columns are in a file.
type placed struct{ column, path int }

var (
	_ formats.Dataset    = (*dataset)(nil)
	_ formats.Identifier = (*dataset)(nil)
	_ formats.Skipper    = (*dataset)(nil)
)

// Skips implements formats.Skipper: the columns that are left out.
func (d *dataset) Skips() []formats.Skip { return d.roles.skipped }

// Meta implements formats.Dataset.
func (d *dataset) Meta() *formats.Meta { return &d.meta }

// Len implements formats.Dataset.
func (d *dataset) Len() int { return d.meta.Count }

// at returns the file of sample i and its row there.
func (d *dataset) at(i int) (*part, int, error) {
	if i < 0 || i >= d.Len() {
		return nil, 0, fmt.Errorf("%s: index %d out of range: the dataset has %d samples", d.path, i, d.Len())
	}
	k := sort.Search(len(d.parts), func(k int) bool { return d.parts[k].from+d.parts[k].Rows() > i })
	return &d.parts[k], i - d.parts[k].from, nil
}

func (p *part) key(row int) string {
	return fmt.Sprintf("%s%0*d", prefix(p.split), p.digits, p.from+row-p.splitFrom)
}

func (p *part) source(row int) formats.Source {
	return formats.Source{Size: p.Mean(row, p.placed[0].column), ModTime: p.State.Identity().ModTime}
}

// Info implements formats.Dataset.
func (d *dataset) Info(i int) (formats.Info, error) {
	if err := d.gate.Enter(i); err != nil {
		return formats.Info{}, err
	}
	defer d.gate.Leave(i)
	p, row, err := d.at(i)
	if err != nil {
		return formats.Info{}, err
	}
	in := formats.Info{Key: p.key(row), Split: p.split, Label: formats.NoLabel, Source: p.source(row)}
	in.Size = in.Source.Size
	if k := d.meta.Schema.LabelIndex(); k >= 0 && d.meta.Schema[k].Kind == formats.Label {
		if in.Label, err = d.label(p, row, k); err != nil {
			return formats.Info{}, p.failed(row, err)
		}
	}
	if in.Columns, err = d.texts(p, row); err != nil {
		return formats.Info{}, p.failed(row, err)
	}
	return in, nil
}

// failed returns err, the error of reading a row, unless the file was written to since it was opened: that is the error then.
func (p *part) failed(row int, err error) error {
	if changed := p.State.Check(p.Path); changed != nil {
		err = changed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.key(row), err)
	}
	return nil
}

// label returns the label of field k.
func (d *dataset) label(p *part, row, k int) (label int64, err error) {
	if d.roles.fields[k].named {
		return d.classOf(p, row, k)
	}
	label = formats.NoLabel
	err = d.cache.Row(p.File, row, p.placed[k].column, func(v *parquetfile.Values, i int) error {
		if x, ok := v.Bits(i); ok {
			label = int64(x)
		}
		return nil
	})
	if n := len(d.meta.Schema[k].Classes); err == nil && (label < formats.NoLabel || n > 0 && label >= int64(n)) {
		err = fmt.Errorf("%s: %w: the label %d of row %d is not one of %d classes", p.Path, formats.ErrDamaged, label, row, n)
	}
	return label, err
}

// texts returns the user's columns of a row.
func (d *dataset) texts(p *part, row int) (list []string, err error) {
	for k := range d.roles.columns {
		text, err := d.text(p, row, p.placed[len(d.roles.fields)+k].column)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	if at := p.placed[0].path; at >= 0 {
		text, err := d.text(p, row, at)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// text returns the value of a column as text, "" for none.
func (d *dataset) text(p *part, row, column int) (text string, err error) {
	err = d.cache.Row(p.File, row, column, func(v *parquetfile.Values, i int) error {
		text, _ = v.Text(&p.Columns()[column], i)
		text = strings.ToValidUTF8(text, "\uFFFD")
		return nil
	})
	return text, err
}

// Read implements formats.Dataset.
func (d *dataset) Read(i int, s *formats.Sample) error {
	if err := d.gate.Enter(i); err != nil {
		return err
	}
	defer d.gate.Leave(i)
	p, row, err := d.at(i)
	if err != nil {
		return err
	}
	s.Key, s.Split, s.Source, s.Checksum, s.Provenance = p.key(row), p.split, p.source(row), [16]byte{}, formats.Provenance{}
	texts, err := d.texts(p, row)
	if err == nil {
		s.SetColumns(texts...)
		s.Resize(len(d.roles.fields))
		for k := 0; err == nil && k < len(d.roles.fields); k++ {
			err = d.value(&s.Values[k], p, row, k)
		}
	}
	return p.failed(row, err)
}

// value sets v to field k of a row.
func (d *dataset) value(v *formats.Value, p *part, row, k int) error {
	switch kind := d.roles.fields[k].Kind; kind {
	case formats.Label:
		x, err := d.label(p, row, k)
		v.SetInt64(x)
		return err
	case formats.Number:
		return d.float(v, p, row, p.placed[k].column)
	case formats.Image, formats.Mask:
		return d.image(v, p, row, p.placed[k])
	}
	v.Encoding, v.DType, v.Shape = formats.Plain, "", nil
	return d.cache.Row(p.File, row, p.placed[k].column, func(values *parquetfile.Values, i int) error {
		b, _ := values.Bytes(i)
		v.Copy(b)
		return nil
	})
}

// float sets v to a number, NaN for none.
func (d *dataset) float(v *formats.Value, p *part, row, column int) error {
	return d.cache.Row(p.File, row, column, func(values *parquetfile.Values, i int) error {
		x, ok := values.Bits(i)
		switch {
		case !ok:
			v.SetFloat32(float32(math.NaN()))
		case p.Columns()[column].Type == parquetfile.Double:
			v.SetFloat32(float32(math.Float64frombits(x)))
		default:
			v.SetFloat32(math.Float32frombits(uint32(x)))
		}
		return nil
	})
}

// image sets v to an image: its bytes, or the file that its path names.
func (d *dataset) image(v *formats.Value, p *part, row int, at placed) error {
	found := false
	err := d.cache.Row(p.File, row, at.column, func(values *parquetfile.Values, i int) error {
		b, ok := values.Bytes(i)
		if found = ok; ok {
			v.Copy(b)
		}
		return nil
	})
	if err == nil && !found {
		err = d.imageFile(v, p, row, at.path)
	}
	v.Encoding, v.DType = formats.Sniff(v.Data), ""
	v.SetShape()
	return err
}

// maxFile is the largest image file that is read.
const maxFile = 1 << 30

// imageFile reads the image whose path, relative to the Parquet file, is in the column. It must be below that folder.
func (d *dataset) imageFile(v *formats.Value, p *part, row, column int) error {
	name := ""
	if column >= 0 {
		var err error
		if name, err = d.text(p, row, column); err != nil {
			return err
		}
	}
	if name == "" {
		return fmt.Errorf("%s: %w: row %d has neither an image nor its path", p.Path, formats.ErrDamaged, row)
	}
	root, err := os.OpenRoot(filepath.Dir(p.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not block on a pipe
	if err != nil {
		return fmt.Errorf("%s: the image of row %d: %w", p.Path, row, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxFile {
		return errors.Join(err, fmt.Errorf("%s: %w: the image of row %d, %s, is not a file of at most 1 GiB", p.Path, formats.ErrDamaged, row, name))
	}
	if _, err := io.ReadFull(f, v.Alloc(int(st.Size()))); err != nil {
		return fmt.Errorf("%s: the image of row %d: %s: %w", p.Path, row, name, err)
	}
	return nil
}

// Identify implements formats.Identifier.
func (d *dataset) Identify(w io.Writer) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	for i := range d.parts {
		p := &d.parts[i]
		id := p.State.Identity()
		if _, err := fmt.Fprintf(w, "%q %d %d %d\n", filepath.Base(p.Path), id.Size, id.ModTime, id.Inode); err != nil {
			return err
		}
	}
	return nil
}

// Close implements formats.Dataset.
func (d *dataset) Close() error { return d.gate.Close() }

func (d *dataset) closeFiles() (err error) {
	for i := range d.parts {
		err = errors.Join(err, d.parts[i].Close())
	}
	return err
}

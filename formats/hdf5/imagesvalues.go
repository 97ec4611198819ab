package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/h5file"
)

// checkImages returns an error unless an array has image files.
func checkImages(d *h5file.Dataset) error {
	if d.Type.Class == h5file.Variable && len(d.Dims) == 1 {
		return nil
	}
	return fmt.Errorf("%w: it has the shape %v and elements of %d bytes, and images are read from rows of uint8 of variable length that are image files; %s",
		formats.ErrSchema, d.Dims, d.Type.Size, foreign.FromPython)
}

// imageAt returns image i, in memory of the file or of its own.
func (p *part) imageAt(f *h5file.File, i int) (v formats.Value, err error) {
	b, err := p.image.Row(i)
	if err != nil {
		return v, err
	}
	if v.Data, err = f.Variable(b); err != nil {
		return v, err
	}
	if v.Encoding = formats.Sniff(v.Data); v.Encoding == "" {
		err = fmt.Errorf("%w: it is not an image file that dsconv reads", formats.ErrDamaged)
	}
	return v, err
}

func swapped(b []byte) []byte {
	out := make([]byte, len(b))
	for i := 0; i+1 < len(b); i += 2 {
		out[i], out[i+1] = b[i+1], b[i]
	}
	return out
}

// Number of bytes of what is read at once as texts.
const maxTexts = 1 << 20

// textAt returns the text in row i.
func textAt(f *h5file.File, d *h5file.Dataset, i int) (string, error) {
	b, err := d.Row(i)
	if err != nil {
		return "", err
	}
	switch d.Type.Class {
	case h5file.String:
		b = b[:min(len(b), d.Type.Size)]
	case h5file.VariableString:
		if b, err = f.Variable(b); err != nil {
			return "", err
		}
	}
	s := strings.TrimRight(string(b), "\x00")
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: a text is not UTF-8", formats.ErrSchema)
	}
	return s, nil
}

func isText(d *h5file.Dataset) bool {
	return d.Type.Class == h5file.String || d.Type.Class == h5file.VariableString
}

// textsOf returns all texts of an array.
func textsOf(f *h5file.File, d *h5file.Dataset) (list []string, err error) {
	if !isText(d) || len(d.Dims) != 1 || d.Rows() > maxTexts {
		return nil, nil
	}
	for i := range d.Rows() {
		s, err := textAt(f, d, i)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// rowElements returns how many elements a row has.
func rowElements(d *h5file.Dataset) int { return d.RowSize() / d.Type.Size }

// intAt returns an integer of a row.
func intAt(b []byte, t h5file.Type) (x int64) {
	b = b[:t.Size]
	for i := range b {
		at := t.Size - 1 - i
		if t.Big {
			at = i
		}
		x = x<<8 | int64(b[at])
	}
	if shift := 64 - 8*t.Size; t.Class == h5file.Signed {
		x = x << shift >> shift
	}
	return x
}

// floatAt returns a float of a row.
func floatAt(b []byte, t h5file.Type) float32 {
	u := uint64(intAt(b, h5file.Type{Size: t.Size, Big: t.Big}))
	if t.Size == 8 {
		return float32(math.Float64frombits(u))
	}
	return math.Float32frombits(uint32(u))
}

// checkExtra returns an error unless an array can be a field of count samples.
func checkExtra(d *h5file.Dataset, count int) error {
	switch {
	case len(d.Dims) == 0 || d.Rows() != count:
		return fmt.Errorf("%w: it has the shape %v, and there are %d samples", formats.ErrSchema, d.Dims, count)
	case isText(d) && len(d.Dims) > 1:
		return fmt.Errorf("%w: it has several texts for a sample", formats.ErrSchema)
	case d.Type.Class == h5file.Variable && len(d.Dims) > 1:
		return fmt.Errorf("%w: it has several arrays of variable length for a sample", formats.ErrSchema)
	case d.Type.Class == h5file.Float && d.Type.Size == 2:
		return fmt.Errorf("%w: floats of 2 bytes are not read", formats.ErrSchema)
	}
	return nil
}

// fieldOf returns the field of an array other than image and label.
func fieldOf(name string, d *h5file.Dataset) formats.Field {
	f := formats.Field{Name: name, Kind: formats.Array}
	switch t := d.Type; {
	case isText(d):
		f.Kind = formats.Text
	case t.Class == h5file.Variable:
		f.Kind = formats.Bytes
	case name == "mask" && t.Class == h5file.Unsigned && t.Size <= 2 && (len(d.Dims) == 3 || len(d.Dims) == 4 && d.Dims[3] == 1):
		f.Kind = formats.Mask
	case t.Class == h5file.Float && len(d.Dims) == 1:
		f.Kind = formats.Number
	case t.Class == h5file.Float:
		f.DType = formats.Float32
	case t.Class == h5file.Unsigned && t.Size == 1:
		f.DType = formats.Uint8
	case t.Class == h5file.Unsigned && t.Size == 2:
		f.DType = formats.Uint16
	default:
		f.DType = formats.Int64
	}
	return f
}

// extraAt returns the value of an extra field.
func extraAt(f *h5file.File, field *formats.Field, d *h5file.Dataset, i int) (v formats.Value, err error) {
	if field.Kind == formats.Text {
		s, err := textAt(f, d, i)
		return formats.Value{Data: []byte(s), Encoding: formats.Plain}, err
	}
	b, err := d.Row(i)
	if err != nil {
		return v, err
	}
	if field.Kind == formats.Bytes {
		v.Encoding = formats.Plain
		v.Data, err = f.Variable(b)
		return v, err
	}
	v = formats.Value{Encoding: formats.Raw, DType: field.DType, Shape: append([]int{}, d.Dims[1:]...)}
	n, t := rowElements(d), d.Type
	switch {
	case field.Kind == formats.Mask:
		v.DType = formats.Uint8
		if v.Shape = append(v.Shape[:2:2], 1); t.Size == 2 {
			v.DType = formats.Uint16
		}
		if v.Data = b; t.Size == 2 && t.Big {
			v.Data = swapped(b)
		}
	case t.Class == h5file.Float:
		v.DType = formats.Float32
		for k := range n {
			v.Data = binary.LittleEndian.AppendUint32(v.Data, math.Float32bits(floatAt(b[k*t.Size:], t)))
		}
	case t.Class == h5file.Unsigned && t.Size <= 2:
		if v.Data = b; t.Size == 2 && t.Big {
			v.Data = swapped(b)
		}
	default:
		for k := range n {
			v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(intAt(b[k*t.Size:], t)))
		}
	}
	return v, nil
}

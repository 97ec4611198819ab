package hdf5

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dsconv's own names in the file.
const (
	imagesName    = "images"
	bytesName     = "bytes"
	offsetsName   = "offsets"
	shapesName    = "shapes"
	encodingsName = "encodings"
	typesName     = "dtypes"
	labelsName    = "labels"
	keysName      = "keys"
	classesName   = "classes"
	dsconvGroup   = "dsconv"
	manifestName  = dsconvGroup + "/manifest.parquet"
	metaName      = dsconvGroup + "/dataset.json"
	removedName   = dsconvGroup + "/" + sidecar.RemovedName
)

// The codes of encodings and element types are the positions in these lists, which only grow.
var (
	encodingCodes = []formats.Encoding{
		formats.Plain, formats.Raw, formats.RawZstd, formats.JPEG, formats.PNG, formats.BMP, formats.GIF, formats.TIFF, formats.WebP,
	}
	typeCodes = []formats.DType{"", formats.Uint8, formats.Uint16, formats.Int64, formats.Float32}
)

// fieldNames maps the position of each extra field in the schema to its name in the file; a
// designated multi-hot label is "labels".
func fieldNames(schema formats.Schema) map[int]string {
	taken := map[string]bool{}
	for _, name := range []string{imagesName, bytesName, offsetsName, shapesName, labelsName, keysName, classesName, dsconvGroup} {
		taken[name] = true
	}
	names := map[int]string{}
	for i, f := range schema {
		switch {
		case i == schema.ImageIndex() || i == schema.LabelIndex() && f.Kind == formats.Label:
			continue
		case i == schema.LabelIndex():
			names[i] = labelsName
			continue
		}
		name := f.Name
		for taken[name] || name != f.Name && schema.Index(name) >= 0 {
			name += "_"
		}
		taken[name] = true
		names[i] = name
	}
	return names
}

// hasLabel reports whether the designated label is a class index, which the manifest has.
func hasLabel(schema formats.Schema) bool {
	i := schema.LabelIndex()
	return i >= 0 && schema[i].Kind == formats.Label
}

// rows describes the concatenated values of one field.
type rows struct {
	offsets   []int64 // one more than rows
	encodings []uint8 // codes
	types     []uint8 // codes
	ranks     []uint8 // number of dimensions
	dims      []int64 // of all rows, concatenated
}

func newRows() *rows { return &rows{offsets: []int64{0}} }

func (r *rows) len() int { return len(r.encodings) }

func (r *rows) size() int64 { return r.offsets[r.len()] }

func (r *rows) add(size int64, e formats.Encoding, t formats.DType, shape []int) {
	r.offsets = append(r.offsets, r.size()+size)
	r.encodings = append(r.encodings, uint8(max(0, slices.Index(encodingCodes, e))))
	r.types = append(r.types, uint8(max(0, slices.Index(typeCodes, t))))
	r.ranks = append(r.ranks, uint8(len(shape)))
	for _, d := range shape {
		r.dims = append(r.dims, int64(d))
	}
}

// check reports why these cannot be the rows of n samples whose bytes are a file of size bytes.
func (r *rows) check(n int, size int64) error {
	if r.len() != n {
		return fmt.Errorf("%w: %d values for %d samples", formats.ErrDamaged, r.len(), n)
	}
	dims := r.dims
	for i := range n {
		from, to := r.offsets[i], r.offsets[i+1]
		if to < from || to > size {
			return fmt.Errorf("%w: value %d would end at byte %d of %d", formats.ErrDamaged, i, to, size)
		}
		shape := dims[:r.ranks[i]]
		dims = dims[r.ranks[i]:]
		if encodingCodes[r.encodings[i]] == formats.Raw && !hasSize(shape, typeCodes[r.types[i]], to-from) {
			return fmt.Errorf("%w: value %d has %d bytes, which do not match the shape %v", formats.ErrDamaged, i, to-from, shape)
		}
	}
	if r.size() != size {
		return fmt.Errorf("%w: the values have %d bytes, their file has %d", formats.ErrDamaged, r.size(), size)
	}
	return nil
}

// hasSize reports whether an array of that shape has size bytes.
func hasSize(shape []int64, t formats.DType, size int64) bool {
	n := int64(t.Size())
	for _, d := range shape {
		if d < 0 || d > 0 && n > (1<<40)/d {
			return false
		}
		n *= d
	}
	return n == size
}

// uniform returns the shape and element type of all rows; ok is false unless all rows are raw
// and have the same.
func (r *rows) uniform() (t formats.DType, shape []int64, ok bool) {
	n := r.len()
	if n == 0 || encodingCodes[r.encodings[0]] != formats.Raw {
		return "", nil, false
	}
	rank := int(r.ranks[0])
	shape = r.dims[:rank]
	for i := range n {
		if r.encodings[i] != r.encodings[0] || r.types[i] != r.types[0] || r.ranks[i] != r.ranks[0] ||
			!slices.Equal(r.dims[i*rank:(i+1)*rank], shape) {
			return "", nil, false
		}
	}
	return typeCodes[r.types[0]], shape, true
}

// encoding returns the encoding of all rows, or "mixed"; "" without rows.
func (r *rows) encoding() string {
	if r.len() == 0 {
		return ""
	}
	for _, e := range r.encodings {
		if e != r.encodings[0] {
			return "mixed"
		}
	}
	return string(encodingCodes[r.encodings[0]])
}

// shapes returns the rows' shapes as a table, padded with -1. Its width is the largest number of
// dimensions, at least columns.
func (r *rows) shapes(columns int) (table []int64, width int) {
	width = columns
	for _, n := range r.ranks {
		width = max(width, int(n))
	}
	table = make([]int64, 0, r.len()*width)
	dims := r.dims
	for _, n := range r.ranks {
		table = append(table, dims[:n]...)
		dims = dims[n:]
		for range width - int(n) {
			table = append(table, -1)
		}
	}
	return table, width
}

// appendIndex appends the entry of v in the index file of a staged field; parseIndex reads it.
func appendIndex(b []byte, v *formats.Value) []byte {
	b = binary.AppendUvarint(b, uint64(len(v.Data)))
	b = append(b, uint8(max(0, slices.Index(encodingCodes, v.Encoding))), uint8(max(0, slices.Index(typeCodes, v.DType))), uint8(len(v.Shape)))
	for _, d := range v.Shape {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

func parseIndex(b []byte) (*rows, error) {
	r := newRows()
	bad := fmt.Errorf("%w: the index file of a field cannot be parsed", formats.ErrDamaged)
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || len(b) < n+3 || size > 1<<40 {
			return nil, bad
		}
		e, t, rank := b[n], b[n+1], b[n+2]
		if int(e) >= len(encodingCodes) || int(t) >= len(typeCodes) || rank > maxDims-1 {
			return nil, bad
		}
		b = b[n+3:]
		shape := make([]int, rank)
		for i := range shape {
			d, n := binary.Uvarint(b)
			if n <= 0 || d > 1<<40 {
				return nil, bad
			}
			shape[i], b = int(d), b[n:]
		}
		r.add(int64(size), encodingCodes[e], typeCodes[t], shape)
	}
	return r, nil
}

package formats

import (
	"encoding/binary"
	"math"
	"slices"
)

// Encoding is how a value's Data is encoded.
type Encoding string

// The encodings of values. Images of a folder in another encoding are skipped, with the
// reason.
const (
	JPEG    Encoding = "jpeg"
	PNG     Encoding = "png"
	BMP     Encoding = "bmp"
	GIF     Encoding = "gif"
	TIFF    Encoding = "tiff"
	WebP    Encoding = "webp"
	Raw     Encoding = "raw"      // elements of DType in C order; images are H, W, C
	RawZstd Encoding = "raw+zstd" // Raw compressed as one zstd frame
	Plain   Encoding = "plain"    // text, JSON, bytes: Data is the value itself
)

// ImageEncodings are the encodings of images.
var ImageEncodings = []Encoding{JPEG, PNG, Raw, RawZstd, BMP, GIF, TIFF, WebP}

// IsRaw reports whether the data are pixels rather than an image file.
func (e Encoding) IsRaw() bool { return e == Raw || e == RawZstd }

// Extension returns the encoding's usual file extension with its dot. Raw tensors are stored
// in files as .npy.
func (e Encoding) Extension() string {
	switch e {
	case JPEG:
		return ".jpg"
	case PNG:
		return ".png"
	case BMP:
		return ".bmp"
	case GIF:
		return ".gif"
	case TIFF:
		return ".tif"
	case WebP:
		return ".webp"
	case Raw:
		return ".npy"
	case RawZstd:
		return ".npy.zst"
	}
	return ""
}

// Value is one field of one sample.
//
// Data and Shape are whatever was assigned to them last, and a Value never writes to memory that it
// did not make: a Dataset may assign a slice of its own, also one of read-only memory, and stays
// its owner. The methods Set, Copy, Alloc, SetOwn and SetShape use the Value's own memory, which it
// uses again the next time. A copy of a Value has none until such a method makes it.
type Value struct {
	Data     []byte
	Encoding Encoding
	// DType and Shape: images of every encoding are (H, W, C), other tensors have their own
	// shape. Both are empty where they have no meaning (text) or are unknown (an encoded image
	// whose header was not read).
	DType DType
	Shape []int

	own *valueMemory
}

// valueMemory is what a Value made and may overwrite.
type valueMemory struct {
	of    *Value // a copy of that Value has the same pointer, but is another
	data  []byte
	shape []int
}

// memory returns v's own memory.
func (v *Value) memory() *valueMemory {
	if v.own == nil || v.own.of != v {
		v.own = &valueMemory{of: v}
	}
	return v.own
}

// Buffer returns v's own memory with length 0, to append to; SetOwn takes the result.
func (v *Value) Buffer() []byte { return v.memory().data[:0] }

// SetOwn sets Data to b and makes b, usually what was appended to Buffer, v's own memory: v writes
// there the next time, so nobody else may use b. Assign to Data what belongs to someone else.
func (v *Value) SetOwn(b []byte) { v.memory().data, v.Data = b, b }

// Alloc sets Data to n bytes of v's own memory, with any content, and returns it.
func (v *Value) Alloc(n int) []byte {
	v.SetOwn(slices.Grow(v.Buffer(), n)[:n])
	return v.Data
}

// Copy sets Data to a copy of b in v's own memory.
func (v *Value) Copy(b []byte) { v.SetOwn(append(v.Buffer(), b...)) }

// SetShape sets Shape to a copy of dims in v's own memory.
func (v *Value) SetShape(dims ...int) {
	own := v.memory()
	own.shape = append(own.shape[:0], dims...)
	v.Shape = own.shape
}

// Swap swaps v and w, and the memory that is their own.
func (v *Value) Swap(w *Value) {
	a, b := v.memory(), w.memory()
	a.of, b.of = w, v
	*v, *w = *w, *v
}

// Set makes v a copy of w in v's own memory.
func (v *Value) Set(w Value) {
	v.Copy(w.Data)
	v.Encoding, v.DType = w.Encoding, w.DType
	v.SetShape(w.Shape...)
}

// SetInt64 sets v to the scalar x, the form of labels: 8 bytes, little-endian, no shape.
func (v *Value) SetInt64(x int64) {
	v.SetOwn(binary.LittleEndian.AppendUint64(v.Buffer(), uint64(x)))
	v.Encoding, v.DType = Raw, Int64
	v.SetShape()
}

// Int64 returns the scalar in v; ok is false if v is not an int64 scalar.
func (v *Value) Int64() (x int64, ok bool) {
	if v.DType != Int64 || len(v.Data) != 8 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(v.Data)), true
}

// SetFloat32 sets v to the scalar x, the form of numbers: 4 bytes, little-endian, no shape.
func (v *Value) SetFloat32(x float32) {
	v.SetOwn(binary.LittleEndian.AppendUint32(v.Buffer(), math.Float32bits(x)))
	v.Encoding, v.DType = Raw, Float32
	v.SetShape()
}

// Float32 returns the scalar in v; ok is false if v is not a float32 scalar.
func (v *Value) Float32() (x float32, ok bool) {
	if v.DType != Float32 || len(v.Data) != 4 {
		return 0, false
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(v.Data)), true
}

// NoLabel is the label of a sample that has none.
const NoLabel = -1

// Source is the file that a sample came from, as the manifest records it.
type Source struct {
	Path    string   // relative to the source's root, '/'-separated
	Size    int64    // bytes
	ModTime int64    // nanoseconds since 1970
	Hash    [16]byte // XXH3-128 of the file's bytes
}

// Sample is one item of a dataset: an image, usually its label, and any extra fields. Like a Value
// it never writes to memory that it did not make, so Values and Columns may be a dataset's own.
type Sample struct {
	Key    string  // see CheckKey
	Split  string  // "" where the dataset has no splits
	Values []Value // one per field of the dataset's schema, in its order

	Source     Source
	Columns    []string // the user's columns, one per Meta.Columns
	Provenance Provenance
	Checksum   [16]byte // of the values, as in the manifest; zero if unknown

	own *sampleMemory
}

// sampleMemory is what a Sample made and may overwrite.
type sampleMemory struct {
	of      *Sample // a copy of that Sample has the same pointer, but is another
	values  []Value
	columns []string
}

func (s *Sample) memory() *sampleMemory {
	if s.own == nil || s.own.of != s {
		s.own = &sampleMemory{of: s}
	}
	return s.own
}

// Info describes a sample without its values. A Dataset of one's own must set Key. Split and Label must
// equal those that Read gives; no label is NoLabel, not 0. The rest may be left out.
type Info struct {
	Key        string
	Split      string
	Label      int64    // the designated label, NoLabel if there is none or it is not a class index
	Size       int64    // bytes of the designated image as stored
	Encoding   Encoding // of the designated image
	Shape      [3]int   // H, W, C of the designated image; zero if unknown
	Checksum   [16]byte // zero in a folder, which has no checksums
	Source     Source
	Columns    []string
	Provenance Provenance
}

// Name returns the path that the sample came from, or its key if that is unknown.
func (in *Info) Name() string {
	if in.Source.Path != "" {
		return in.Source.Path
	}
	return in.Key
}

// Resize makes s.Values n long, in memory that s uses again for the next sample. What the values hold
// stays. Call it in Read before you fill the values, and before you change values that someone else put
// into s: a Dataset's own slice is then copied, not changed.
func (s *Sample) Resize(n int) {
	own := s.memory()
	given := s.Values
	if cap(own.values) < n {
		own.values = make([]Value, n)
	}
	s.Values = own.values[:n]
	if n == 0 || len(given) == 0 || &given[0] == &s.Values[0] {
		return
	}
	for i := range min(n, len(given)) {
		mine := s.Values[i].own
		s.Values[i] = given[i]
		s.Values[i].own = mine
	}
}

// SetColumns sets Columns to a copy of columns in memory of s's own.
func (s *Sample) SetColumns(columns ...string) {
	own := s.memory()
	own.columns = append(own.columns[:0], columns...)
	s.Columns = own.columns
}

// SwapValues swaps the values of s and o, and the memory that is their own.
func (s *Sample) SwapValues(o *Sample) {
	s.Resize(len(s.Values))
	o.Resize(len(o.Values))
	s.own.values, o.own.values = o.own.values, s.own.values
	s.Values, o.Values = o.Values, s.Values
}

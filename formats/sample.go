package formats

import (
	"encoding/binary"
	"math"
)

// Encoding says how a value's Data is to be understood.
type Encoding string

// The encodings of values. Images of a folder that are none of these are skipped with
// the reason.
const (
	JPEG    Encoding = "jpeg"
	PNG     Encoding = "png"
	BMP     Encoding = "bmp"
	GIF     Encoding = "gif"
	TIFF    Encoding = "tiff"
	WebP    Encoding = "webp"
	Raw     Encoding = "raw"      // elements of DType in C order; images are H, W, C
	RawZstd Encoding = "raw+zstd" // one zstd frame that holds what Raw would
	Plain   Encoding = "plain"    // text, JSON, bytes: Data is the value itself
)

// Extension is the encoding's usual file extension with its dot. A raw tensor is stored
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
type Value struct {
	Data     []byte
	Encoding Encoding
	// DType and Shape: images of every encoding are (H, W, C), other tensors as they are;
	// empty where it has no meaning (text) or is not known (an encoded image whose header
	// was not read).
	DType DType
	Shape []int

	lent bool // Data is memory of a dataset
}

// Lend makes b, memory of a dataset that nobody may write to, v's Data.
func (v *Value) Lend(b []byte) { v.Data, v.lent = b, true }

// Buffer is v's own memory, emptied, to append the next Data to: never what Lend set.
func (v *Value) Buffer() []byte {
	if v.lent {
		v.Data, v.lent = nil, false
	}
	return v.Data[:0]
}

// Set makes v a copy of w, reusing v's memory.
func (v *Value) Set(w Value) {
	v.Data = append(v.Buffer(), w.Data...)
	v.Encoding, v.DType = w.Encoding, w.DType
	v.Shape = append(v.Shape[:0], w.Shape...)
}

// SetInt64 makes v the scalar x, as labels are kept: 8 bytes, little-endian, no shape.
func (v *Value) SetInt64(x int64) {
	v.Data = binary.LittleEndian.AppendUint64(v.Buffer(), uint64(x))
	v.Encoding, v.DType, v.Shape = Raw, Int64, v.Shape[:0]
}

// Int64 is the scalar that v holds; ok is false if v is no int64 scalar.
func (v *Value) Int64() (x int64, ok bool) {
	if v.DType != Int64 || len(v.Data) != 8 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(v.Data)), true
}

// SetFloat32 makes v the scalar x, as numbers are kept: 4 bytes, little-endian, no shape.
func (v *Value) SetFloat32(x float32) {
	v.Data = binary.LittleEndian.AppendUint32(v.Buffer(), math.Float32bits(x))
	v.Encoding, v.DType, v.Shape = Raw, Float32, v.Shape[:0]
}

// Float32 is the scalar that v holds; ok is false if v is no float32 scalar.
func (v *Value) Float32() (x float32, ok bool) {
	if v.DType != Float32 || len(v.Data) != 4 {
		return 0, false
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(v.Data)), true
}

// NoLabel is the label of a sample that has none.
const NoLabel = -1

// Source says where a sample came from; it is kept in the manifest.
type Source struct {
	Path    string   // relative to the source's root, '/'-separated
	Size    int64    // bytes
	ModTime int64    // nanoseconds since 1970
	Hash    [16]byte // XXH3-128 of the file's bytes
}

// Sample is one record: an image, usually its label, and any further fields.
type Sample struct {
	Key    string  // see CheckKey
	Split  string  // "" where the dataset has no splits
	Values []Value // one per field of the dataset's schema, in its order

	Source     Source
	Columns    []string // the user's columns, one per Meta.Columns
	Provenance Provenance
	Checksum   [16]byte // atrest.SampleChecksum of the values, as the manifest keeps it
}

// Info is what a dataset knows about a sample without reading it.
type Info struct {
	Key        string
	Split      string
	Label      int64    // the designated label, NoLabel where there is none or it is no class index
	Size       int64    // bytes of the designated image as stored
	Encoding   Encoding // of the designated image
	Shape      [3]int   // H, W, C of the designated image; zero if unknown
	Checksum   [16]byte // zero in a folder, which keeps no checksums
	Source     Source
	Columns    []string
	Provenance Provenance
}

// Name returns what the user calls the sample: the path that it came from, or else its key.
func (in *Info) Name() string {
	if in.Source.Path != "" {
		return in.Source.Path
	}
	return in.Key
}

// Resize gives s n values and keeps their buffers; a reader calls it before it fills them.
func (s *Sample) Resize(n int) {
	for cap(s.Values) < n {
		s.Values = append(s.Values[:cap(s.Values)], Value{})
	}
	s.Values = s.Values[:n]
}

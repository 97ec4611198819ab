package formats

import (
	"encoding/binary"
	"math"
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
type Value struct {
	Data     []byte
	Encoding Encoding
	// DType and Shape: images of every encoding are (H, W, C), other tensors have their own
	// shape. Both are empty where they have no meaning (text) or are unknown (an encoded image
	// whose header was not read).
	DType DType
	Shape []int

	lent bool // Data is memory of a dataset
}

// Lend sets v's Data to b, memory of a dataset that nobody may write to.
func (v *Value) Lend(b []byte) { v.Data, v.lent = b, true }

// Buffer returns v's own memory with length 0, to append the next Data to: never lent memory.
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

// SetInt64 sets v to the scalar x, the form of labels: 8 bytes, little-endian, no shape.
func (v *Value) SetInt64(x int64) {
	v.Data = binary.LittleEndian.AppendUint64(v.Buffer(), uint64(x))
	v.Encoding, v.DType, v.Shape = Raw, Int64, v.Shape[:0]
}

// SetLabel sets v to the class index x. With lent, the sample's other values are lent memory, and
// SetLabel allocates instead of writing to the buffer of an earlier Read.
func (v *Value) SetLabel(x int64, lent bool) {
	if lent {
		v.Data = nil
	}
	v.SetInt64(x)
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
	v.Data = binary.LittleEndian.AppendUint32(v.Buffer(), math.Float32bits(x))
	v.Encoding, v.DType, v.Shape = Raw, Float32, v.Shape[:0]
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

// Sample is one item of a dataset: an image, usually its label, and any extra fields.
type Sample struct {
	Key    string  // see CheckKey
	Split  string  // "" where the dataset has no splits
	Values []Value // one per field of the dataset's schema, in its order

	Source     Source
	Columns    []string // the user's columns, one per Meta.Columns
	Provenance Provenance
	Checksum   [16]byte // checksum.SampleChecksum of the values, as in the manifest
}

// Info describes a sample without its values.
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

// Resize gives s n values and keeps their buffers. Readers call it before they fill the values.
func (s *Sample) Resize(n int) {
	for cap(s.Values) < n {
		s.Values = append(s.Values[:cap(s.Values)], Value{})
	}
	s.Values = s.Values[:n]
}

package reader

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// record is the layout of a sample in the cache: the EXIF orientation that was applied to its
// pixels, its key, then the values that batches need. Each value is a header and its bytes, both
// aligned to 8. Only processes of the same build share a cache (see cacheName), so this may change.
type record struct {
	fields int   // of the schema
	wanted []int // indices in the schema
}

const (
	recordAlign = 8
	valueHead   = 16 // encoding, type, dimensions, 5 bytes unused, length
)

var (
	recordEncodings = []formats.Encoding{
		"", formats.JPEG, formats.PNG, formats.BMP, formats.GIF, formats.TIFF, formats.WebP,
		formats.Raw, formats.RawZstd, formats.Plain,
	}
	recordTypes = []formats.DType{"", formats.Uint8, formats.Uint16, formats.Int64, formats.Float32}
)

func padded(n int) int { return (n + recordAlign - 1) &^ (recordAlign - 1) }

// size is the length of s's record.
func (r *record) size(s *formats.Sample) int {
	n := 16 + padded(len(s.Key))
	for _, k := range r.wanted {
		v := &s.Values[k]
		n += valueHead + 8*len(v.Shape) + padded(len(v.Data))
	}
	return n
}

// put writes s's record.
func (r *record) put(dst []byte, s *formats.Sample, orientation int) {
	binary.NativeEndian.PutUint64(dst, uint64(orientation))
	binary.NativeEndian.PutUint64(dst[8:], uint64(len(s.Key)))
	dst = dst[16:]
	copy(dst, s.Key)
	dst = dst[padded(len(s.Key)):]
	for _, k := range r.wanted {
		v := &s.Values[k]
		dst[0] = byte(slices.Index(recordEncodings, v.Encoding))
		dst[1] = byte(slices.Index(recordTypes, v.DType))
		dst[2] = byte(len(v.Shape))
		binary.NativeEndian.PutUint64(dst[8:], uint64(len(v.Data)))
		dst = dst[valueHead:]
		for _, n := range v.Shape {
			binary.NativeEndian.PutUint64(dst, uint64(n))
			dst = dst[8:]
		}
		copy(dst, v.Data)
		dst = dst[padded(len(v.Data)):]
	}
}

// view sets s to the sample of a record, in the record's memory, and returns its orientation. Values
// that no batch needs are empty.
func (r *record) view(b []byte, s *formats.Sample) (orientation int) {
	orientation = int(binary.NativeEndian.Uint64(b))
	n := int(binary.NativeEndian.Uint64(b[8:]))
	b = b[16:]
	s.Key = unsafe.String(unsafe.SliceData(b), n)
	b = b[padded(n):]
	s.Resize(r.fields)
	for _, k := range r.wanted {
		v := &s.Values[k]
		v.Encoding, v.DType = recordEncodings[b[0]], recordTypes[b[1]]
		dims, n := int(b[2]), int(binary.NativeEndian.Uint64(b[8:]))
		b = b[valueHead:]
		v.SetShape()
		for range dims {
			v.Shape = append(v.Shape, int(binary.NativeEndian.Uint64(b)))
			b = b[8:]
		}
		v.SetShape(v.Shape...)
		v.Data = b[:n:n]
		b = b[padded(n):]
	}
	return orientation
}

package lmdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// A skippable zstd frame is a magic number, the length of its content, and the content; see
// RFC 8878, 3.1.2. Decompressors ignore it.
const (
	skippableMagic  = 0x184D2A5D
	skippableHeader = 8
	zstdMagic       = "\x28\xb5\x2f\xfd"
	npyMagic        = "\x93NUMPY"
)

// checkField returns an error if the encoding of v, an extra field, could not be recognized from
// the stored bytes.
func checkField(f *formats.Field, v *formats.Value) error {
	switch v.Encoding {
	case formats.Raw, formats.Plain:
	case formats.RawZstd:
		if !bytes.HasPrefix(v.Data, []byte(zstdMagic)) {
			return fmt.Errorf("%w: field %s: the value is not a zstd frame", formats.ErrSchema, f.Name)
		}
	default:
		if got := formats.Sniff(v.Data); got != v.Encoding {
			return fmt.Errorf("%w: field %s: the value is not %s", formats.ErrSchema, f.Name, v.Encoding)
		}
	}
	return nil
}

// appendValue appends the stored form of v.
func appendValue(b []byte, v *formats.Value, designated bool) []byte {
	switch {
	case v.Encoding == formats.Raw:
		return append(npy.AppendHeader(b, v.DType, v.Shape), v.Data...)
	case v.Encoding == formats.RawZstd && !designated:
		b = append(b, v.Data...)
		head := npy.AppendHeader(nil, v.DType, v.Shape)
		b = binary.LittleEndian.AppendUint32(b, skippableMagic)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
		return append(b, head...)
	}
	return append(b, v.Data...)
}

// parseImage returns the designated image stored as b, which e describes. Data points into b.
func parseImage(f *formats.Field, e sampleindex.Entry, b []byte, shape []int, headers *npy.Parser) (formats.Value, error) {
	v := formats.Value{Data: b, Encoding: e.Encoding(), DType: f.DType, Shape: shape[:0]}
	var err error
	if v.Encoding == formats.Raw {
		v, err = parseArray(b, shape, headers)
	} else if s := e.Shape(); s != [3]int{} {
		v.Shape = append(v.Shape, s[:]...)
	}
	if size := e.Size(); err == nil && int64(len(v.Data)) != size {
		err = fmt.Errorf("%w: the image has %d bytes, but %d were written", formats.ErrDamaged, len(v.Data), size)
	}
	if v.Encoding == formats.RawZstd {
		v.DType = value.FrameDType(f, v.Shape, v.Data)
	}
	return v, err
}

// parseField returns the extra field stored as b. Data points into b.
func parseField(f *formats.Field, b []byte, shape []int, headers *npy.Parser) (formats.Value, error) {
	switch f.Kind {
	case formats.Text, formats.JSON, formats.Bytes:
		return formats.Value{Data: b, Encoding: formats.Plain}, nil
	case formats.Image, formats.Mask:
	default:
		return parseArray(b, shape, headers)
	}
	switch {
	case bytes.HasPrefix(b, []byte(npyMagic)):
		return parseArray(b, shape, headers)
	case bytes.HasPrefix(b, []byte(zstdMagic)):
		return parseFrame(b)
	}
	v := formats.Value{Data: b, Encoding: formats.Sniff(b), DType: f.DType, Shape: shape[:0]}
	if v.Encoding == "" {
		return v, fmt.Errorf("%w: its bytes are of no known encoding", formats.ErrDamaged)
	}
	return v, nil
}

func parseArray(b []byte, buf []int, headers *npy.Parser) (formats.Value, error) {
	t, shape, off, err := headers.Parse(b, buf)
	if err != nil {
		return formats.Value{}, formats.WrapDamaged(err)
	}
	return formats.Value{Data: b[off:len(b):len(b)], Encoding: formats.Raw, DType: t, Shape: shape}, nil
}

// parseFrame separates a zstd frame from the skippable one after it. The latter's length
// is a multiple of 64. Its magic may also occur in the data, so the last match is taken: only
// an .npy header follows it.
func parseFrame(b []byte) (formats.Value, error) {
	for n := 64; n <= 1024 && n+skippableHeader <= len(b); n += 64 {
		at := len(b) - n - skippableHeader
		if binary.LittleEndian.Uint32(b[at:]) != skippableMagic || binary.LittleEndian.Uint32(b[at+4:]) != uint32(n) {
			continue
		}
		t, shape, _, err := npy.ParseHeader(b[at+skippableHeader:])
		if err != nil {
			return formats.Value{}, formats.WrapDamaged(err)
		}
		return formats.Value{Data: b[:at:at], Encoding: formats.RawZstd, DType: t, Shape: shape}, nil
	}
	return formats.Value{}, fmt.Errorf("%w: the zstd frame with the shape is missing", formats.ErrDamaged)
}

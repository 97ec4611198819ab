package tfexample

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
)

// The bytes of a frame around its data.
const (
	FrameHead = 12 // length and its checksum
	FrameTail = 4  // the data's checksum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MaskCRC masks a checksum as TensorFlow does, since data may itself contain checksums.
func MaskCRC(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

// AppendFrameHead appends what comes before the size bytes of a frame's data.
func AppendFrameHead(b []byte, size int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return binary.LittleEndian.AppendUint32(b, MaskCRC(crc32.Checksum(b[len(b)-8:], castagnoli)))
}

// FrameLength returns the bytes of the frame at the front of b, of which at least FrameHead bytes are
// needed. It verifies the checksum of the length, and does not compare the length with b's.
func FrameLength(b []byte) (int64, error) {
	if len(b) < FrameHead {
		return 0, fmt.Errorf("%w: the file ends within a frame", formats.ErrDamaged)
	}
	size := binary.LittleEndian.Uint64(b)
	if MaskCRC(crc32.Checksum(b[:8], castagnoli)) != binary.LittleEndian.Uint32(b[8:]) {
		return 0, fmt.Errorf("%w: the checksum of a frame's length differs", formats.ErrDamaged)
	}
	if size > 1<<62 {
		return 0, fmt.Errorf("%w: a frame declares %d bytes", formats.ErrDamaged, size)
	}
	return int64(size) + FrameHead + FrameTail, nil
}

// Unframe returns the data of rec, which is one frame. Only with check does it read the data.
func Unframe(rec []byte, check bool) ([]byte, error) {
	if len(rec) < FrameHead+FrameTail {
		return nil, fmt.Errorf("%w: a frame of %d bytes is too short", formats.ErrDamaged, len(rec))
	}
	n, err := FrameLength(rec)
	if err != nil {
		return nil, err
	}
	data := rec[FrameHead : len(rec)-FrameTail]
	if n != int64(len(rec)) {
		return nil, fmt.Errorf("%w: a frame declares %d bytes, but has %d", formats.ErrDamaged, n-FrameHead-FrameTail, len(data))
	}
	if check && MaskCRC(crc32.Checksum(data, castagnoli)) != binary.LittleEndian.Uint32(rec[len(rec)-FrameTail:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame's data differs", formats.ErrDamaged)
	}
	return data, nil
}

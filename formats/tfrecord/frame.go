package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
)

const (
	frameHead = 12 // length and its checksum
	frameTail = 4  // the data's checksum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskCRC masks a checksum as TensorFlow does, since data may itself contain checksums.
func maskCRC(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

func appendFrameHead(b []byte, size int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return binary.LittleEndian.AppendUint32(b, maskCRC(crc32.Checksum(b[len(b)-8:], castagnoli)))
}

// unframe returns the data of rec, which is one frame. Only with check does it read the data.
func unframe(rec []byte, check bool) ([]byte, error) {
	if len(rec) < frameHead+frameTail {
		return nil, fmt.Errorf("%w: a frame of %d bytes is too short", formats.ErrDamaged, len(rec))
	}
	size := rec[:8]
	if maskCRC(crc32.Checksum(size, castagnoli)) != binary.LittleEndian.Uint32(rec[8:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame's length differs", formats.ErrDamaged)
	}
	data := rec[frameHead : len(rec)-frameTail]
	if n := binary.LittleEndian.Uint64(size); n != uint64(len(data)) {
		return nil, fmt.Errorf("%w: a frame declares %d bytes, but has %d", formats.ErrDamaged, n, len(data))
	}
	if check && maskCRC(crc32.Checksum(data, castagnoli)) != binary.LittleEndian.Uint32(rec[len(rec)-frameTail:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame's data differs", formats.ErrDamaged)
	}
	return data, nil
}

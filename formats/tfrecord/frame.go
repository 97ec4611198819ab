package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
)

const (
	frameHead = 12 // length, its checksum
	frameTail = 4  // the data's checksum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mask is TensorFlow's way to make a checksum of data that holds checksums.
func maskCRC(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

func appendFrameHead(b []byte, size int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return binary.LittleEndian.AppendUint32(b, maskCRC(crc32.Checksum(b[len(b)-8:], castagnoli)))
}

// unframe gives the data of the frame that is all of rec. Only check reads the data.
func unframe(rec []byte, check bool) ([]byte, error) {
	if len(rec) < frameHead+frameTail {
		return nil, fmt.Errorf("%w: a frame of %d bytes", formats.ErrDamaged, len(rec))
	}
	size := rec[:8]
	if maskCRC(crc32.Checksum(size, castagnoli)) != binary.LittleEndian.Uint32(rec[8:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame's length differs", formats.ErrDamaged)
	}
	data := rec[frameHead : len(rec)-frameTail]
	if n := binary.LittleEndian.Uint64(size); n != uint64(len(data)) {
		return nil, fmt.Errorf("%w: a frame of %d bytes where there are %d", formats.ErrDamaged, n, len(data))
	}
	if check && maskCRC(crc32.Checksum(data, castagnoli)) != binary.LittleEndian.Uint32(rec[len(rec)-frameTail:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame differs", formats.ErrDamaged)
	}
	return data, nil
}

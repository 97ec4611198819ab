package checksum

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// CorrectBit flips the one bit of b that makes its CRC-32C that of what was written, sum. It reports whether there is one: two
// different bits of less than 256 MiB never have the same effect on a CRC-32C.
func CorrectBit(b []byte, sum uint32) bool {
	wrong := crc32.Checksum(b, Castagnoli) ^ sum
	var effects [8]uint32 // of the bits of a byte on the sum
	for bit := range effects {
		effects[bit] = Castagnoli[1<<bit]
	}
	for i := len(b) - 1; i >= 0; i-- {
		if bit := slices.Index(effects[:], wrong); bit >= 0 {
			b[i] ^= 1 << bit
			return true
		}
		for bit, x := range effects {
			effects[bit] = Castagnoli[byte(x)] ^ x>>8
		}
	}
	return false
}

// Correct returns the table whose bytes b have one flipped bit.
func Correct(b []byte) (Checksums, error) {
	if end := len(b) - 4; end > 0 {
		b = slices.Clone(b)
		sum := binary.LittleEndian.Uint32(b[end:])
		if now := crc32.Checksum(b[:end], Castagnoli); bits.OnesCount32(now^sum) == 1 {
			binary.LittleEndian.PutUint32(b[end:], now)
		} else {
			CorrectBit(b[:end], sum)
		}
	}
	return DecodeChecksums(b)
}

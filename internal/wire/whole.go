package wire

import "encoding/binary"

// Int returns the little-endian integer in b, which has 1 to 8 bytes. A uint64 that is too large for the result is below 0.
func Int(b []byte, signed bool) int64 {
	var wide [8]byte
	copy(wide[:], b)
	x, unused := binary.LittleEndian.Uint64(wide[:]), 64-8*len(b)
	if signed {
		return int64(x<<unused) >> unused
	}
	return int64(x)
}

// Whole returns a floating-point number of a file as an integer. ok is false unless it is a whole number from 0 to limit:
// the conversion of NaN, an infinity or a number out of range gives another integer on each processor.
func Whole(x float64, limit int) (n int, ok bool) {
	if !(x >= 0 && x < float64(limit)+1) { // of NaN both are false
		return 0, false
	}
	n = int(x)
	return n, float64(n) == x
}

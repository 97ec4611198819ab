package wire

// Whole returns a floating-point number of a file as an integer. ok is false unless it is a whole number from 0 to limit:
// the conversion of NaN, an infinity or a number out of range gives another integer on each processor.
func Whole(x float64, limit int) (n int, ok bool) {
	if !(x >= 0 && x < float64(limit)+1) { // of NaN both are false
		return 0, false
	}
	n = int(x)
	return n, float64(n) == x
}

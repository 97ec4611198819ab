package jpeg

// restartInterval is the interval, in MCUs, between the restart markers of a JPEG whose rows
// have so many MCUs: one scan has one interval, and each row is to start afresh, so that it
// is the largest divisor of the row up to what is wanted. Divisors so small that markers
// would make up a good part of the file don't count; then an interval is a row.
func restartInterval(row, wanted int) int {
	const least = 3
	for n := min(row, wanted); n >= min(least, wanted); n-- {
		if row%n == 0 {
			return n
		}
	}
	return row
}

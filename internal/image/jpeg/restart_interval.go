package jpeg

// restartInterval returns the number of MCUs between the restart markers of a JPEG whose rows have
// row MCUs. A scan has one interval, and each row must begin after a marker, so that it is the
// largest divisor of row up to wanted. Divisors below 3 would make the file much larger with
// markers; then the interval is a whole row.
func restartInterval(row, wanted int) int {
	const smallest = 3
	for n := min(row, wanted); n >= min(smallest, wanted); n-- {
		if row%n == 0 {
			return n
		}
	}
	return row
}

// Package figures has the numbers of reports: medians, figures as people read them, and tables.
package figures

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Median is the middle value, or the mean of the two middle ones; 0 of no values. It does not change their order.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Digits is x with about three digits.
func Digits(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// Counted is a number of things: 1 worker, 2 workers.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Percent is a share as 62 %.
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Table writes the rows with the first column to the left and the others to the right; a row
// of one cell is a line of its own.
func Table(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		if len(row) == 1 {
			fmt.Fprintf(b, "%s\n", row[0])
			continue
		}
		fmt.Fprintf(b, "%-*s", width[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(b, "  %*s", width[i+1], cell)
		}
		b.WriteByte('\n')
	}
}

// Package figures has the numbers of reports: medians, and figures as people read them.
package figures

import (
	"fmt"
	"slices"
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

package page

import (
	"math"
	"strconv"
	"strings"
)

// unknown is the cell of a figure that was not measured.
const unknown = "–"

// cell is the figure, or unknown.
func cell(measured bool, figure string) string {
	if !measured {
		return unknown
	}
	return figure
}

// seconds is a time.
func seconds(x float64) string {
	switch {
	case x != 0 && math.Abs(x) < 0.1:
		return digits(1e3*x) + " ms"
	case math.Abs(x) >= 2*3600:
		return digits(x/3600) + " h"
	}
	return digits(x) + " s"
}

func microseconds(x float64) string { return digits(x) + " µs" }

// size is a number of bytes in powers of ten.
func size(n int64) string {
	x := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if math.Abs(x) < 999.5 {
			return digits(x) + " " + unit
		}
		x /= 1e3
	}
	return digits(x) + " TB"
}

// share is 0.62 as 62 %.
func share(x float64) string { return count(int64(math.Round(100*finite(x)))) + " %" }

// change is 0.62 as +62 %, and -0.04 as −4 %.
func change(x float64) string {
	switch s := share(math.Abs(x)); {
	case s == "0 %":
		return s
	case x < 0:
		return "−" + s
	default:
		return "+" + s
	}
}

// digits is x with about three digits.
func digits(x float64) string {
	x = finite(x)
	if x < 0 {
		return "−" + digits(-x)
	}
	switch {
	case x == 0:
		return "0"
	case x >= 99.95:
		return count(int64(math.Round(x)))
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// count is 60000 as 60,000.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "−", s[1:]
	}
	var groups []string
	for len(s) > 3 {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, groups...), ",")
}

// counted is a number of things: 1 core, 2 cores.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(int64(n)) + " " + thing + "s"
}

// finite is x, or 0 if it is no number: a report that was not measured may have any.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) > 1e18 {
		return 0
	}
	return x
}

// ratio is a/b, 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

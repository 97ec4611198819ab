package augment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The functions of this file write the parts of an op as Parse reads them. What is usual is
// left out.

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func formatFloats(v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = formatFloat(x)
	}
	return strings.Join(s, "/")
}

func formatRange(r [2]float64) string { return formatFloat(r[0]) + "-" + formatFloat(r[1]) }

// formatSize is a size: N for a square, else WIDTHxHEIGHT.
func formatSize(h, w int) string {
	if h == w {
		return fmt.Sprint(h)
	}
	return fmt.Sprintf("%dx%d", w, h)
}

func formatChance(name string, p float64) string {
	if p == 0.5 {
		return name
	}
	return name + ":" + formatFloat(p)
}

func formatFlag(name string, on bool) string {
	if !on {
		return ""
	}
	return ":" + name
}

// formatOption is NAME=VALUE, or nothing if v is zero or usual.
func formatOption[T comparable](name string, v, usual T, format func(T) string) string {
	var zero T
	if v == zero || v == usual {
		return ""
	}
	return ":" + name + "=" + format(v)
}

// formatValues is NAME=VALUES, or nothing if there is none.
func formatValues(name string, v []float64) string {
	if len(v) == 0 {
		return ""
	}
	return ":" + name + "=" + formatFloats(v)
}

func formatFilter(f, usual pixel.Filter) string {
	return formatFlag(string(f), f != "" && f != usual)
}

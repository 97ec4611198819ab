package legible

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize parses a number of bytes: 500MB, 1GB (powers of ten), 1GiB (powers of two).
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"TiB", 1 << 40},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"B", 1},
		{"", 1},
	}
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
			if err != nil || !(n*u.bytes >= 1 && n*u.bytes < 1<<62) {
				break
			}
			return int64(n * u.bytes), nil
		}
	}
	return 0, fmt.Errorf("size %q: write it as 500MB, 1GB or 1GiB", s)
}

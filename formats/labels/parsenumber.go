package labels

import (
	"math"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// MaxIndex is the largest class index allowed: the dataset names a class for each index up to
// the largest one used.
const MaxIndex = formats.MaxClasses - 1

// parseNumber parses a text that people would write for a number. A text such as "007" is a name.
func parseNumber(text string) (x float64, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789.eE+-") != "" {
		return 0, false
	}
	if digits[0] == '0' && len(digits) > 1 && digits[1] >= '0' && digits[1] <= '9' {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// parseIndex parses a class index written as a whole number: "3", not "3.0".
func parseIndex(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}

// wholeNumber parses a whole number from 0, also one that is written "3.0".
func wholeNumber(text string) (n int, ok bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	return wire.Whole(x, math.MaxInt32)
}

// NaN returns the number of a sample that has none, always with the same bits.
func NaN() float32 { return math.Float32frombits(0x7fc00000) }

// parseFloat parses a number to predict; "" and nan are NaN.
func parseFloat(text string) (x float32, ok bool) {
	if text == "" || strings.EqualFold(text, "nan") {
		return NaN(), true
	}
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false // Go would also parse hexadecimal and infinite numbers
	}
	v, err := strconv.ParseFloat(text, 32)
	return float32(v), err == nil
}

// FormatFloat formats x so that parsing returns the same bits; NaN is "".
func FormatFloat(x float32) string {
	if x != x { // only NaN differs from itself
		return ""
	}
	return strconv.FormatFloat(float64(x), 'g', -1, 32)
}

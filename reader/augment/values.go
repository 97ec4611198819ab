package augment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// options are what reads the arguments of a transform: NAME=VALUE under "NAME=", a word under
// itself, everything else, if allowed, under "".
type options map[string]func(value string) error

func (o options) parse(args []string) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if ok {
			name += "="
		}
		set := o[name]
		if set == nil {
			set, value = o[""], a
		}
		if set == nil {
			return errArguments
		}
		if err := set(value); err != nil {
			return err
		}
	}
	return nil
}

// parseSized reads a size, then options.
func parseSized(args []string, h, w *int, o options) (err error) {
	if len(args) == 0 {
		return errArguments
	}
	if *h, *w, err = parseSize(args[0]); err != nil {
		return err
	}
	return o.parse(args[1:])
}

func to[T any](v *T, parse func(string) (T, error)) func(string) error {
	return func(s string) (err error) {
		*v, err = parse(s)
		return err
	}
}

func toFilter(op string, f *pixel.Filter) func(string) error {
	return func(s string) error {
		*f = pixel.Filter(s)
		return checkFilter(op, *f)
	}
}

func flag(on *bool) func(string) error {
	return func(string) error {
		*on = true
		return nil
	}
}

// parsePadding reads N, LEFTRIGHT/TOPBOTTOM or LEFT/TOP/RIGHT/BOTTOM.
func parsePadding(s string) (p [4]int, err error) {
	words := strings.Split(s, "/")
	switch len(words) {
	case 1:
		words = []string{s, s, s, s}
	case 2:
		words = append(words, words...)
	case 4:
	default:
		return p, fmt.Errorf("padding %q: wanted one, two or four numbers", s)
	}
	for i, w := range words {
		if p[i], err = strconv.Atoi(w); err != nil || p[i] < 0 || p[i] > maxSide {
			return p, fmt.Errorf("padding %q: wanted 0 to %d", s, maxSide)
		}
	}
	return p, nil
}

// parseSize reads N or WIDTHxHEIGHT.
func parseSize(s string) (h, w int, err error) {
	width, height, both := strings.Cut(s, "x")
	if w, err = parseSide(width); err != nil || !both {
		return w, w, err
	}
	h, err = parseSide(height)
	return h, w, err
}

// maxSide keeps sizes within what can be allocated and multiplied.
const maxSide = 1 << 16

func parseSide(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 || n > maxSide {
		return 0, fmt.Errorf("%q is not a size: wanted 1 to %d", s, maxSide)
	}
	return n, nil
}

func parseFloat(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return x, nil
}

func parseRange(s string) (r [2]float64, err error) {
	low, high, ok := strings.Cut(s, "-")
	if !ok {
		return r, fmt.Errorf("%q is not a range: wanted LOW-HIGH", s)
	}
	if r[0], err = parseFloat(low); err != nil {
		return r, err
	}
	r[1], err = parseFloat(high)
	return r, err
}

func parseFloats(s string) ([]float64, error) {
	var v []float64
	for word := range strings.SplitSeq(s, "/") {
		x, err := parseFloat(word)
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

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

package augment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess"
)

// Syntax is what Parse reads, one form a line, for help texts.
const Syntax = `train:SIZE                 rrc:SIZE,flip
eval:SIZE                  resize of the shorter side to 8/7 of SIZE, centercrop:SIZE
rrc:SIZE[:scale=LOW-HIGH][:ratio=LOW-HIGH][:FILTER]
resize:SHORTER[:FILTER]    resize:WIDTHxHEIGHT[:FILTER]
centercrop:SIZE
flip[:PROBABILITY]
jitter:ALL                 jitter:BRIGHTNESS:CONTRAST:SATURATION[:HUE]
normalize[:MEAN:STD]       values a channel joined by '/'; ImageNet's if left out
SIZE is N for a square or WIDTHxHEIGHT`

type parser func(args []string) ([]Op, error)

var parsers = map[string]parser{
	"train":      preset(Train),
	"eval":       preset(Eval),
	"rrc":        parseRandomResizedCrop,
	"resize":     parseResize,
	"centercrop": parseCenterCrop,
	"flip":       parseFlip,
	"jitter":     parseJitter,
	"normalize":  parseNormalize,
}

// Parse reads a list of ops such as "rrc:224,flip,jitter:0.4,normalize"; see Syntax. An
// empty string is no ops.
func Parse(s string) ([]Op, error) {
	var ops []Op
	if s == "" {
		return ops, nil
	}
	for word := range strings.SplitSeq(s, ",") {
		args := strings.Split(strings.TrimSpace(word), ":")
		parse, ok := parsers[args[0]]
		if !ok {
			return nil, fmt.Errorf("unknown transform %q; known: %s", args[0], strings.Join(names(), ", "))
		}
		parsed, err := parse(args[1:])
		if err != nil {
			return nil, fmt.Errorf("transform %q: %w", word, err)
		}
		ops = append(ops, parsed...)
	}
	return ops, nil
}

// Format is the string that Parse reads ops from.
func Format(ops []Op) string {
	s := make([]string, len(ops))
	for i, o := range ops {
		s[i] = o.String()
	}
	return strings.Join(s, ",")
}

func names() []string {
	var names []string
	for n := range parsers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

var errArguments = errors.New("wrong number of arguments")

func preset(ops func(int) []Op) parser {
	return func(args []string) ([]Op, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		size, err := parseSide(args[0])
		return ops(size), err
	}
}

func parseRandomResizedCrop(args []string) (_ []Op, err error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	var o RandomResizedCrop
	if o.H, o.W, err = parseSize(args[0]); err != nil {
		return nil, err
	}
	for _, a := range args[1:] {
		switch name, value, _ := strings.Cut(a, "="); name {
		case "scale":
			o.Scale, err = parseRange(value)
		case "ratio":
			o.Ratio, err = parseRange(value)
		default:
			o.Filter = preprocess.Filter(a)
		}
		if err != nil {
			return nil, err
		}
	}
	return []Op{o}, checkFilter("rrc", o.Filter)
}

func parseResize(args []string) (_ []Op, err error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, errArguments
	}
	var o Resize
	if strings.Contains(args[0], "x") {
		o.H, o.W, err = parseSize(args[0])
	} else {
		o.Shorter, err = parseSide(args[0])
	}
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		o.Filter = preprocess.Filter(args[1])
	}
	return []Op{o}, checkFilter("resize", o.Filter)
}

func parseCenterCrop(args []string) ([]Op, error) {
	if len(args) != 1 {
		return nil, errArguments
	}
	h, w, err := parseSize(args[0])
	return []Op{CenterCrop{H: h, W: w}}, err
}

func parseFlip(args []string) ([]Op, error) {
	switch len(args) {
	case 0:
		return []Op{RandomHorizontalFlip{P: 0.5}}, nil
	case 1:
		p, err := parseFloat(args[0])
		return []Op{RandomHorizontalFlip{P: p}}, err
	}
	return nil, errArguments
}

func parseJitter(args []string) ([]Op, error) {
	var v [4]float64
	if len(args) != 1 && len(args) != 3 && len(args) != 4 {
		return nil, errArguments
	}
	for i, a := range args {
		x, err := parseFloat(a)
		if err != nil {
			return nil, err
		}
		v[i] = x
	}
	if len(args) == 1 {
		v[1], v[2] = v[0], v[0]
	}
	return []Op{ColorJitter{Brightness: v[0], Contrast: v[1], Saturation: v[2], Hue: v[3]}}, nil
}

func parseNormalize(args []string) (_ []Op, err error) {
	o := ImageNet
	switch len(args) {
	case 0:
		return []Op{o}, nil
	case 2:
		if o.Mean, err = parseFloats(args[0]); err != nil {
			return nil, err
		}
		o.Std, err = parseFloats(args[1])
		return []Op{o}, err
	}
	return nil, errArguments
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
		return 0, fmt.Errorf("%q is no size: wanted 1 to %d", s, maxSide)
	}
	return n, nil
}

func parseFloat(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return x, nil
}

func parseRange(s string) (r [2]float64, err error) {
	low, high, ok := strings.Cut(s, "-")
	if !ok {
		return r, fmt.Errorf("%q is no range: wanted LOW-HIGH", s)
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

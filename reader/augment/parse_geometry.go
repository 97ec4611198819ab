package augment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess/resample"
)

// parseOptions gives each argument to set: NAME=VALUE as NAME= and VALUE, a word as name.
func parseOptions(args []string, set func(name, value string) error) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if ok {
			name += "="
		}
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}

func parseRandomCrop(args []string) (_ []Op, err error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	var o RandomCrop
	if o.H, o.W, err = parseSize(args[0]); err != nil {
		return nil, err
	}
	err = parseOptions(args[1:], func(name, value string) (err error) {
		switch name {
		case "pad=":
			o.Padding, err = parsePadding(value)
		case "grow":
			o.Grow = true
		case "fill=":
			o.Fill, err = parseFloats(value)
		default:
			o.Mode = PadMode(name)
			err = checkPadMode("crop", o.Mode)
		}
		return err
	})
	return []Op{o}, err
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

func parseRotation(args []string) (_ []Op, err error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	degrees, err := parseFloats(args[0])
	if err != nil {
		return nil, err
	}
	var o RandomRotation
	switch len(degrees) {
	case 1:
		o.Low, o.High = -degrees[0], degrees[0]
	case 2:
		o.Low, o.High = degrees[0], degrees[1]
	default:
		return nil, errArguments
	}
	err = parseOptions(args[1:], func(name, value string) (err error) {
		switch name {
		case "expand":
			o.Expand = true
		case "center=":
			o.Center, err = parseFloats(value)
		case "fill=":
			o.Fill, err = parseFloats(value)
		default:
			o.Filter = resample.Filter(name)
			err = checkFilter("rotate", o.Filter)
		}
		return err
	})
	return []Op{o}, err
}

func parseErasing(args []string) ([]Op, error) {
	o := RandomErasing{P: 0.5}
	err := parseOptions(args, func(name, value string) (err error) {
		switch {
		case name == "scale=":
			o.Scale, err = parseRange(value)
		case name == "ratio=":
			o.Ratio, err = parseRange(value)
		case name == "value=" && value == "random":
			o.Random, o.Value = true, nil
		case name == "value=":
			o.Value, err = parseFloats(value)
			o.Random = false
		default:
			o.P, err = parseFloat(name)
		}
		return err
	})
	return []Op{o}, err
}

// parseApply reads PROBABILITY:TRANSFORM+TRANSFORM+...
func parseApply(args []string) ([]Op, error) {
	if len(args) < 2 {
		return nil, errArguments
	}
	p, err := parseFloat(args[0])
	if err != nil {
		return nil, err
	}
	o := RandomApply{P: p}
	for word := range strings.SplitSeq(strings.Join(args[1:], ":"), "+") {
		if strings.HasPrefix(word, "apply") {
			return nil, errors.New("apply cannot hold another apply")
		}
		ops, err := parseOp(word)
		if err != nil {
			return nil, err
		}
		o.Ops = append(o.Ops, ops...)
	}
	return []Op{o}, nil
}

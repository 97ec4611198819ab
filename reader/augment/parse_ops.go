package augment

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

func preset(ops func(int) Ops) parser {
	return func(args []string) ([]Op, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		size, err := parseSide(args[0])
		return ops(size), err
	}
}

// number reads one number.
func number(op func(float64) Op) parser {
	return func(args []string) ([]Op, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		x, err := parseFloat(args[0])
		return []Op{op(x)}, err
	}
}

// chance reads a probability that may be left out.
func chance(usual float64, op func(p float64) Op) parser {
	return func(args []string) ([]Op, error) {
		if len(args) == 0 {
			return []Op{op(usual)}, nil
		}
		return number(op)(args)
	}
}

// amount reads a number and a probability that may be left out.
func amount(op func(x, p float64) Op) parser {
	return func(args []string) ([]Op, error) {
		if len(args) == 0 {
			return nil, errArguments
		}
		x, err := parseFloat(args[0])
		if err != nil {
			return nil, err
		}
		return chance(0.5, func(p float64) Op { return op(x, p) })(args[1:])
	}
}

func parsePosterize(args []string) ([]Op, error) {
	bits := 0.0
	ops, err := amount(func(x, p float64) Op { bits = x; return RandomPosterize{int(x), p} })(args)
	if err == nil && bits != math.Trunc(bits) {
		err = fmt.Errorf("%v bits: wanted a whole number", bits)
	}
	return ops, err
}

func parseRandomResizedCrop(args []string) ([]Op, error) {
	var o RandomResizedCrop
	err := parseSized(args, &o.H, &o.W, options{
		"scale=": to(&o.Scale, parseRange), "ratio=": to(&o.Ratio, parseRange), "": toFilter("rrc", &o.Filter),
	})
	return []Op{o}, err
}

func parseResize(args []string) (_ []Op, err error) {
	if len(args) == 0 || len(args) > 3 {
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
	err = options{"max=": to(&o.Max, parseSide), "": toFilter("resize", &o.Filter)}.parse(args[1:])
	return []Op{o}, err
}

func parseCenterCrop(args []string) ([]Op, error) {
	var o CenterCrop
	err := parseSized(args, &o.H, &o.W, options{"floor": flag(&o.Floor)})
	return []Op{o}, err
}

func parseRandomCrop(args []string) ([]Op, error) {
	var o RandomCrop
	err := parseSized(args, &o.H, &o.W, options{
		"pad=": to(&o.Padding, parsePadding), "grow": flag(&o.Grow), "fill=": to(&o.Fill, parseFloats),
		"": func(mode string) error {
			o.Mode = PadMode(mode)
			return checkPadMode("crop", o.Mode)
		},
	})
	return []Op{o}, err
}

func parseBlur(args []string) ([]Op, error) {
	var o GaussianBlur
	err := parseSized(args, &o.H, &o.W, options{"sigma=": to(&o.Sigma, parseRange)})
	return []Op{o}, err
}

func parseRotation(args []string) ([]Op, error) {
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
	err = options{
		"expand": flag(&o.Expand), "center=": to(&o.Center, parseFloats),
		"fill=": to(&o.Fill, parseFloats), "": toFilter("rotate", &o.Filter),
	}.parse(args[1:])
	return []Op{o}, err
}

func parseJitter(args []string) ([]Op, error) {
	if len(args) == 1 {
		args = []string{args[0], args[0], args[0]}
	}
	if len(args) != 3 && len(args) != 4 {
		return nil, errArguments
	}
	var o ColorJitter
	strengths := [4]*float64{&o.Brightness, &o.Contrast, &o.Saturation, &o.Hue}
	for i, a := range args {
		x, err := parseFloats(a)
		switch {
		case err != nil:
			return nil, err
		case len(x) == 1:
			*strengths[i] = x[0]
		case len(x) == 2 && i < 3 && x[1] == 0:
			return nil, fmt.Errorf("%q: the highest factor must be more than 0", a)
		case len(x) == 2:
			o.Ranges[i] = [2]float64{x[0], x[1]}
		default:
			return nil, fmt.Errorf("%q: wanted one number or LOW/HIGH", a)
		}
	}
	return []Op{o}, nil
}

func parseTrivialAugment(args []string) ([]Op, error) {
	var o TrivialAugmentWide
	err := options{
		"bins=": to(&o.Bins, strconv.Atoi), "fill=": to(&o.Fill, parseFloats),
		"v2": flag(&o.V2), "": toFilter("interpolation", &o.Filter),
	}.parse(args)
	return []Op{o}, err
}

func parseRandAugment(args []string) ([]Op, error) {
	o := defaultRandAugment
	err := options{
		"ops=": to(&o.Ops, strconv.Atoi), "magnitude=": to(&o.Magnitude, strconv.Atoi),
		"bins=": to(&o.Bins, strconv.Atoi), "fill=": to(&o.Fill, parseFloats),
		"v2": flag(&o.V2), "": toFilter("interpolation", &o.Filter),
	}.parse(args)
	return []Op{o}, err
}

func parseNormalize(args []string) (_ []Op, err error) {
	o := ImageNet
	switch len(args) {
	case 0:
		return []Op{o}, nil
	case 1:
		if args[0] != "dataset" {
			return nil, errArguments
		}
		return []Op{NormalizeByDataset{}}, nil
	case 2:
		if o.Mean, err = parseFloats(args[0]); err != nil {
			return nil, err
		}
		o.Std, err = parseFloats(args[1])
		return []Op{o}, err
	}
	return nil, errArguments
}

func parseErasing(args []string) ([]Op, error) {
	o := RandomErasing{P: 0.5}
	err := options{
		"scale=": to(&o.Scale, parseRange), "ratio=": to(&o.Ratio, parseRange), "": to(&o.P, parseFloat),
		"value=": func(s string) (err error) {
			o.Value, o.Random = nil, s == "random"
			if !o.Random {
				o.Value, err = parseFloats(s)
			}
			return err
		},
	}.parse(args)
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

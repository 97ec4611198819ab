package augment

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dsconv/dsconv/preprocess/resample"
)

func parseGrayscale(args []string) ([]Op, error) {
	if len(args) == 0 {
		return []Op{RandomGrayscale{P: 1}}, nil
	}
	p, err := parseChance(args)
	return []Op{RandomGrayscale{P: p}}, err
}

func parseInvert(args []string) ([]Op, error) {
	p, err := parseChance(args)
	return []Op{RandomInvert{P: p}}, err
}

func parseAutocontrast(args []string) ([]Op, error) {
	p, err := parseChance(args)
	return []Op{RandomAutocontrast{P: p}}, err
}

func parseEqualize(args []string) ([]Op, error) {
	p, err := parseChance(args)
	return []Op{RandomEqualize{P: p}}, err
}

func parsePosterize(args []string) ([]Op, error) {
	bits, p, err := parseAmount(args)
	if err == nil && bits != math.Trunc(bits) {
		err = fmt.Errorf("%v bits: wanted a whole number", bits)
	}
	return []Op{RandomPosterize{Bits: int(bits), P: p}}, err
}

func parseSolarize(args []string) ([]Op, error) {
	threshold, p, err := parseAmount(args)
	return []Op{RandomSolarize{Threshold: threshold, P: p}}, err
}

func parseSharpness(args []string) ([]Op, error) {
	factor, p, err := parseAmount(args)
	return []Op{RandomAdjustSharpness{Factor: factor, P: p}}, err
}

// parseAmount reads a number and a probability that may be left out.
func parseAmount(args []string) (amount, p float64, err error) {
	if len(args) == 0 {
		return 0, 0, errArguments
	}
	if amount, err = parseFloat(args[0]); err != nil {
		return 0, 0, err
	}
	p, err = parseChance(args[1:])
	return amount, p, err
}

func parseBlur(args []string) (_ []Op, err error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	var o GaussianBlur
	if o.H, o.W, err = parseSize(args[0]); err != nil {
		return nil, err
	}
	err = parseOptions(args[1:], func(name, value string) (err error) {
		if name != "sigma=" {
			return errArguments
		}
		o.Sigma, err = parseRange(value)
		return err
	})
	return []Op{o}, err
}

func parseTrivialAugment(args []string) ([]Op, error) {
	var o TrivialAugmentWide
	args, o.V2 = cutV2(args)
	err := parseAutomatic(args, map[string]*int{"bins=": &o.Bins}, &o.Filter, &o.Fill)
	return []Op{o}, err
}

func parseRandAugment(args []string) ([]Op, error) {
	o := defaultRandAugment
	args, o.V2 = cutV2(args)
	numbers := map[string]*int{"ops=": &o.Ops, "magnitude=": &o.Magnitude, "bins=": &o.Bins}
	err := parseAutomatic(args, numbers, &o.Filter, &o.Fill)
	return []Op{o}, err
}

// cutV2 takes the word v2 from the end of args.
func cutV2(args []string) ([]string, bool) {
	n := len(args) - 1
	if n < 0 || args[n] != "v2" {
		return args, false
	}
	return args[:n], true
}

// parseAutomatic reads NAME=NUMBER of the given names, a filter and fill=VALUES.
func parseAutomatic(args []string, numbers map[string]*int, filter *resample.Filter, fill *[]float64) error {
	return parseOptions(args, func(name, value string) (err error) {
		if n, ok := numbers[name]; ok {
			*n, err = strconv.Atoi(value)
			return err
		}
		if name == "fill=" {
			*fill, err = parseFloats(value)
			return err
		}
		*filter = resample.Filter(name)
		return checkFilter("interpolation", *filter)
	})
}

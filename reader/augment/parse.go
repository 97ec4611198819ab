package augment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess/resample"
)

// Syntax is what Parse reads, one form per line, for help texts.
const Syntax = `train:SIZE                 rrc:SIZE,flip
eval:SIZE                  resize of the shorter side to 8/7 of SIZE, centercrop:SIZE
rrc:SIZE[:scale=LOW-HIGH][:ratio=LOW-HIGH][:FILTER]
resize:WIDTHxHEIGHT[:FILTER]
resize:SHORTER[:max=LONGER][:FILTER]
centercrop:SIZE[:floor]    floor rounds the offset down; without it half an offset is rounded to even
crop:SIZE[:pad=N][:grow][:fill=VALUES][:MODE]
                           at a random offset; pad also as X/Y or LEFT/TOP/RIGHT/BOTTOM;
                           grow pads images that are smaller than SIZE;
                           MODE is constant, edge, reflect or symmetric
flip[:PROBABILITY]         left to right
vflip[:PROBABILITY]        top to bottom
rotate:DEGREES[:FILTER][:expand][:center=X/Y][:fill=VALUES]
                           DEGREES is N for -N to N, or LOW/HIGH
jitter:ALL                 jitter:BRIGHTNESS:CONTRAST:SATURATION[:HUE], each N for 1-N to 1+N
                           (hue: -N to N) or LOW/HIGH
gray[:PROBABILITY]         always gray without PROBABILITY
blur:KERNEL[:sigma=LOW-HIGH]
                           KERNEL is written as SIZE and must be odd
sharpness:FACTOR[:PROBABILITY]
posterize:BITS[:PROBABILITY]
solarize:THRESHOLD[:PROBABILITY]
invert[:PROBABILITY]       autocontrast[:PROBABILITY], equalize[:PROBABILITY]
trivialaugment[:bins=N][:FILTER][:fill=VALUES][:v2]
randaugment[:ops=N][:magnitude=N][:bins=N][:FILTER][:fill=VALUES][:v2]
                           v2: solarize as rounded by torchvision.transforms.v2
normalize[:MEAN:STD]       one value per channel, joined by '/'; by default ImageNet's
erase[:PROBABILITY][:scale=LOW-HIGH][:ratio=LOW-HIGH][:value=VALUES|random]
                           erases a random region; must come after normalize
apply:PROBABILITY:TRANSFORM[+TRANSFORM...]
mixup:ALPHA                mixes the images of a batch; must come last
cutmix:ALPHA               the same; with mixup and cutmix each batch gets one of them
SIZE is N for a square or WIDTHxHEIGHT; VALUES is one value, or one per channel, joined by '/'`

type parser func(args []string) ([]Op, error)

// parsers is a function because apply's parser asks it too.
func parsers() map[string]parser {
	return map[string]parser{
		"train":      preset(Train),
		"eval":       preset(Eval),
		"rrc":        parseRandomResizedCrop,
		"resize":     parseResize,
		"centercrop": parseCenterCrop,
		"flip":       parseFlip,
		"vflip":      parseVerticalFlip,
		"crop":       parseRandomCrop,
		"rotate":     parseRotation,
		"erase":      parseErasing,
		"apply":      parseApply,
		"jitter":     parseJitter,

		"gray":           parseGrayscale,
		"blur":           parseBlur,
		"sharpness":      parseSharpness,
		"invert":         parseInvert,
		"posterize":      parsePosterize,
		"solarize":       parseSolarize,
		"autocontrast":   parseAutocontrast,
		"equalize":       parseEqualize,
		"trivialaugment": parseTrivialAugment,
		"randaugment":    parseRandAugment,

		"normalize": parseNormalize,

		"mixup":  parseMixer(func(alpha float64) Op { return MixUp{alpha} }),
		"cutmix": parseMixer(func(alpha float64) Op { return CutMix{alpha} }),
	}
}

// Ops are transforms that follow each other. Their text, in JSON too, is what Parse reads.
type Ops []Op

// MarshalText implements encoding.TextMarshaler.
func (o Ops) MarshalText() ([]byte, error) { return []byte(Format(o)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Ops) UnmarshalText(text []byte) (err error) {
	*o, err = Parse(string(text))
	return err
}

// Parse reads a list of ops such as "rrc:224,flip,jitter:0.4,normalize"; see Syntax. An
// empty string is no ops.
func Parse(s string) ([]Op, error) {
	var ops []Op
	if s == "" {
		return ops, nil
	}
	for word := range strings.SplitSeq(s, ",") {
		parsed, err := parseOp(word)
		if err != nil {
			return nil, err
		}
		ops = append(ops, parsed...)
	}
	return ops, nil
}

// parseOp reads one word of a list.
func parseOp(word string) ([]Op, error) {
	args := strings.Split(strings.TrimSpace(word), ":")
	parse, ok := parsers()[args[0]]
	if !ok {
		return nil, fmt.Errorf("unknown transform %q; known: %s", args[0], strings.Join(names(), ", "))
	}
	ops, err := parse(args[1:])
	if err != nil {
		return nil, fmt.Errorf("transform %q: %w", word, err)
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
	for n := range parsers() {
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
			o.Filter = resample.Filter(a)
		}
		if err != nil {
			return nil, err
		}
	}
	return []Op{o}, checkFilter("rrc", o.Filter)
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
	err = parseOptions(args[1:], func(name, value string) (err error) {
		if name == "max=" {
			o.Max, err = parseSide(value)
			return err
		}
		o.Filter = resample.Filter(name)
		return checkFilter("resize", o.Filter)
	})
	return []Op{o}, err
}

func parseCenterCrop(args []string) ([]Op, error) {
	floor := len(args) == 2 && args[1] == "floor"
	if len(args) != 1 && !floor {
		return nil, errArguments
	}
	h, w, err := parseSize(args[0])
	return []Op{CenterCrop{H: h, W: w, Floor: floor}}, err
}

func parseFlip(args []string) ([]Op, error) {
	p, err := parseChance(args)
	return []Op{RandomHorizontalFlip{P: p}}, err
}

func parseVerticalFlip(args []string) ([]Op, error) {
	p, err := parseChance(args)
	return []Op{RandomVerticalFlip{P: p}}, err
}

// parseChance reads a probability that may be left out.
func parseChance(args []string) (float64, error) {
	switch len(args) {
	case 0:
		return 0.5, nil
	case 1:
		return parseFloat(args[0])
	}
	return 0, errArguments
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

package augment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
normalize:dataset          by the figures that pack --stats recorded in the dataset
erase[:PROBABILITY][:scale=LOW-HIGH][:ratio=LOW-HIGH][:value=VALUES|random]
                           erases a random region; must come after normalize
apply:PROBABILITY:TRANSFORM[+TRANSFORM...]
mixup:ALPHA                mixes the images of a batch; must come last
cutmix:ALPHA               the same; with mixup and cutmix each batch gets one of them
SIZE is N for a square or WIDTHxHEIGHT; VALUES is one value, or one per channel, joined by '/'`

// parser reads the arguments of a transform.
type parser func(args []string) ([]Op, error)

// parsers is a function because apply's parser asks it too.
func parsers() map[string]parser {
	return map[string]parser{
		"train":      preset(Train),
		"eval":       preset(Eval),
		"rrc":        parseRandomResizedCrop,
		"resize":     parseResize,
		"centercrop": parseCenterCrop,
		"flip":       chance(0.5, func(p float64) Op { return RandomHorizontalFlip{p} }),
		"vflip":      chance(0.5, func(p float64) Op { return RandomVerticalFlip{p} }),
		"crop":       parseRandomCrop,
		"rotate":     parseRotation,
		"erase":      parseErasing,
		"apply":      parseApply,
		"jitter":     parseJitter,

		"gray":           chance(1, func(p float64) Op { return RandomGrayscale{p} }),
		"blur":           parseBlur,
		"sharpness":      amount(func(x, p float64) Op { return RandomAdjustSharpness{x, p} }),
		"invert":         chance(0.5, func(p float64) Op { return RandomInvert{p} }),
		"posterize":      parsePosterize,
		"solarize":       amount(func(x, p float64) Op { return RandomSolarize{x, p} }),
		"autocontrast":   chance(0.5, func(p float64) Op { return RandomAutocontrast{p} }),
		"equalize":       chance(0.5, func(p float64) Op { return RandomEqualize{p} }),
		"trivialaugment": parseTrivialAugment,
		"randaugment":    parseRandAugment,

		"normalize": parseNormalize,

		"mixup":  number(func(alpha float64) Op { return MixUp{alpha} }),
		"cutmix": number(func(alpha float64) Op { return CutMix{alpha} }),
	}
}

var errArguments = errors.New("wrong number of arguments")

// Ops are transforms that follow each other. Their text, in JSON too, is what Parse reads.
type Ops []Op

// String is the text that Parse reads o from: "rrc:224,flip". An op that was written in Go and is not
// in Syntax has the text of its own String method there, which Parse refuses.
func (o Ops) String() string { return join(o, ",") }

// MarshalText implements encoding.TextMarshaler: String.
func (o Ops) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Ops) UnmarshalText(text []byte) (err error) {
	*o, err = Parse(string(text))
	return err
}

// Parse reads a list of ops such as "rrc:224,flip,jitter:0.4,normalize"; see Syntax. An
// empty string is no ops.
func Parse(s string) (Ops, error) {
	var ops Ops
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
	if args[0] == funcPrefix {
		return nil, fmt.Errorf("transform %q: %w", word, errFunc)
	}
	parse, ok := parsers()[args[0]]
	if !ok {
		return nil, fmt.Errorf("unknown transform %q; known: %s", args[0], strings.Join(slices.Sorted(maps.Keys(parsers())), ", "))
	}
	ops, err := parse(args[1:])
	if err == nil {
		err = checkParsed(ops)
	}
	if err != nil {
		return nil, fmt.Errorf("transform %q: %w", word, err)
	}
	return ops, nil
}

// checkParsed reports values that make no sense, whatever images ops are for.
func checkParsed(ops []Op) (err error) {
	for _, o := range ops {
		for _, channels := range []int{4, 2, 1, 3} {
			if err = o.Check(channels); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// join is the text of ops one after another.
func join(ops []Op, separator string) string {
	s := make([]string, len(ops))
	for i, o := range ops {
		s[i] = text(o)
	}
	return strings.Join(s, separator)
}

// Train is the usual augmentation of training images: a random resized crop to size by
// size and a flip in half of the cases. Append ImageNet for normalised float32 batches.
func Train(size int) Ops {
	return Ops{RandomResizedCrop{H: size, W: size}, RandomHorizontalFlip{P: 0.5}}
}

// Eval is the usual preparation of evaluation images: the shorter side to 8/7 of size
// (256 for 224) and the middle size by size pixels. Append ImageNet for normalised
// float32 batches.
func Eval(size int) Ops {
	return Ops{Resize{Shorter: (size*8 + 3) / 7}, CenterCrop{H: size, W: size}}
}

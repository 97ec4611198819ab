package augment

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Ops
	}{
		{"", nil},
		{
			"rrc:224,flip,jitter:0.4,normalize",
			[]Op{
				RandomResizedCrop{H: 224, W: 224},
				RandomHorizontalFlip{P: 0.5},
				ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4},
				ImageNet,
			},
		},
		{
			"rrc:32x24:scale=0.5-1:ratio=1-2:bicubic",
			[]Op{RandomResizedCrop{H: 24, W: 32, Scale: [2]float64{0.5, 1}, Ratio: [2]float64{1, 2}, Filter: pixel.Bicubic}},
		},
		{"resize:256, centercrop:224x200", []Op{Resize{Shorter: 256}, CenterCrop{H: 200, W: 224}}},
		{"resize:64x64:lanczos,flip:0.25", []Op{Resize{H: 64, W: 64, Filter: pixel.Lanczos}, RandomHorizontalFlip{P: 0.25}}},
		{"jitter:0.1:0.2:0.3:0.05", []Op{ColorJitter{Brightness: 0.1, Contrast: 0.2, Saturation: 0.3, Hue: 0.05}}},
		{"normalize:0.5/0.4/0.3:0.25", []Op{Normalize{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.25}}}},
		{"resize:256:max=400:box", []Op{Resize{Shorter: 256, Max: 400, Filter: pixel.Box}}},
		{"crop:32:pad=4,vflip", []Op{RandomCrop{H: 32, W: 32, Padding: [4]int{4, 4, 4, 4}}, RandomVerticalFlip{P: 0.5}}},
		{
			"crop:32x24:pad=1/2:grow:fill=3/4/5,crop:8:pad=1/2/3/4:reflect",
			[]Op{
				RandomCrop{H: 24, W: 32, Padding: [4]int{1, 2, 1, 2}, Grow: true, Fill: []float64{3, 4, 5}},
				RandomCrop{H: 8, W: 8, Padding: [4]int{1, 2, 3, 4}, Mode: PadReflect},
			},
		},
		{
			"rotate:30,rotate:-10/20.5:bilinear:expand:center=1/2:fill=9",
			[]Op{
				RandomRotation{Low: -30, High: 30},
				RandomRotation{Low: -10, High: 20.5, Filter: pixel.Bilinear, Expand: true, Center: []float64{1, 2}, Fill: []float64{9}},
			},
		},
		{"mixup:0.2,cutmix:1", []Op{MixUp{0.2}, CutMix{1}}},
		{
			"erase,erase:0.25:scale=0.1-0.2:ratio=1-2:value=random,erase:1:value=1/2/3",
			[]Op{
				RandomErasing{P: 0.5},
				RandomErasing{P: 0.25, Scale: [2]float64{0.1, 0.2}, Ratio: [2]float64{1, 2}, Random: true},
				RandomErasing{P: 1, Value: []float64{1, 2, 3}},
			},
		},
		{
			"apply:0.8:jitter:0.4+flip:1",
			[]Op{RandomApply{P: 0.8, Ops: []Op{
				ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4},
				RandomHorizontalFlip{P: 1},
			}}},
		},
		{"gray,gray:0.2", []Op{RandomGrayscale{P: 1}, RandomGrayscale{P: 0.2}}},
		{
			"blur:23,blur:5x3:sigma=0.5-1",
			[]Op{GaussianBlur{H: 23, W: 23}, GaussianBlur{H: 3, W: 5, Sigma: [2]float64{0.5, 1}}},
		},
		{
			"posterize:4,solarize:128:0.2,sharpness:2:1",
			[]Op{RandomPosterize{Bits: 4, P: 0.5}, RandomSolarize{Threshold: 128, P: 0.2}, RandomAdjustSharpness{Factor: 2, P: 1}},
		},
		{"invert,autocontrast:1,equalize:0.1", []Op{RandomInvert{P: 0.5}, RandomAutocontrast{P: 1}, RandomEqualize{P: 0.1}}},
		{
			"trivialaugment,trivialaugment:bins=11:bilinear:fill=1/2/3",
			[]Op{TrivialAugmentWide{}, TrivialAugmentWide{Bins: 11, Filter: pixel.Bilinear, Fill: []float64{1, 2, 3}}},
		},
		{
			"jitter:0.5/1.5:0.2:0/0.5:-0.1/0.2",
			[]Op{ColorJitter{Contrast: 0.2, Ranges: [4][2]float64{{0.5, 1.5}, {}, {0, 0.5}, {-0.1, 0.2}}}},
		},
		{"centercrop:10x9:floor", []Op{CenterCrop{H: 9, W: 10, Floor: true}}},
		{"trivialaugment:v2,randaugment:bilinear:v2", []Op{
			TrivialAugmentWide{V2: true},
			RandAugment{Ops: 2, Magnitude: 9, Filter: pixel.Bilinear, Bins: 31, V2: true},
		}},
		{"randaugment:magnitude=5", []Op{RandAugment{Ops: 2, Magnitude: 5, Bins: 31}}},
		{"train:224", Train(224)},
		{"eval:224", []Op{Resize{Shorter: 256}, CenterCrop{H: 224, W: 224}}},
	} {
		got, err := Parse(tt.in)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"zoom:3", "known: apply, "},
		{"rrc", "number of arguments"},
		{"rrc:0", `"0" is not a size`},
		{"rrc:224:scale=2", "LOW-HIGH"},
		{"rrc:224:cubic", "unknown filter"},
		{"resize:12x", "is not a size"},
		{"flip:often", `"often" is not a number`},
		{"jitter:1:2", "number of arguments"},
		{"jitter:1/2/3", "LOW/HIGH"},
		{"jitter:1:0/0:1", "more than 0"},
		{"centercrop:9:ceil", "number of arguments"},
		{"resize:8:max=x", "is not a size"},
		{"resize:8:least=9", "unknown filter"},
		{"crop:8:wrap", "unknown padding mode"},
		{"crop:8:pad=1/2/3", "one, two or four"},
		{"crop:8:pad=-1", "wanted 0 to"},
		{"crop:8:grow=2", "unknown padding mode"},
		{"rotate", "number of arguments"},
		{"rotate:1/2/3", "number of arguments"},
		{"rotate:9:expanded", "unknown filter"},
		{"erase:often", "is not a number"},
		{"mixup", "arguments"},
		{"cutmix:some", "is not a number"},
		{"erase:scale=1", "LOW-HIGH"},
		{"apply:0.5", "number of arguments"},
		{"apply:0.5:zoom", "unknown transform"},
		{"apply:0.5:apply:0.5:flip", "another apply"},
		{"normalize:0.5", "number of arguments"},
		{"blur", "number of arguments"},
		{"blur:3:width=2", "number of arguments"},
		{"posterize:1.5", "whole number"},
		{"randaugment:bins=x", "invalid syntax"},
		{"trivialaugment:ops=2", "unknown filter"},
		{"flip,,flip", `unknown transform ""`},
	} {
		_, err := Parse(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %q", tt.in, err, tt.want)
		}
	}
}

// FuzzParse holds that what String writes of parsed ops gives the same ops again.
func FuzzParse(f *testing.F) {
	f.Add("rrc:224x100:scale=0.00001-1:ratio=0.5-2:box,flip,jitter:0.4,normalize")
	f.Add("crop:9:pad=1/2:grow:edge:fill=1/2/3,vflip,rotate:-1/2:expand:center=3/4:fill=0.5,erase:value=random,apply:1:flip+vflip")
	f.Add("gray:0.1,blur:5x3:sigma=1-2,posterize:3,solarize:9.5:1,sharpness:0,trivialaugment:bins=9,randaugment:ops=3:fill=7")
	f.Add("jitter:0.5/1.5:0.2:1/1:-0.1/0.2,centercrop:9:floor,randaugment:v2")
	f.Add("resize:256:nearest,centercrop:224,flip:0.1,jitter:0:0:0:0.5,normalize:1/2/3:4/5/6")
	f.Fuzz(func(t *testing.T, s string) {
		ops, err := Parse(s)
		if err != nil {
			return
		}
		for _, o := range ops {
			if o.Check(3) != nil {
				return
			}
		}
		again, err := Parse(ops.String())
		if err != nil {
			t.Fatalf("%q becomes %q: %v", s, ops.String(), err)
		}
		if again.String() != ops.String() {
			t.Fatalf("%q becomes %q, then %q", s, ops.String(), again.String())
		}
	})
}

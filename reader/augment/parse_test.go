package augment

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/preprocess"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []Op
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
			[]Op{RandomResizedCrop{H: 24, W: 32, Scale: [2]float64{0.5, 1}, Ratio: [2]float64{1, 2}, Filter: preprocess.Bicubic}},
		},
		{"resize:256, centercrop:224x200", []Op{Resize{Shorter: 256}, CenterCrop{H: 200, W: 224}}},
		{"resize:64x64:lanczos,flip:0.25", []Op{Resize{H: 64, W: 64, Filter: preprocess.Lanczos}, RandomHorizontalFlip{P: 0.25}}},
		{"jitter:0.1:0.2:0.3:0.05", []Op{ColorJitter{Brightness: 0.1, Contrast: 0.2, Saturation: 0.3, Hue: 0.05}}},
		{"normalize:0.5/0.4/0.3:0.25", []Op{Normalize{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.25}}}},
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
		{"crop:3", "known: centercrop, eval, flip, jitter, normalize, resize, rrc, train"},
		{"rrc", "number of arguments"},
		{"rrc:0", `"0" is no size`},
		{"rrc:224:scale=2", "LOW-HIGH"},
		{"rrc:224:cubic", "unknown filter"},
		{"resize:12x", "is no size"},
		{"flip:often", `"often" is no number`},
		{"jitter:1:2", "number of arguments"},
		{"normalize:0.5", "number of arguments"},
		{"flip,,flip", `unknown transform ""`},
	} {
		_, err := Parse(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %q", tt.in, err, tt.want)
		}
	}
}

// FuzzParse holds that what Format writes of parsed ops gives the same ops again.
func FuzzParse(f *testing.F) {
	f.Add("rrc:224x100:scale=0.00001-1:ratio=0.5-2:box,flip,jitter:0.4,normalize")
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
		again, err := Parse(Format(ops))
		if err != nil {
			t.Fatalf("%q becomes %q: %v", s, Format(ops), err)
		}
		if Format(again) != Format(ops) {
			t.Fatalf("%q becomes %q, then %q", s, Format(ops), Format(again))
		}
	})
}

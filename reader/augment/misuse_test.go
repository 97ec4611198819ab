package augment

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// stub is an op whose methods panic where they are nil.
type stub struct {
	check func(int) error
	add   func(*Steps)
}

func (stub) String() string                    { return "stub" }
func (o *stub) Check(c int) error              { return o.check(c) }
func (o *stub) AddTo(s *Steps, _ *random.Rand) { o.add(s) }

func TestCompileRefusesMisuse(t *testing.T) {
	nan, huge := math.NaN(), 1<<40
	valid := func(int) error { return nil }
	adds := func(add func(*Steps)) Op { return &stub{valid, add} }
	for _, tt := range []struct {
		ops  []Op
		want string
	}{
		{[]Op{RandomHorizontalFlip{P: 1}, nil}, "transform 2 of 2 is nil"},
		{[]Op{(*RandomCrop)(nil)}, "transform 1 of 1 is nil (*augment.RandomCrop)"},
		{[]Op{(*stub)(nil)}, "transform 1 of 1 is nil (*augment.stub)"},
		{[]Op{RandomApply{P: 1, Ops: []Op{nil}}}, "apply: transform 1 of 1 is nil"},
		{[]Op{&stub{}}, "stub: panic in Check"},
		{[]Op{&stub{check: valid}}, "stub: panic: runtime error"},
		{[]Op{adds(func(*Steps) { panic("oh") })}, "stub: panic: oh"},
		{[]Op{adds(func(s *Steps) { s.Crop(pixel.Rect{X: 1, Y: 2, W: 9, H: 3}) })}, "stub: crop of 9x3 at 1,2: it is not inside the image of 9x9"},
		{[]Op{adds(func(s *Steps) { s.Crop(pixel.Rect{X: -1, W: 2, H: 3}) })}, "at -1,0"},
		{[]Op{adds(func(s *Steps) { s.Crop(pixel.Rect{}) })}, "crop of 0x0"},
		{[]Op{adds(func(s *Steps) { s.Resize(0, 5, "") })}, "5x0"},
		{[]Op{adds(func(s *Steps) { s.Resize(huge, 5, "") })}, "5x1099511627776"},
		{[]Op{adds(func(s *Steps) { s.Resize(5, 5, "cubic") })}, "cubic"},
		{[]Op{adds(func(s *Steps) { s.Pad(-1, 0, 0, 0, "", nil) })}, "pad by -1"},
		{[]Op{adds(func(s *Steps) { s.Pad(math.MaxInt, 0, 0, 0, "", nil) })}, "pad by"},
		{[]Op{adds(func(s *Steps) { s.Pad(1, 1, 1, 1, "wrap", nil) })}, "wrap"},
		{[]Op{adds(func(s *Steps) { s.Pad(1, 1, 1, 1, "", []float64{1, 2}) })}, "2 values"},
		{[]Op{adds(func(s *Steps) { s.Affine([6]float64{nan}, "", nil) })}, "finite"},
		{[]Op{adds(func(s *Steps) { s.Affine([6]float64{1, 0, 0, 0, 1, 0}, pixel.Box, nil) })}, "box"},
		{[]Op{adds(func(s *Steps) { s.Rotate(nan, "", false, nil, nil) })}, "NaN degrees"},
		{[]Op{adds(func(s *Steps) { s.Rotate(9, "", false, []float64{1}, nil) })}, "about [1]"},
		{[]Op{adds(func(s *Steps) { s.Enhance("gloss", 1) })}, `"gloss"`},
		{[]Op{adds(func(s *Steps) { s.Enhance(Contrast, nan) })}, "contrast by NaN"},
		{[]Op{adds(func(s *Steps) { s.Enhance(Posterize, 9) })}, "posterize by 9"},
		{[]Op{adds(func(s *Steps) { s.Blur(4, 3, 1) })}, "3x4"},
		{[]Op{adds(func(s *Steps) { s.Blur(3, 3, nan) })}, "sigma NaN"},
		{[]Op{adds(func(s *Steps) { s.Blur(31, 3, 1) })}, "too small"},
		{[]Op{adds(func(s *Steps) { s.Sharpen(nan) })}, "sharpen by NaN"},
		{[]Op{adds(func(s *Steps) { s.Erase(pixel.Rect{X: 8, W: 2, H: 1}, []float64{0}, nil) })}, "erase 2x1 at 8,0"},
		{[]Op{adds(func(s *Steps) { s.Do(Func{Name: "x"}, nil) })}, "func:x: Apply is nil"},
		{[]Op{Func{Name: "a,b", Apply: slanted.Apply}}, `name "a,b"`},
		{[]Op{Func{Name: "x"}}, "func:x: Apply is nil"},
		{[]Op{RandomHorizontalFlip{P: nan}}, "flip: probability NaN"},
		{[]Op{CenterCrop{H: huge, W: 1}}, "centercrop: size 1x1099511627776"},
		{[]Op{RandomCrop{H: 0, W: 1}}, "crop: size 1x0"},
		{[]Op{Resize{Shorter: huge}}, "resize: size 1099511627776x"},
		{[]Op{Resize{Shorter: 4, Max: huge}}, "resize: max=1099511627776"},
		{[]Op{RandomResizedCrop{H: 3, W: -3}}, "rrc: size -3x3"},
		{[]Op{GaussianBlur{H: 1<<40 + 1, W: 3}}, "blur: kernel"},
		{[]Op{RandomRotation{Low: 10, High: -10}}, "rotate: degrees 10 to -10"},
		{[]Op{RandomRotation{Low: nan, High: 1}}, "rotate: degrees NaN"},
		{[]Op{Normalize{Mean: []float64{nan}, Std: []float64{1}}}, "normalize: mean NaN"},
		{[]Op{MixUp{Alpha: nan}}, "mixup: alpha NaN"},
	} {
		_, err := Compile(tt.ops, 9, 9, 3, formats.Float32, pixel.NHWC)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", Ops(tt.ops), err, tt.want)
		}
		FixesSize(tt.ops)
	}
	for _, size := range []int{-1, huge} {
		if _, err := Compile(nil, size, 9, 3, formats.Uint8, pixel.NHWC); err == nil {
			t.Errorf("images of %d rows are taken", size)
		}
	}
}

func TestParseRefusesValues(t *testing.T) {
	for in, want := range map[string]string{
		"flip:NaN":               "probability NaN",
		"flip:-0.1":              "probability -0.1",
		"rotate:-30":             "degrees 30 to -30",
		"rotate:30/10":           "degrees 30 to 10",
		"rotate:NaN":             "degrees NaN",
		"rrc:0":                  "is not a size",
		"rrc:1099511627776":      "is not a size",
		"rrc:8:scale=NaN-1":      "scale NaN-1",
		"erase:2":                "probability 2",
		"mixup:-1":               "alpha -1",
		"blur:4":                 "kernel 4",
		"apply:NaN:flip":         "probability NaN",
		"normalize:1/2:0":        "normalize",
		"centercrop:8x99999999":  "is not a size",
		"crop:8:fill=NaN":        "not a number",
		"posterize:9":            "9 bits",
		"jitter:NaN":             "strength NaN",
		"randaugment:ops=101":    "ops=101",
		"trivialaugment:bins=-1": "bins",
	} {
		if _, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strings.Split(in, ":")[0]) {
			t.Errorf("%q: error %v, want one with %q", in, err, want)
		}
	}
}

// A pointer to an op is that op, also where its kind decides: it is normalised, erased, of that size.
func TestPointersAreOps(t *testing.T) {
	ops := []Op{&CenterCrop{H: 4, W: 4}, &RandomApply{P: 1, Ops: []Op{&RandomHorizontalFlip{P: 1}}}, &ImageNet, &RandomErasing{P: 1}}
	if !FixesSize(ops) {
		t.Error("a pointer to CenterCrop does not fix the size")
	}
	p, err := Compile(ops, 0, 0, 3, formats.Float32, pixel.NHWC)
	if err != nil || p.Shape() != [3]int{4, 4, 3} {
		t.Fatal(err)
	}
	for _, o := range p.ops {
		if reflect.TypeOf(o).Kind() == reflect.Pointer {
			t.Errorf("%s stays a pointer", o)
		}
	}
}

// corner is an op of one's own that makes all images one size, or does not say so.
type corner struct{ says bool }

func (corner) String() string    { return "corner" }
func (corner) Check(int) error   { return nil }
func (o corner) FixesSize() bool { return o.says }
func (corner) AddTo(s *Steps, _ *random.Rand) {
	s.Crop(pixel.Rect{W: 4, H: 4})
}

func TestOwnOpFixesSize(t *testing.T) {
	p, err := Compile([]Op{corner{true}}, 0, 0, 3, formats.Uint8, pixel.NHWC)
	if err != nil || p.Shape() != [3]int{4, 4, 3} {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := Compile([]Op{corner{false}}, 0, 0, 3, formats.Uint8, pixel.NHWC); !errors.Is(err, ErrSize) {
		t.Errorf("%v is not ErrSize", err)
	}
}

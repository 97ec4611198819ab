package augment

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

func TestCompileRefuses(t *testing.T) {
	f32, u8 := formats.Float32, formats.Uint8
	for _, tt := range []struct {
		ops   []Op
		h, c  int
		dtype formats.DType
		want  string
	}{
		{nil, 0, 3, u8, "images differ in size"},
		{[]Op{Resize{Shorter: 8}}, 0, 3, u8, "images differ in size"},
		{[]Op{ImageNet, CenterCrop{H: 8, W: 8}}, 9, 3, f32, "last"},
		{[]Op{ImageNet}, 9, 3, u8, "float32"},
		{[]Op{ImageNet}, 9, 1, f32, "3 values for images of 1 channels"},
		{[]Op{Normalize{[]float64{0}, []float64{0}}}, 9, 1, f32, "is not positive"},
		{[]Op{Resize{}}, 9, 3, u8, "positive"},
		{[]Op{Resize{Shorter: 3, H: 4, W: 4}}, 9, 3, u8, "not both"},
		{[]Op{Resize{Shorter: 3, Filter: "cubic"}}, 9, 3, u8, "bicubic"},
		{[]Op{CenterCrop{H: -1, W: 4}}, 9, 3, u8, "positive"},
		{[]Op{RandomHorizontalFlip{P: 1.5}}, 9, 3, u8, "between 0 and 1"},
		{[]Op{RandomResizedCrop{H: 4, W: 4, Scale: [2]float64{0.5, 0.1}}}, 9, 3, u8, "low <= high"},
		{[]Op{RandomResizedCrop{H: 4, W: 4, Ratio: [2]float64{-1, 1}}}, 9, 3, u8, "low <= high"},
		{[]Op{ColorJitter{Hue: 0.6}}, 9, 3, u8, "more than 0.5"},
		{[]Op{ColorJitter{Brightness: 0.6}}, 9, 4, u8, "rgb or gray"},
		{nil, 9, 3, formats.Int64, "int64"},
		{[]Op{Resize{Shorter: 9, Max: 9}}, 9, 3, u8, "must be at least 1 and less than max"},
		{[]Op{Resize{H: 9, W: 9, Max: 9}}, 9, 3, u8, "must be at least 1 and less than max"},
		{[]Op{RandomCrop{H: 9, W: 9, Mode: "wrap"}}, 9, 3, u8, "padding mode"},
		{[]Op{RandomCrop{H: 9, W: 9, Padding: [4]int{0, -1, 0, 0}}}, 9, 3, u8, "padding -1"},
		{[]Op{RandomCrop{H: 9, W: 9, Fill: []float64{1, 2}}}, 9, 3, u8, "2 values"},
		{[]Op{RandomCrop{H: 10, W: 9}}, 9, 3, u8, "smaller than the crop"},
		{[]Op{RandomRotation{Low: 2, High: 1}}, 9, 3, u8, "low <= high"},
		{[]Op{RandomRotation{High: 1, Filter: pixel.Box}}, 9, 3, u8, "bilinear"},
		{[]Op{RandomRotation{High: 1, Center: []float64{1}}}, 9, 3, u8, "x and y"},
		{[]Op{RandomRotation{High: 1, Expand: true}}, 9, 3, u8, "differ in size"},
		{[]Op{CenterCrop{H: 8, W: 8}, RandomRotation{High: 1, Expand: true}}, 0, 3, u8, "differ in size"},
		{[]Op{RandomApply{P: 0.5, Ops: []Op{CenterCrop{H: 8, W: 8}}}}, 9, 3, u8, "differ in size"},
		{[]Op{RandomApply{P: 2}}, 9, 3, u8, "between 0 and 1"},
		{[]Op{RandomApply{P: 1, Ops: []Op{ImageNet}}}, 9, 3, f32, "cannot be left out"},
		{[]Op{RandomErasing{P: 1}, ImageNet}, 9, 3, f32, "last"},
		{[]Op{RandomErasing{P: 1}, CenterCrop{H: 8, W: 8}}, 9, 3, u8, "last"},
		{[]Op{RandomErasing{P: 1, Random: true}}, 9, 3, u8, "batches of floats"},
		{[]Op{RandomErasing{P: 1, Value: []float64{256}}}, 9, 3, u8, "outside of uint8"},
		{[]Op{RandomErasing{P: 1, Scale: [2]float64{0.5, 0.1}}}, 9, 3, u8, "low <= high"},
	} {
		_, err := Compile(tt.ops, tt.h, tt.h, tt.c, tt.dtype, pixel.NHWC)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", Ops(tt.ops).String(), err, tt.want)
		}
	}
	if _, err := Compile(nil, 9, 9, 3, u8, "chw"); err == nil {
		t.Error("an unknown layout is taken")
	}
}

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		ops  []Op
		h, w int
		want [3]int
	}{
		{nil, 30, 40, [3]int{30, 40, 3}},
		{[]Op{Resize{Shorter: 15}}, 30, 41, [3]int{15, 20, 3}},
		{[]Op{Resize{Shorter: 15}}, 41, 30, [3]int{20, 15, 3}},
		{[]Op{Resize{H: 15, W: 11}}, 0, 0, [3]int{15, 11, 3}},
		{[]Op{Resize{H: 20, W: 10}, Resize{Shorter: 5}}, 0, 0, [3]int{10, 5, 3}},
		{Train(24), 0, 0, [3]int{24, 24, 3}},
		{[]Op{Resize{Shorter: 15, Max: 16}}, 30, 41, [3]int{12, 16, 3}},
		{[]Op{RandomRotation{Low: 90, High: 90, Expand: true}}, 30, 41, [3]int{41, 30, 3}},
		{[]Op{RandomCrop{H: 20, W: 30}, RandomRotation{High: 90}}, 0, 0, [3]int{20, 30, 3}},
		{[]Op{RandomRotation{High: 90, Expand: true}, RandomCrop{H: 9, W: 9}}, 0, 0, [3]int{9, 9, 3}},
		{Eval(224), 0, 0, [3]int{224, 224, 3}},
	} {
		p, err := Compile(tt.ops, tt.h, tt.w, 3, formats.Uint8, pixel.NHWC)
		if err != nil {
			t.Fatal(err)
		}
		if p.Shape() != tt.want {
			t.Errorf("%s of %dx%d: shape %v, want %v", Ops(tt.ops).String(), tt.w, tt.h, p.Shape(), tt.want)
		}
	}
}

func TestFits(t *testing.T) {
	p, err := Compile(nil, 4, 5, 3, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []pixel.Image{
		{H: 4, W: 5, C: 1, DType: formats.Uint8},
		{H: 4, W: 5, C: 3, DType: formats.Uint16},
		{H: 4, W: 5, C: 3, DType: formats.Float32},
		{H: 5, W: 4, C: 3, DType: formats.Uint8},
	} {
		var plan Steps
		p.Draw(&plan, m.H, m.W, new(random.Rand))
		if err := p.Fits(&m, &plan); err == nil {
			t.Errorf("%+v is taken", m)
		} else if m.H == 5 && !errors.Is(err, ErrSize) {
			t.Errorf("another size gives %v, want ErrSize", err)
		}
	}
}

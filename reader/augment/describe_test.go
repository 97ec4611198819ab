package augment

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/reader/random"
)

// TestSteps holds that the steps of a plan are told in the order of the ops, with what was drawn.
func TestSteps(t *testing.T) {
	for words, want := range map[string][]Step{
		"": nil,
		"vflip:1,centercrop:20x10,flip:1": {
			{Name: "crop", Region: []int{15, 15, 20, 10}},
			{Name: "flip"},
			{Name: "vflip"},
		},
		"flip:1,resize:20x10:box,centercrop:6": {
			{Name: "flip"},
			{Name: "resize", Size: []int{10, 20}, Filter: "box"},
			{Name: "crop", Region: []int{7, 2, 6, 6}},
		},
		"jitter:0:0:0:0.25/0.25,posterize:3:1,blur:5x3:sigma=2-2,sharpness:3:1": {
			{Name: "hue", Amount: 0.25},
			{Name: "posterize", Amount: 3},
			{Name: "blur", Size: []int{3, 5}, Amount: 2},
			{Name: "sharpen", Amount: 3},
		},
		"crop:60x60:grow:fill=7,rotate:90/90:expand": {
			{Name: "pad", Size: []int{80, 70}, Border: []int{10, 20}, Values: []float64{7}},
			{Name: "crop", Region: []int{0, 0, 60, 60}},
			{Name: "transpose", Size: []int{60, 60}},
			{Name: "vflip"},
		},
		"rotate:0/0:center=3/4": {{Name: "affine", Size: []int{40, 50}, Filter: "nearest", Matrix: []float64{1, 0, 0, 0, 1, 0}}},
	} {
		ops, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		var p Steps
		p.Reset(40, 50, 3)
		r := random.NewRand(0, 0, 0)
		for _, o := range ops {
			o.AddTo(&p, &r)
		}
		got := p.List()
		if strings.HasPrefix(words, "crop") { // at a random place
			got[1].Region[0], got[1].Region[1] = 0, 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", words, got, want)
		}
	}
}

package augment

import (
	"math"
	"testing"

	"github.com/dsconv/dsconv/reader/random"
)

// TestJitterRanges holds that factors come from all of their range, evenly, and from nowhere else.
func TestJitterRanges(t *testing.T) {
	o := ColorJitter{Brightness: 0.3, Ranges: [4][2]float64{1: {0.2, 0.4}, 2: {3, 3}, 3: {-0.1, 0.3}}}
	want := map[Change][2]float64{
		Brightness: {0.7, 1.3}, Contrast: {0.2, 0.4},
		Saturation: {3, 3}, Hue: {-0.1, 0.3},
	}
	sums := map[Change]float64{}
	const n = 4000
	for i := range n {
		var p Steps
		p.Reset(8, 8, 3)
		r := random.NewRand(3, 0, i)
		o.AddTo(&p, &r)
		if len(p.changes) != 4 {
			t.Fatalf("%d changes, want 4", len(p.changes))
		}
		for _, e := range p.changes {
			change := changes[e.Change]
			if b := want[change]; e.Factor < b[0] || e.Factor > b[1] {
				t.Fatalf("change %v by %v, outside of %v", change, e.Factor, b)
			}
			sums[change] += e.Factor
		}
	}
	for c, b := range want {
		if mean, middle := sums[c]/n, (b[0]+b[1])/2; math.Abs(mean-middle) > 0.02*(b[1]-b[0])+1e-9 {
			t.Errorf("change %v: mean %v, want %v", c, mean, middle)
		}
	}
}

func TestJitterRangeErrors(t *testing.T) {
	for _, r := range [][4][2]float64{{{1, 0.5}}, {{-1, 1}}, {3: {-0.6, 0}}, {3: {0, 0.6}}, {1: {math.NaN(), 1}}} {
		if (ColorJitter{Ranges: r}).Check(3) == nil {
			t.Errorf("ranges %v: no error", r)
		}
	}
}

func TestCenterCropFloor(t *testing.T) {
	var p Steps
	for _, tt := range []struct {
		floor bool
		x, y  int
	}{{false, 2, 0}, {true, 1, 0}} {
		p.Reset(11, 13, 3)
		CenterCrop{H: 10, W: 10, Floor: tt.floor}.AddTo(&p, nil)
		if p.path.Window.X != tt.x || p.path.Window.Y != tt.y {
			t.Errorf("floor %v: at %d, %d, want %d, %d", tt.floor, p.path.Window.X, p.path.Window.Y, tt.x, tt.y)
		}
	}
}

// TestV2Magnitudes compares with what torchvision 0.29 takes.
func TestV2Magnitudes(t *testing.T) {
	// 255 * torch.linspace(1, 0, 31) in double.
	v1, v2 := wide, wide
	v2.v2 = true
	for bin, want := range map[int]float64{0: 255, 2: 255 * float64(float32(28)/30), 30: 0} {
		if got := v2.magnitude(solarize, bin, 31); math.Abs(got-want) > 1e-12 {
			t.Errorf("v2: threshold %v of bin %d, want %v", got, bin, want)
		}
	}
	if v1.magnitude(solarize, 2, 31) != 238 || v2.magnitude(solarize, 2, 31) <= 238 {
		t.Error("the thresholds of v1 and v2 must differ")
	}
}

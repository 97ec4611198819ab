package augment

import (
	"math"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// storedEntry is a float32 entry of m, with the plan that made it.
func storedEntry(t *testing.T, m *pixel.Image, layout pixel.Layout, seed uint64, ops ...Op) ([]float32, *Steps) {
	t.Helper()
	p, err := Compile(ops, m.H, m.W, m.C, formats.Float32, layout)
	if err != nil {
		t.Fatal(err)
	}
	var plan Steps
	r := random.NewRand(seed, 0, 0)
	p.Draw(&plan, m.H, m.W, &r)
	shape := p.Shape()
	out := make([]float32, shape[0]*shape[1]*shape[2])
	run(t, &plan, m, false, resample.Target{Spec: p.Store(), Float32: out})
	return out, &plan
}

// Only the part that was drawn is overwritten, with the values, after what Normalize made.
func TestErasing(t *testing.T) {
	m := noise(30, 40, 3, 1)
	for _, before := range [][]Op{{ImageNet}, {Resize{H: 24, W: 25}, RandomHorizontalFlip{P: 1}, ImageNet}, {CenterCrop{H: 20, W: 22}}} {
		clean, _ := storedEntry(t, m, pixel.NHWC, 4, before...)
		for name, values := range map[string][]float64{"none": nil, "one": {7.5}, "channels": {-3, 0, 300}} {
			got, plan := storedEntry(t, m, pixel.NHWC, 4, append(slices.Clone(before), RandomErasing{P: 1, Value: values})...)
			if len(plan.erasures) != 1 {
				t.Fatalf("%s: %d erasures", name, len(plan.erasures))
			}
			part := plan.erasures[0].part
			for i, v := range got {
				x, y, k := i/3%plan.path.W, i/3/plan.path.W, i%3
				want := clean[i]
				if part.X <= x && x < part.X+part.W && part.Y <= y && y < part.Y+part.H {
					want = 0
					if values != nil {
						want = float32(values[min(k, len(values)-1)])
					}
				}
				if v != want {
					t.Fatalf("%s, %s: (%d,%d,%d) is %v, want %v; erased %+v", Ops(before).String(), name, x, y, k, v, want, part)
				}
			}
		}
	}
}

// Noise has the moments of a standard normal distribution and is the same in any layout.
func TestErasingByNoise(t *testing.T) {
	m := noise(200, 200, 3, 1)
	op := RandomErasing{P: 1, Scale: [2]float64{0.3, 0.4}, Random: true}
	nhwc, plan := storedEntry(t, m, pixel.NHWC, 4, op)
	nchw, _ := storedEntry(t, m, pixel.NCHW, 4, op)
	part := plan.erasures[0].part
	var values []float64
	for y := part.Y; y < part.Y+part.H; y++ {
		for x := part.X; x < part.X+part.W; x++ {
			for k := range 3 {
				v := nhwc[(y*200+x)*3+k]
				if v != nchw[(k*200+y)*200+x] {
					t.Fatalf("(%d,%d,%d) differs between the layouts", x, y, k)
				}
				values = append(values, float64(v))
			}
		}
	}
	mean, deviation := moments(values)
	if tolerance := 5 / math.Sqrt(float64(len(values))); math.Abs(mean) > tolerance || math.Abs(deviation-1) > tolerance {
		t.Errorf("mean %.4f, deviation %.4f of %d values", mean, deviation, len(values))
	}
	if again, _ := storedEntry(t, m, pixel.NHWC, 4, op); !slices.Equal(nhwc, again) {
		t.Error("the same draw gives other noise")
	}
	if other, _ := storedEntry(t, m, pixel.NHWC, 5, op); slices.Equal(nhwc, other) {
		t.Error("another draw gives the same noise")
	}
}

func TestErasingProbability(t *testing.T) {
	const n = 20_000
	erased := 0
	for i := range n {
		var p Steps
		p.Reset(64, 64, 3)
		r := random.NewRand(5, 1, i)
		RandomErasing{P: 0.3}.AddTo(&p, &r)
		erased += len(p.erasures)
	}
	if share := float64(erased) / n; share < 0.285 || share > 0.315 {
		t.Errorf("%.3f of the images are erased, want 0.3", share)
	}
}

package augment

import (
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

const draws = 40_000

// drawnParameters has the parameters that our ops draw for an image of 500x375, by names as those of
// testdata/draws.py.
func drawnParameters() map[string][]float64 {
	const h, w = 375, 500
	found := map[string][]float64{}
	add := func(op string, r pixel.Rect) {
		for name, v := range map[string]int{" y": r.Y, " x": r.X, " h": r.H, " w": r.W} {
			found[op+name] = append(found[op+name], float64(v))
		}
	}
	for i := range draws {
		var p Steps
		r := random.NewRand(9, 1, i)
		add("rrc", RandomResizedCrop{}.draw(h, w, &r))
		p.Reset(h, w, 3)
		RandomCrop{H: 300, W: 400}.AddTo(&p, &r)
		found["crop y"] = append(found["crop y"], float64(p.path.Window.Y))
		found["crop x"] = append(found["crop x"], float64(p.path.Window.X))
		p.Reset(h, w, 3)
		RandomRotation{Low: -30, High: 75}.AddTo(&p, &r)
		m := p.path.Steps[0].Affine.Matrix
		found["rotate angle"] = append(found["rotate angle"], -math.Atan2(m[1], m[0])*180/math.Pi)
		e, ok := RandomErasing{}.draw(h, w, &r)
		if !ok {
			e = pixel.Rect{W: w, H: h}
		}
		add("erase", e)
	}
	return found
}

func TestDraws(t *testing.T) {
	// Mean and standard deviation of 40,000 draws of torchvision 0.29.
	for name, want := range map[string][2]float64{
		"rrc y": {52.13, 50.52}, "rrc x": {108.59, 80.18}, "rrc h": {270.14, 70.38}, "rrc w": {282.13, 86.61},
		"crop y": {37.41, 21.9}, "crop x": {49.75, 29.11}, "rotate angle": {22.63, 30.3},
		"erase y": {99.09, 72.71}, "erase x": {156.83, 103.51}, "erase h": {177.09, 77.25}, "erase w": {186.45, 86.19},
	} {
		v := drawnOnce()[name]
		mean, deviation := moments(v)
		if off := math.Abs(mean-want[0]) / want[1]; off > 0.03 || math.Abs(deviation/want[1]-1) > 0.03 || len(v) != draws {
			t.Errorf("%s: mean %.2f and deviation %.2f of %d, want %v", name, mean, deviation, len(v), want)
		}
	}
}

func TestTorchvisionDraws(t *testing.T) {
	n := draws
	if testing.Short() {
		n /= 8
	}
	var want map[string][]float64
	torch(t, nil, &want, "draws.py", strconv.Itoa(n))
	limit := 2.23 * math.Sqrt(1.0/draws+1/float64(n)) // Kolmogorov and Smirnov's at a significance of 1e-4
	for name := range want {
		if d := distance(drawnOnce()[name], want[name]); d > limit {
			t.Errorf("%s: the distributions lie %.4f apart, more than %.4f", name, d, limit)
		}
	}
}

var drawnOnce = sync.OnceValue(drawnParameters)

func moments(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(deviation)
}

// distance is how far two samples' distribution functions are apart at most.
func distance(a, b []float64) (d float64) {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	below := func(v []float64, x float64) float64 {
		n, _ := slices.BinarySearch(v, x)
		return float64(n) / float64(len(v))
	}
	for _, x := range slices.Concat(a, b) {
		x = math.Nextafter(x, math.Inf(1))
		d = max(d, math.Abs(below(a, x)-below(b, x)))
	}
	return d
}

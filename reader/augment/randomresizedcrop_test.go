package augment

import (
	"math"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

func TestRandomResizedCropDistribution(t *testing.T) {
	const h, w, n = 375, 500, 50_000
	o := RandomResizedCrop{H: 224, W: 224}
	var share, logRatio, left float64
	for i := range n {
		r := random.NewRand(0, 0, i)
		c := o.draw(h, w, &r)
		if c.X < 0 || c.Y < 0 || c.W <= 0 || c.H <= 0 || c.X+c.W > w || c.Y+c.H > h {
			t.Fatalf("%+v is outside of %dx%d", c, w, h)
		}
		s := float64(c.W*c.H) / (h * w)
		if q := float64(c.W) / float64(c.H); s < 0.075 || q < 0.72 || q > 1.38 {
			t.Fatalf("%+v: share %.3f, ratio %.3f", c, s, q)
		}
		share += s / n
		logRatio += math.Log(float64(c.W)/float64(c.H)) / n
		if c.W < w {
			left += float64(c.X) / float64(w-c.W) / n
		}
	}
	// torchvision's get_params on this size, mean of 200,000 draws.
	if math.Abs(share-0.4339) > 0.005 || math.Abs(logRatio-0.0308) > 0.005 || math.Abs(left-0.5) > 0.02 {
		t.Errorf("mean share %.4f, log ratio %.4f, left %.3f", share, logRatio, left)
	}
}

func TestRandomResizedCropFallsBackToTheMiddle(t *testing.T) {
	whole := [2]float64{1, 1}
	for _, tt := range []struct {
		h, w int
		want pixel.Rect
	}{
		{10, 1000, pixel.Rect{X: 493, Y: 0, W: 13, H: 10}},
		{1000, 10, pixel.Rect{X: 0, Y: 493, W: 10, H: 13}},
		{1, 3, pixel.Rect{X: 1, Y: 0, W: 1, H: 1}},
	} {
		r := random.NewRand(0, 0, 0)
		o := RandomResizedCrop{H: 8, W: 8, Scale: whole}
		if got := o.draw(tt.h, tt.w, &r); got != tt.want {
			t.Errorf("%dx%d: %+v, want %+v", tt.w, tt.h, got, tt.want)
		}
	}
}

package augment

import (
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// All ops are done or none.
func TestRandomApply(t *testing.T) {
	const n = 20_000
	o := RandomApply{P: 0.3, Ops: []Op{RandomHorizontalFlip{P: 1}, RandomVerticalFlip{P: 1}}}
	applied := 0
	for i := range n {
		var p Steps
		p.Reset(4, 4, 3)
		r := random.NewRand(5, 1, i)
		o.AddTo(&p, &r)
		switch p.path.Flips {
		case flips{H: true, V: true}:
			applied++
		case flips{}:
		default:
			t.Fatalf("sample %d: only %+v", i, p.path.Flips)
		}
	}
	if share := float64(applied) / n; share < 0.285 || share > 0.315 {
		t.Errorf("applied to %.3f of the images, want 0.3", share)
	}
}

// Grow pads by what is missing on both sides, so that the image lies at a random place.
func TestRandomCropGrows(t *testing.T) {
	o := RandomCrop{H: 10, W: 12, Padding: [4]int{1, 0, 0, 0}, Grow: true}
	places := map[pixel.Rect]int{}
	for i := range 2000 {
		var p Steps
		p.Reset(8, 20, 3)
		r := random.NewRand(5, 1, i)
		o.AddTo(&p, &r)
		if p.path.H != 10 || p.path.W != 12 || p.err != nil {
			t.Fatalf("%dx%d, %v", p.path.W, p.path.H, p.err)
		}
		if b := p.path.Steps[0].Border; b.Left != 1 || b.Top != 2 || p.path.Steps[0].H != 12 || p.path.Steps[0].W != 21 {
			t.Fatalf("padded to %dx%d at %+v", p.path.Steps[0].W, p.path.Steps[0].H, b)
		}
		places[p.path.Window]++
	}
	if len(places) != 3*10 {
		t.Errorf("%d places, want 30", len(places))
	}
	o.Grow = false
	var p Steps
	p.Reset(8, 20, 3)
	o.AddTo(&p, new(random.Rand))
	if p.err == nil {
		t.Error("an image that is too small is taken")
	}
}

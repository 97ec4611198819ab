package augment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Of a turned image only what is cropped afterwards is computed, and only what that is made of is
// decoded.
func TestOnlyTheWindowIsTurned(t *testing.T) {
	m := noise(400, 500, 3, 1)
	for words, most := range map[string]int{
		"rotate:30/30:bilinear,centercrop:24": 45 * 45,
		"rotate:30/30,crop:24,flip:1":         45 * 45,
		"flip:1,rotate:30/30,centercrop:24":   45 * 45,
		"rotate:10/10,rrc:24:scale=0.01-0.01": 120 * 120,
	} {
		p := compiled(t, words, m)
		var steps Steps
		r := random.NewRand(1, 2, 3)
		p.Draw(&steps, m.H, m.W, &r)
		window := steps.path.WindowAfter(0)
		var runner Runner
		out := make([]uint8, steps.path.H*steps.path.W*3)
		if err := runner.Apply(&steps, m, false, resample.Target{Spec: p.Store(), Uint8: out}); err != nil {
			t.Fatal(err)
		}
		in, _ := steps.path.Input(0)
		got, err := runner.mover.Step(&steps.path, 0, geometry.View{Image: m, Window: in, Flips: steps.path.Steps[0].Flips})
		if err != nil || got.H != window.H || got.W != window.W {
			t.Errorf("%s: %dx%d pixels are turned, of which %dx%d are used", words, got.W, got.H, window.W, window.H)
		}
		if source := steps.Source(); source.W*source.H > most {
			t.Errorf("%s: %dx%d pixels are decoded", words, source.W, source.H)
		}
	}
}

// mover is an op that does what a function plans, for a text.
type mover struct {
	planned
	text string
}

func (o mover) String() string { return o.text }

// randomMover draws an op that an image of h by w pixels may have, without any more random draws.
func randomMover(r *rand.Rand, h, w int) mover {
	f := affineFilters[r.IntN(3)]
	angle, shear := 360*r.Float64(), r.Float64()-0.5
	crop := pixel.Rect{X: r.IntN(w), Y: r.IntN(h)}
	crop.W, crop.H = 1+r.IntN(w-crop.X), 1+r.IntN(h-crop.Y)
	toH, toW := 10+r.IntN(60), 10+r.IntN(60)
	all := []mover{
		{func(s *Steps) { s.Rotate(angle, f, false, nil, []float64{9}) }, fmt.Sprintf("rotate %v %s", angle, f)},
		{func(s *Steps) { s.Rotate(angle, f, true, nil, nil) }, fmt.Sprintf("rotate %v %s expand", angle, f)},
		{func(s *Steps) { s.Affine([6]float64{1, shear, 3.5, 0, 1, 0}, f, nil) }, fmt.Sprintf("shear %v %s", shear, f)},
		{func(s *Steps) { s.Affine([6]float64{1, 0, 4, 0, 1, -7}, f, nil) }, fmt.Sprintf("shift %s", f)},
		{func(s *Steps) { s.Affine([6]float64{7e3, shear, -4, shear, 1, 0}, f, nil) }, fmt.Sprintf("far %v %s", shear, f)},
		{func(s *Steps) { s.Crop(crop) }, fmt.Sprintf("crop %v", crop)},
		{func(s *Steps) { s.Crop(crop) }, fmt.Sprintf("crop %v", crop)},
		{func(s *Steps) { s.Flip() }, "flip"},
		{func(s *Steps) { s.FlipV() }, "vflip"},
		{func(s *Steps) { s.Transpose() }, "transpose"},
		{func(s *Steps) { s.Resize(toH, toW, pixel.Bilinear) }, fmt.Sprintf("resize %d %d", toH, toW)},
		{func(s *Steps) { s.Enhance(Contrast, 1.5) }, "contrast"},
	}
	return all[r.IntN(len(all))]
}

// Whatever comes before and after an affine step, the pixels are those of each op on the whole outcome
// of the one before; so are those of the part of the image alone that the steps use.
func TestRandomStepsAreOneAfterAnother(t *testing.T) {
	narrower := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := noise(30+r.IntN(60), 30+r.IntN(60), 1+r.IntN(4), seed)
		var ops []Op
		var steps Steps
		steps.Reset(m.H, m.W, m.C)
		for range 1 + r.IntN(5) {
			o := randomMover(r, steps.path.H, steps.path.W)
			if o.text == "contrast" && m.C%2 == 0 {
				continue
			}
			ops = append(ops, o)
			o.AddTo(&steps, nil)
		}
		want := oneByOne(t, m, ops...)
		if got := outcome(t, m, 0, false, ops...); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %s differs from one after another", seed, Ops(ops))
		}
		if got, part := ofSource(t, m, ops); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %s: the part that is used gives something else", seed, Ops(ops))
		} else if part {
			narrower++
		}
	}
	if narrower < 100 {
		t.Errorf("only %d of the steps use a part of the image", narrower)
	}
}

// ofSource is what ops make of the part of m that they use, and whether that is not all.
func ofSource(t *testing.T, m *pixel.Image, ops []Op) ([]uint8, bool) {
	t.Helper()
	p, err := Compile(ops, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var steps Steps
	p.Draw(&steps, m.H, m.W, new(random.Rand))
	source := steps.Source()
	var part pixel.Image
	m.Crop(&part, source)
	steps.Narrow(pixel.Area{X1: float64(source.W), Y1: float64(source.H)})
	out := make([]uint8, steps.path.H*steps.path.W*m.C)
	run(t, &steps, &part, false, resample.Target{Spec: p.Store(), Uint8: out})
	return out, source.W*source.H < m.W*m.H
}

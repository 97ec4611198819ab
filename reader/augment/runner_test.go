package augment

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// noise is an image of random pixels.
func noise(h, w, c int, seed uint64) *pixel.Image {
	m := &pixel.Image{}
	m.Reset(h, w, c, formats.Uint8)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
	}
	return m
}

// outcome is what ops make of m, as uint8 NHWC.
func outcome(t *testing.T, m *pixel.Image, seed uint64, own bool, ops ...Op) []uint8 {
	t.Helper()
	p, err := Compile(ops, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var plan Steps
	r := random.NewRand(seed, 0, 0)
	p.Draw(&plan, m.H, m.W, &r)
	if err := p.Fits(m, &plan); err != nil {
		t.Fatal(err)
	}
	shape := p.Shape()
	out := make([]uint8, shape[0]*shape[1]*shape[2])
	run(t, &plan, m, own, resample.Target{Spec: p.Store(), Uint8: out})
	return out
}

// run carries a plan out to the end.
func run(t testing.TB, s *Steps, m *pixel.Image, own bool, to resample.Target) {
	t.Helper()
	var r Runner
	if err := r.Apply(s, m, own, to); err != nil {
		t.Fatal(err)
	}
	if err := r.Store(); err != nil {
		t.Fatal(err)
	}
}

// oneByOne applies the ops one after another, each to the whole outcome of the one before.
func oneByOne(t *testing.T, m *pixel.Image, ops ...Op) []uint8 {
	t.Helper()
	for _, o := range ops {
		p, err := Compile([]Op{o}, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
		if err != nil {
			t.Fatal(err)
		}
		shape := p.Shape()
		m = &pixel.Image{Pix: outcome(t, m, 0, false, o), H: shape[0], W: shape[1], C: m.C, DType: m.DType}
	}
	return m.Pix
}

// fixedCrop crops to a given part.
type fixedCrop pixel.Rect

func (fixedCrop) String() string                   { return "fixed" }
func (fixedCrop) Check(int) error                  { return nil }
func (o fixedCrop) AddTo(s *Steps, _ *random.Rand) { s.Crop(pixel.Rect(o)) }

// fixedAdjust darkens.
type fixedAdjust struct{ change Change }

func (fixedAdjust) String() string                   { return "adjust" }
func (fixedAdjust) Check(int) error                  { return nil }
func (o fixedAdjust) AddTo(s *Steps, _ *random.Rand) { s.Enhance(o.change, 0.7) }

func TestFusedIsOneAfterAnother(t *testing.T) {
	flip := RandomHorizontalFlip{P: 1}
	vflip := RandomVerticalFlip{P: 1}
	quarter := planned(func(p *Steps) { p.Rotate(90, pixel.Nearest, true, nil, nil) })
	turn := planned(func(p *Steps) { p.Rotate(20, pixel.Bilinear, false, nil, fillOf(p.c)) })
	reflect := planned(func(p *Steps) { p.Pad(3, 4, 5, 6, PadReflect, nil) })
	crop := fixedCrop{X: 5, Y: 7, W: 33, H: 20}
	dark, grey := fixedAdjust{Brightness}, fixedAdjust{Contrast}
	for name, ops := range map[string][]Op{
		"crop resize flip":     {crop, Resize{H: 16, W: 24}, flip},
		"flip crop":            {flip, crop},
		"flip resize":          {flip, Resize{H: 17, W: 23}},
		"flip crop resize":     {flip, crop, Resize{Shorter: 11, Filter: pixel.Bicubic}},
		"resize centercrop":    {Resize{Shorter: 31}, CenterCrop{H: 20, W: 28}},
		"flip odd centercrop":  {flip, CenterCrop{H: 12, W: 20}, flip},
		"pad flip crop":        {CenterCrop{H: 70, W: 80}, flip, crop},
		"flip pad":             {flip, CenterCrop{H: 30, W: 82}},
		"crop twice":           {crop, fixedCrop{X: 3, Y: 2, W: 10, H: 11}},
		"adjust a crop":        {crop, dark, grey, flip},
		"flip adjust centre":   {flip, grey, dark, CenterCrop{H: 9, W: 8}, grey},
		"vflip crop":           {vflip, crop, flip},
		"vflip resize":         {vflip, Resize{H: 17, W: 23}, vflip},
		"resize vflip centre":  {Resize{Shorter: 31}, vflip, CenterCrop{H: 20, W: 28}},
		"flips turn crop":      {flip, vflip, quarter, crop},
		"crop vflip turn":      {crop, vflip, quarter, quarter, flip},
		"flip rotate":          {flip, crop, vflip, turn},
		"rotate grey vflip":    {turn, grey, vflip, dark},
		"vflip reflect crop":   {vflip, crop, reflect, flip, CenterCrop{H: 30, W: 30}},
		"resize twice":         {Resize{H: 33, W: 21}, flip, Resize{H: 40, W: 50}, crop, Resize{H: 12, W: 12}},
		"resize adjust resize": {Resize{H: 40, W: 50}, dark, crop, flip, grey, Resize{H: 12, W: 12}},
	} {
		for _, c := range []int{1, 3} {
			m := noise(48, 61, c, 1)
			before := bytes.Clone(m.Pix)
			want := oneByOne(t, m, ops...)
			got := outcome(t, m, 0, false, ops...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %d channels: fused differs from one after another", name, c)
			}
			if !bytes.Equal(before, m.Pix) {
				t.Errorf("%s, %d channels: borrowed pixels were written to", name, c)
			}
			if got := outcome(t, m, 0, true, ops...); !bytes.Equal(got, want) {
				t.Errorf("%s, %d channels: own pixels give something else", name, c)
			}
		}
	}
}

func TestCropsAndFlipsAreNoPasses(t *testing.T) {
	for _, tt := range []struct {
		ops    []Op
		passes int
	}{
		{nil, 0},
		{[]Op{RandomHorizontalFlip{P: 1}, CenterCrop{H: 8, W: 8}}, 0},
		{Train(24), 1},
		{Eval(24), 1},
		{[]Op{Resize{H: 48, W: 61}}, 0},
	} {
		p, err := Compile(tt.ops, 48, 61, 3, formats.Uint8, pixel.NHWC)
		if err != nil {
			t.Fatal(err)
		}
		var plan Steps
		p.Draw(&plan, 48, 61, new(random.Rand))
		if len(plan.path.Steps) != tt.passes {
			t.Errorf("%s takes %d passes before the last, want %d", Ops(tt.ops).String(), len(plan.path.Steps), tt.passes)
		}
	}
}

func TestFlipMirrorsColumns(t *testing.T) {
	m := &pixel.Image{Pix: []byte{1, 2, 3, 4, 5, 6, 7, 8}, H: 2, W: 2, C: 2, DType: formats.Uint8}
	got := outcome(t, m, 0, false, RandomHorizontalFlip{P: 1})
	if want := []byte{3, 4, 1, 2, 7, 8, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFlipProbability(t *testing.T) {
	const n = 20_000
	flipped := 0
	for i := range n {
		var p Steps
		p.Reset(4, 4, 3)
		r := random.NewRand(5, 1, i)
		RandomHorizontalFlip{P: 0.3}.AddTo(&p, &r)
		if p.path.Flips.H {
			flipped++
		}
	}
	if share := float64(flipped) / n; share < 0.285 || share > 0.315 {
		t.Errorf("%.3f of the images are flipped, want 0.3", share)
	}
}

func TestPlanDoesNotAllocate(t *testing.T) {
	ops := append(Train(24), ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1})
	p, err := Compile(ops, 0, 0, 3, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var plan Steps
	r := random.NewRand(1, 1, 1)
	if n := testing.AllocsPerRun(100, func() { p.Draw(&plan, 100, 120, &r) }); n > 0 {
		t.Errorf("%v allocations a plan", n)
	}
}

package augment

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// comparison is jobs for a peer and the ops that must give the same pixels.
type comparison struct {
	jobs []*job
	ops  []Op
}

func (c *comparison) add(j *job, o Op) {
	c.jobs = append(c.jobs, j)
	c.ops = append(c.ops, o)
}

func (c *comparison) check(t *testing.T, results [][]byte) {
	t.Helper()
	for i, want := range results {
		j := c.jobs[i]
		got := outcome(t, j.image, 0, false, c.ops[i])
		allowed := 0
		if _, ok := c.ops[i].(GaussianBlur); ok {
			allowed = 1
		}
		if n := differences(got, want); furthest(got, want) > allowed || n > len(want)/1000 {
			t.Errorf("%s %v of %dx%dx%d: %d of %d values differ, by up to %d", j.Op, j.Args,
				j.image.W, j.image.H, j.image.C, n, len(want), furthest(got, want))
		}
	}
}

// change is an Op of one enhancement.
func change(c Change, factor float64) Op {
	return planned(func(p *Steps) { p.Enhance(c, factor) })
}

// colorImages have many colours, the colours of photos, greys, and hardly any pixels.
func colorImages() []*pixel.Image {
	dim := noise(30, 40, 3, 6)
	for i := range dim.Pix {
		dim.Pix[i] = 40 + dim.Pix[i]/3
	}
	return []*pixel.Image{
		noise(160, 200, 3, 5), smooth(60, 80, 3), smooth(60, 80, 1), dim,
		noise(1, 1, 3, 7), noise(5, 2, 3, 7), noise(2, 7, 1, 7), noise(3, 3, 3, 7),
	}
}

// colorJobs are all changes of colours that do not draw.
func colorJobs(prefix string) (c comparison) {
	for _, m := range colorImages() {
		for _, f := range []float64{0, 0.3, 0.77, 1, 1.4, 2.5} {
			c.add(newJob(prefix+"brightness", m, f), change(Brightness, f))
			c.add(newJob(prefix+"contrast", m, f), change(Contrast, f))
			c.add(newJob(prefix+"saturation", m, f), change(Saturation, f))
			c.add(newJob(prefix+"sharpness", m, f), RandomAdjustSharpness{Factor: f, P: 1})
		}
		for _, f := range []float64{-0.5, -0.1, 0, 0.003, 0.25, 0.5} {
			c.add(newJob(prefix+"hue", m, f), change(Hue, f))
		}
		for bits := 1; bits <= 8; bits++ {
			c.add(newJob(prefix+"posterize", m, bits), RandomPosterize{Bits: bits, P: 1})
		}
		for _, threshold := range []float64{0, 17, 128.5, 255, 256} {
			c.add(newJob(prefix+"solarize", m, threshold), RandomSolarize{Threshold: threshold, P: 1})
		}
		c.add(newJob(prefix+"invert", m), RandomInvert{P: 1})
		c.add(newJob(prefix+"autocontrast", m), RandomAutocontrast{P: 1})
		c.add(newJob(prefix+"equalize", m), RandomEqualize{P: 1})
		c.add(newJob(prefix+"gray", m), RandomGrayscale{P: 1})
		addBlurs(&c, prefix, m)
	}
	return c
}

func addBlurs(c *comparison, prefix string, m *pixel.Image) {
	for _, sigma := range []float64{0.1, 0.8, 2, 7.3} {
		for _, size := range [][2]int{{1, 1}, {3, 3}, {5, 9}, {23, 23}} {
			if size[0]/2 < m.W && size[1]/2 < m.H {
				c.add(newJob(prefix+"blur", m, size[0], size[1], sigma),
					GaussianBlur{W: size[0], H: size[1], Sigma: [2]float64{sigma, sigma}})
			}
		}
	}
}

func TestPillowColors(t *testing.T) {
	c := colorJobs("")
	c.check(t, peer(t, python(t, "PIL", "numpy"), c.jobs))
}

var automaticNames = []string{
	"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
	"Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize",
}

// fixedAutomatic makes one change of TrivialAugmentWide.
type fixedAutomatic struct {
	outside
	a         automatic
	magnitude float64
}

func (fixedAutomatic) String() string                   { return "automatic" }
func (fixedAutomatic) Check(int) error                  { return nil }
func (o fixedAutomatic) AddTo(s *Steps, _ *random.Rand) { o.plan(s, o.a, o.magnitude) }

// automaticJobs are all changes by some of their magnitudes.
func automaticJobs() (c comparison) {
	for a := range automatics {
		for bin := 0; bin < defaultBins; bin += 3 {
			for _, sign := range []float64{1, -1} {
				m := smooth(61, 48, 1+2*(bin%2))
				o := fixedAutomatic{outside{affineFilters[bin%3], fillOf(m.C)}, a, wide.magnitude(a, bin, defaultBins)}
				if sign < 0 && a.signed() {
					o.magnitude = -o.magnitude
				}
				c.add(newJob("tv_auto", m, automaticNames[a], o.magnitude, o.Filter, fillOf(m.C)), o)
			}
		}
	}
	return c
}

// The magnitudes are those that torchvision 0.29 prints for 31 bins, up to a float's last bit,
// which differs there from processor to processor.
func TestMagnitudes(t *testing.T) {
	narrow := space{shear: 0.3, translateX: 150.0 / 331 * 224, translateY: 150.0 / 331 * 100, turn: 30, blend: 0.9, bits: 4}
	for _, tt := range []struct {
		space space
		a     automatic
		bin   int
		want  float64
	}{
		{wide, identity, 5, 0},
		{wide, shearX, 1, 0.033},
		{wide, shearY, 30, 0.99},
		{wide, translateX, 15, 16},
		{wide, translateY, 30, 32},
		{wide, turn, 10, 45},
		{wide, contrast, 20, 0.66},
		{wide, posterize, 0, 8},
		{wide, posterize, 2, 8},
		{wide, posterize, 3, 7},
		{wide, posterize, 30, 2},
		{wide, solarize, 0, 255},
		{wide, solarize, 30, 0},
		{narrow, shearX, 9, 0.09},
		{narrow, translateX, 30, 101.510574},
		{narrow, translateY, 15, 22.658611},
		{narrow, turn, 9, 9},
		{narrow, sharpness, 9, 0.27},
		{narrow, posterize, 9, 7},
		{narrow, posterize, 30, 4},
		{narrow, equalize, 9, 0},
	} {
		if got := tt.space.magnitude(tt.a, tt.bin, 31); math.Abs(got-tt.want) > 1e-6*max(1, tt.want) {
			t.Errorf("%s, bin %d: %v, want %v", automaticNames[tt.a], tt.bin, got, tt.want)
		}
	}
}

// Each of the 14 changes is drawn as often as the others, and both signs.
func TestAutomaticDraws(t *testing.T) {
	const n = 28_000
	kinds := map[string]int{}
	for i := range n {
		var p Steps
		p.Reset(40, 50, 3)
		r := random.NewRand(3, 0, i)
		TrivialAugmentWide{}.AddTo(&p, &r)
		kinds[soleStep(&p)]++
	}
	// Magnitudes of 0 turn nothing: what rotates is seen in 30 of 31 draws.
	want := map[string]float64{
		"shear, positive": 1. / 14, "shear, negative": 1. / 14, "translate": 2. / 14, "nothing": (1 + 1./31) / 14,
		"rotate": 30. / 31 / 14, "sharpen": 1. / 14, "brightness": 1. / 14, "contrast": 1. / 14, "saturation": 1. / 14,
		"posterize": 1. / 14, "solarize": 1. / 14, "autocontrast": 1. / 14, "equalize": 1. / 14,
	}
	// Shears by 0 are translations by 0.
	want["shear, positive"] -= 1. / 31 / 14
	want["shear, negative"] -= 1. / 31 / 14
	want["translate"] += 2. / 31 / 14
	for name, share := range want {
		if got := float64(kinds[name]) / n; math.Abs(got-share) > 0.008 {
			t.Errorf("%s: share %.4f, want %.4f", name, got, share)
		}
	}
	for name := range kinds {
		if _, ok := want[name]; !ok {
			t.Errorf("%s was drawn", name)
		}
	}
}

// soleStep names the only step of s.
func soleStep(s *Steps) string {
	if len(s.path.Steps) == 0 {
		return "nothing"
	}
	st, p := &s.path.Steps[0], &s.passes[0]
	m := st.Affine.Matrix
	switch {
	case p.kind == sharpen:
		return "sharpen"
	case p.kind == enhance:
		return string(changes[s.changes[p.color.from].Change])
	case st.Kind != geometry.Affine || m[0] != 1 || m[4] != 1:
		return "rotate"
	case m[1] > 0 || m[3] > 0:
		return "shear, positive"
	case m[1] < 0 || m[3] < 0:
		return "shear, negative"
	}
	return "translate"
}

func TestRandAugmentMakesSoManyChanges(t *testing.T) {
	for i := range 200 {
		var p Steps
		p.Reset(40, 50, 3)
		r := random.NewRand(3, 0, i)
		RandAugment{Ops: 5, Magnitude: 30}.AddTo(&p, &r)
		steps := 0
		for _, s := range p.passes {
			steps += max(1, s.color.to-s.color.from)
		}
		if steps > 5 {
			t.Errorf("%d changes, wanted up to 5", steps)
		}
	}
}

// fixedSpatial blurs and sharpens.
func fixedSpatial(s *Steps) {
	s.Blur(3, 5, 1.2)
	s.Sharpen(1.7)
}

func TestColorsOneAfterAnother(t *testing.T) {
	flip := RandomHorizontalFlip{P: 1}
	upside := RandomVerticalFlip{P: 1}
	crop := fixedCrop{X: 5, Y: 7, W: 33, H: 20}
	spatial := planned(fixedSpatial)
	dark, even := change(Brightness, 0.6), change(Contrast, 1.5)
	stretch, hist := RandomAutocontrast{P: 1}, RandomEqualize{P: 1}
	for name, ops := range map[string][]Op{
		"changes":                {dark, even, change(Hue, 0.2), stretch, dark},
		"flip blur":              {flip, upside, spatial, crop},
		"crop blur flip":         {crop, spatial, flip, spatial},
		"crop between":           {even, crop, even, hist},
		"flip crop equalize":     {flip, crop, hist, upside, dark},
		"resize blur resize":     {Resize{H: 40, W: 50}, spatial, dark, spatial, Resize{H: 12, W: 12}},
		"stretch crop stretch":   {stretch, crop, stretch},
		"pad equalize":           {CenterCrop{H: 70, W: 80}, hist, flip, spatial},
		"gray blur crop gray":    {RandomGrayscale{P: 1}, spatial, crop, RandomGrayscale{P: 1}},
		"affine between changes": {dark, planned(func(p *Steps) { p.Affine([6]float64{1, 0.2, 0, 0, 1, 0}, pixel.Nearest, nil) }), even},
	} {
		for _, c := range []int{1, 3} {
			m := noise(48, 61, c, 1)
			before := bytes.Clone(m.Pix)
			want := oneByOne(t, m, ops...)
			for _, own := range []bool{false, true} {
				if got := outcome(t, m, 0, own, ops...); !bytes.Equal(got, want) {
					t.Errorf("%s, %d channels, own %v: other pixels than one after another", name, c, own)
				}
				if !own && !bytes.Equal(before, m.Pix) {
					t.Errorf("%s, %d channels: borrowed pixels were written to", name, c)
				}
			}
		}
	}
}

// Changes one after another are one step, and one call.
func TestChangesAreOneStep(t *testing.T) {
	p := Steps{}
	p.Reset(20, 30, 3)
	r := random.NewRand(1, 1, 1)
	ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}.AddTo(&p, &r)
	p.Flip()
	RandomGrayscale{P: 1}.AddTo(&p, &r)
	if len(p.path.Steps) != 1 || p.passes[0].color.to != 5 {
		t.Errorf("%d steps, want 1 of 5 changes", len(p.path.Steps))
	}
	p.Crop(pixel.Rect{X: 1, W: 29, H: 20})
	p.Enhance(Contrast, 2)
	if len(p.path.Steps) != 2 {
		t.Errorf("%d steps, want another one for what is cropped", len(p.path.Steps))
	}
}

func TestColorChecks(t *testing.T) {
	for _, o := range []Op{
		GaussianBlur{H: 4, W: 3},
		GaussianBlur{H: 3, W: 3, Sigma: [2]float64{2, 1}},
		RandomPosterize{Bits: 0, P: 1},
		RandomPosterize{Bits: 9, P: 1},
		RandomSolarize{Threshold: -1, P: 1},
		RandomAdjustSharpness{Factor: math.NaN(), P: 1},
		RandomGrayscale{P: 2},
		RandomInvert{P: -1},
		TrivialAugmentWide{Bins: 1},
		TrivialAugmentWide{Filter: pixel.Lanczos},
		TrivialAugmentWide{Fill: []float64{1, 2}},
		RandAugment{Ops: 2, Magnitude: 31},
		RandAugment{Ops: -1, Magnitude: 1},
	} {
		if o.Check(3) == nil {
			t.Errorf("%#v passes", o)
		}
	}
	for _, o := range []Op{RandomInvert{P: 1}, GaussianBlur{H: 3, W: 3}, TrivialAugmentWide{}, RandAugment{}, ColorJitter{}} {
		if o.Check(3) != nil || o.Check(1) != nil || o.Check(4) == nil {
			t.Errorf("%s: wanted 1 and 3 channels", o)
		}
	}
}

func TestBlurOfTooFewPixels(t *testing.T) {
	if _, err := Compile([]Op{GaussianBlur{H: 23, W: 3}}, 11, 40, 3, formats.Uint8, pixel.NHWC); err == nil {
		t.Error("no error for an image that cannot be mirrored")
	}
	m := &pixel.Image{}
	m.Reset(8, 8, 3, formats.Uint16)
	var p Steps
	p.Reset(8, 8, 3)
	p.Enhance(Invert, 0)
	var r Runner
	if err := r.Apply(&p, m, true, resample.Target{}); !errors.Is(err, pixelops.ErrNotEightBit) {
		t.Errorf("16 bits: %v", err)
	}
}

func BenchmarkColors(b *testing.B) {
	ops, err := Parse("jitter:0.4,jitter:0.4:0.4:0.4:0.1,blur:3,blur:23,sharpness:1.5:1,equalize:1,trivialaugment,randaugment")
	if err != nil {
		b.Fatal(err)
	}
	m := smooth(224, 224, 3)
	for _, o := range ops {
		b.Run(o.String(), func(b *testing.B) { benchmarkOp(b, o, m) })
	}
}

func benchmarkOp(b *testing.B, o Op, m *pixel.Image) {
	p, err := Compile([]Op{o}, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		b.Fatal(err)
	}
	var plan Steps
	var r Runner
	own := &pixel.Image{Pix: slices.Clone(m.Pix), H: m.H, W: m.W, C: m.C, DType: m.DType}
	for i := 0; b.Loop(); i++ {
		rand := random.NewRand(1, 0, i)
		p.Draw(&plan, m.H, m.W, &rand)
		if err := r.Apply(&plan, own, true, resample.Target{Spec: p.Store()}); err != nil {
			b.Fatal(err)
		}
	}
}

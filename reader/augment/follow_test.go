package augment

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// geometric are pipelines of ops that move pixels.
var geometric = []string{
	"",
	"rrc:20x17:nearest,flip",
	"flip:1,vflip:1,resize:31:nearest,centercrop:24",
	"centercrop:70x66,vflip:1,crop:40:pad=3/1",
	"crop:30:pad=9:reflect,rotate:40",
	"crop:30:pad=9:edge,flip:1,vflip:1,rotate:90/90:expand,resize:20:nearest,vflip",
	"rotate:-50/20:expand:center=10/12.5,resize:40x30:nearest,flip",
	"rotate:270/270:expand,crop:60x70:grow:symmetric",
	"flip:1,rotate:180/180,apply:0.5:vflip+flip:1+rotate:20,crop:20",
}

func compiled(t *testing.T, s string, m *pixel.Image) *Pipeline {
	t.Helper()
	ops, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(ops, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func checkGeometric(t *testing.T, check func(t *testing.T, p *Pipeline, plan *Steps, m *pixel.Image)) {
	for _, s := range geometric {
		m := noise(48, 61, 1, 1)
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%s/%d", s, seed), func(t *testing.T) {
				p := compiled(t, s, m)
				var plan Steps
				r := random.NewRand(seed, 0, 0)
				p.Draw(&plan, m.H, m.W, &r)
				check(t, p, &plan, m)
			})
		}
	}
}

// A mask moves as an image does whose ops take the nearest pixel; a change of colours in
// between does not matter.
func TestMaskFollows(t *testing.T) {
	checkGeometric(t, func(t *testing.T, p *Pipeline, plan *Steps, m *pixel.Image) {
		want := make([]uint8, plan.path.H*plan.path.W)
		run(t, plan, m, false, resample.Target{Spec: p.Store(), Uint8: want})
		plan.Narrow(pixel.Area{X0: 1, Y0: 2, X1: 3, Y1: 4})
		for i := range plan.path.Steps {
			plan.path.Steps[i].Filter = pixel.Lanczos
		}
		plan.Enhance(Invert, 0)
		var r Runner
		var got pixel.Image
		if err := r.Mask(plan, m, &got); err != nil {
			t.Fatal(err)
		}
		if got.H != plan.path.H || got.W != plan.path.W || !bytes.Equal(got.Pix, want) {
			t.Errorf("%dx%d: the mask differs from the image", got.W, got.H)
		}
	})
}

// A box holds what it held before; unless it was turned, it is the smallest one.
func TestBoxesFollow(t *testing.T) {
	checkGeometric(t, func(t *testing.T, _ *Pipeline, plan *Steps, m *pixel.Image) {
		turned := slices.ContainsFunc(plan.path.Steps, func(s geometry.Step) bool { return s.Kind == geometry.Affine })
		filled := slices.ContainsFunc(plan.path.Steps, func(s geometry.Step) bool { return s.Kind == geometry.Pad && s.Border.Mode != "" })
		if filled {
			t.Skip("borders repeat what was in the box")
		}
		for _, b := range [][4]float32{{10, 12, 30, 40}, {0, 0, 61, 48}, {50, 3, 58, 9}} {
			clear(m.Pix)
			for y := int(b[1]); y < int(b[3]); y++ {
				for x := int(b[0]); x < int(b[2]); x++ {
					m.Pix[y*m.W+x] = 255
				}
			}
			var r Runner
			var moved pixel.Image
			if err := r.Mask(plan, m, &moved); err != nil {
				t.Fatal(err)
			}
			got := plan.Boxes(nil, b[:])
			want := enclosing(&moved)
			if want == [4]float64{} {
				continue
			}
			for k, sign := range [4]float64{1, 1, -1, -1} {
				// Pixels whose middle is in the box count.
				if inside := sign * (want[k] - float64(got[k])); inside < -1.5 || inside > 1.5 && !turned {
					t.Fatalf("box %v becomes %v, its pixels lie in %v", b, got, want)
				}
			}
		}
	})
}

// enclosing is the smallest box of the pixels that are not 0.
func enclosing(m *pixel.Image) [4]float64 {
	b := [4]float64{math.Inf(1), math.Inf(1), 0, 0}
	for i, v := range m.Pix {
		if x, y := float64(i%m.W), float64(i/m.W); v != 0 {
			b = [4]float64{min(b[0], x), min(b[1], y), max(b[2], x+1), max(b[3], y+1)}
		}
	}
	if b[2] == 0 {
		return [4]float64{}
	}
	return b
}

func TestBoxes(t *testing.T) {
	boxes := []float32{10, 20, 40, 60, 90, 90, 99, 99, -5, -5, 200, 200}
	for name, tt := range map[string]struct {
		plan func(p *Steps)
		want []float32
	}{
		"nothing": {func(*Steps) {}, []float32{10, 20, 40, 60, 90, 80, 99, 80, 0, 0, 100, 80}},
		"crop":    {func(p *Steps) { p.Crop(pixel.Rect{X: 30, Y: 5, W: 50, H: 40}) }, []float32{0, 15, 10, 40, 50, 40, 50, 40, 0, 0, 50, 40}},
		"flip":    {func(p *Steps) { p.Flip() }, []float32{60, 20, 90, 60, 1, 80, 10, 80, 0, 0, 100, 80}},
		"vflip":   {func(p *Steps) { p.FlipV() }, []float32{10, 20, 40, 60, 90, 0, 99, 0, 0, 0, 100, 80}},
		"resize":  {func(p *Steps) { p.Resize(160, 50, pixel.Bilinear) }, []float32{5, 40, 20, 120, 45, 160, 49.5, 160, 0, 0, 50, 160}},
		"pad":     {func(p *Steps) { p.Pad(1, 2, 3, 4, "", nil) }, []float32{11, 22, 41, 62, 91, 82, 100, 82, 1, 2, 101, 82}},
		"turn": {
			func(p *Steps) { p.Rotate(90, pixel.Nearest, true, nil, nil) },
			[]float32{20, 60, 60, 90, 80, 1, 80, 10, 0, 0, 80, 100},
		},
		"shift": {
			func(p *Steps) { p.Affine([6]float64{1, 0, 20, 0, 1, -10}, pixel.Nearest, nil) },
			[]float32{0, 30, 20, 70, 70, 80, 79, 80, 0, 10, 80, 80},
		},
	} {
		var p Steps
		p.Reset(80, 100, 3)
		tt.plan(&p)
		if got := p.Boxes(nil, boxes); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		inPlace := slices.Clone(boxes)
		if got := p.Boxes(inPlace[:0], inPlace); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v in place, want %v", name, got, tt.want)
		}
	}
}

// A narrowed plan is for the part that it uses; widened it is for the whole image again.
func TestNarrowAndWiden(t *testing.T) {
	checkGeometric(t, func(t *testing.T, p *Pipeline, plan *Steps, m *pixel.Image) {
		apply := func(m *pixel.Image) []uint8 {
			out := make([]uint8, plan.path.H*plan.path.W)
			run(t, plan, m, false, resample.Target{Spec: p.Store(), Uint8: out})
			return out
		}
		want := apply(m)
		source := plan.Source()
		var r Runner
		part := *r.mover.Copy(geometry.View{Image: m, Window: source})
		for range 2 {
			plan.Narrow(pixel.Area{X1: float64(source.W), Y1: float64(source.H)})
			if !bytes.Equal(apply(&part), want) {
				t.Error("the part gives something else")
			}
			if plan.Source() != source {
				t.Errorf("the source becomes %+v, was %+v", plan.Source(), source)
			}
			plan.Widen()
			if !bytes.Equal(apply(m), want) {
				t.Error("widened it gives something else")
			}
		}
	})
}

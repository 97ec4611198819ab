package geometry

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func noise(h, w, c int, seed uint64) *pixel.Image {
	m := &pixel.Image{}
	m.Reset(h, w, c, formats.Uint8)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
	}
	return m
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A path moves an image as each of its steps alone does, one after another.
func TestMoveIsItsStepsOneByOne(t *testing.T) {
	for orientation := 0; orientation <= 8; orientation++ {
		src := noise(20, 31, 3, 1)
		var all Path
		all.Reset(pixel.OrientedSize(20, 31, orientation))
		all.Orientation = orientation
		want := must[*pixel.Image](t)(new(Mover).Turned(&all, src))
		for _, plan := range []func(p *Path) error{
			func(p *Path) error { return p.Crop(pixel.Rect{X: 2, Y: 3, W: 15, H: 12}) },
			func(p *Path) error { p.Flips.H = !p.Flips.H; return nil },
			func(p *Path) error { return p.Resize(9, 11, pixel.Bicubic) },
			func(p *Path) error { p.AddStill(); return nil },
			func(p *Path) error { return p.Transpose() },
			func(p *Path) error { p.Flips.V = !p.Flips.V; return p.Resize(30, 17, pixel.Nearest) },
			func(p *Path) error { return p.Crop(pixel.Rect{X: 1, Y: 1, W: 10, H: 20}) },
		} {
			var one Path
			one.Reset(want.H, want.W)
			if err := plan(&one); err != nil {
				t.Fatal(err)
			}
			want = must[*pixel.Image](t)(new(Mover).Move(&one, want, How{}))
			if err := plan(&all); err != nil {
				t.Fatal(err)
			}
		}
		var m Mover
		var to pixel.Image
		if err := m.MoveTo(&to, &all, src, How{}); err != nil {
			t.Fatal(err)
		}
		got := must[*pixel.Image](t)(m.Move(&all, src, How{}))
		if got.H != want.H || got.W != want.W || !bytes.Equal(got.Pix, want.Pix) || !bytes.Equal(to.Pix, want.Pix) {
			t.Errorf("orientation %d: the steps at once make another image", orientation)
		}
	}
}

// What is of another size than the path begins with is scaled to that, or, where the path begins with a resize of the
// whole image, to the result of that at once.
func TestImagesOfAnotherSize(t *testing.T) {
	half := noise(10, 15, 1, 1)
	move := func(src *pixel.Image, h, w int, plan func(p *Path)) *pixel.Image {
		var p Path
		p.Reset(h, w)
		plan(&p)
		return must[*pixel.Image](t)(new(Mover).Move(&p, src, How{Nearest: true}))
	}
	resize := func(src *pixel.Image, h, w int) *pixel.Image {
		return move(src, src.H, src.W, func(p *Path) { _ = p.Resize(h, w, pixel.Bilinear) })
	}
	crop := func(p *Path) { _ = p.Crop(pixel.Rect{X: 3, Y: 2, W: 12, H: 11}) }
	for name, tt := range map[string]struct {
		plan func(p *Path)
		want *pixel.Image
	}{
		"nothing": {func(*Path) {}, resize(half, 20, 30)},
		"crop":    {crop, move(resize(half, 20, 30), 20, 30, crop)},
		"resize":  {func(p *Path) { _ = p.Resize(7, 8, pixel.Bilinear) }, resize(half, 7, 8)},
	} {
		if got := move(half, 20, 30, tt.plan); got.H != tt.want.H || got.W != tt.want.W || !bytes.Equal(got.Pix, tt.want.Pix) {
			t.Errorf("%s: another result than of one scaled before", name)
		}
	}
}

// A path that changes nothing takes no memory.
func TestMoveOfNothingIsTheImage(t *testing.T) {
	var p Path
	p.Reset(4, 5)
	src := noise(4, 5, 3, 1)
	if got := must[*pixel.Image](t)(new(Mover).Move(&p, src, How{})); got != src {
		t.Error("the image was copied")
	}
}

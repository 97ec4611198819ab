package parity

import (
	"math"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/resample"
)

func imageOf(h, w, c int, t formats.DType, pix ...byte) *pixel.Image {
	return &pixel.Image{Pix: pix, H: h, W: w, C: c, DType: t}
}

func TestDifference(t *testing.T) {
	a := imageOf(1, 2, 1, formats.Uint8, 10, 200)
	d := differenceOf(a, imageOf(1, 2, 1, formats.Uint8, 13, 200))
	if want := 9.0 / 2 / 255 / 255; d.largest != 3 || math.Abs(d.square-want) > 1e-15 || d.equal() {
		t.Errorf("%+v", d)
	}
	deep := imageOf(1, 1, 1, formats.Uint16, 0, 1)
	if d := differenceOf(deep, imageOf(1, 1, 1, formats.Uint16, 255, 0)); d.largest != 1 || d.bits != 16 {
		t.Errorf("%+v", d)
	}
	if d := differenceOf(a, imageOf(2, 1, 1, formats.Uint8, 10, 200)); d.largest != 255 || d.cause == "" || d.equal() {
		t.Errorf("%+v", d)
	}
	if got := psnr(1e-4); math.Abs(got-40) > 1e-9 {
		t.Error(got)
	}
}

// The worst image and the PSNR do not depend on the order in which images come.
func TestPathOrder(t *testing.T) {
	list := []struct {
		key string
		d   difference
	}{
		{"a", difference{bits: 8}},
		{"b", difference{largest: 5, square: 0.3, bits: 8}},
		{"c", difference{largest: 5, square: 0.2, bits: 8}},
		{"d", difference{largest: 6, square: 0.1, bits: 8}},
		{"e", difference{largest: 6, square: 0.1, bits: 8}},
		{"f", difference{largest: 1500, square: 0.01, bits: 16}},
	}
	var p, q Path
	for i := range list {
		p.add(list[i].key, list[i].d)
		back := list[len(list)-1-i]
		q.add(back.key, back.d)
	}
	p.finish()
	q.finish()
	if p.Worst != "d" || p.Largest != 6 || p.Bits != 8 || p.Differ != 5 || p.Images != 6 {
		t.Errorf("%+v", p)
	}
	if q.Worst != p.Worst || *q.PSNR != *p.PSNR || *p.MinPSNR != psnr(0.3) {
		t.Errorf("%+v and %+v", p, q)
	}
	p.add("g", difference{largest: 1, square: 1, bits: 8, cause: "another shape"})
	p.finish()
	if p.Worst != "g" || !strings.Contains(p.Verdict(), "another shape") {
		t.Error(p.Verdict())
	}
}

// A Pillow before 13 that rounds in another order is no judge of an image for which the order
// counts, and it is of the others.
func TestOldPillow(t *testing.T) {
	w := &worker{run: &run{}, has: Judge{Pillow: "12.1.0"}}
	a, b := imageOf(1, 1, 1, formats.Uint8, 1), imageOf(1, 1, 1, formats.Uint8, 2)
	var p Path
	w.compare(&p, "same", a, made{image: a}, true)
	w.compare(&p, "order", a, made{image: b}, true)
	if p.Images != 1 || p.Differ != 0 || len(p.NotJudged) != 1 || !p.Equal() {
		t.Errorf("%+v", p)
	}
	w.compare(&p, "other", a, made{image: b}, false)
	if p.Differ != 1 || p.Equal() {
		t.Errorf("%+v", p)
	}
	if !otherOrder(800, 90, 224, 224) || otherOrder(800, 90, 400, 90) || otherOrder(90, 800, 224, 224) {
		t.Error("when Pillow 13 scales vertically first")
	}
}

// The certificate says which of the two sides is not what dsconv stands on.
func TestNotes(t *testing.T) {
	for _, c := range []struct {
		judge  Judge
		recipe map[string]string
		want   string
	}{
		{Judge{Pillow: "13.2.1", JPEG: jpeg.DecoderName + " 3.1"}, nil, ""},
		{Judge{Pillow: "11.0.0", JPEG: jpeg.DecoderName + " 3.1"}, nil, "Pillow 11.0.0 is not the pillow-13"},
		{Judge{Pillow: "13.0.0", JPEG: "libjpeg 9.5"}, nil, "by libjpeg 9.5 and dsconv by"},
		{Judge{Pillow: "13.0.0", JPEG: jpeg.DecoderName}, map[string]string{"resampler": "other"}, "packed with the resampler other"},
	} {
		r := &run{found: Certificate{Judge: c.judge, Recipe: c.recipe, Dsconv: Dsconv{Resampler: resample.ResamplerName}}}
		r.note()
		if got := strings.Join(r.found.Notes, "; "); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q, want %q", c.judge, got, c.want)
		}
	}
}

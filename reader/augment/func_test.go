package augment

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// slanted changes pixels by where they are.
var slanted = Func{Name: "slanted", Apply: func(m *pixel.Image, _ *random.Rand) error {
	for i := range m.Pix {
		m.Pix[i] += byte(i)
	}
	return nil
}}

// speckled changes pixels at random.
var speckled = Func{Name: "speckled", Apply: func(m *pixel.Image, r *random.Rand) error {
	for i := range m.Pix {
		m.Pix[i] ^= byte(r.Uint64())
	}
	return nil
}}

// A Func is done exactly where it stands, and pixels that are only lent are not written to.
func TestFuncIsOneAfterAnother(t *testing.T) {
	flip, crop := RandomHorizontalFlip{P: 1}, fixedCrop{X: 5, Y: 7, W: 33, H: 20}
	turn := planned(func(s *Steps) { s.Rotate(20, pixel.Bilinear, false, nil, nil) })
	for name, ops := range map[string][]Op{
		"alone":        {slanted},
		"flip crop":    {flip, slanted, crop},
		"crop flip":    {crop, slanted, RandomVerticalFlip{P: 1}, slanted},
		"resize":       {slanted, Resize{H: 30, W: 40}, slanted, flip},
		"turn":         {turn, slanted, crop, turn, slanted},
		"apply":        {RandomApply{P: 1, Ops: []Op{flip, slanted}}, crop},
		"colors":       {RandomInvert{P: 1}, slanted, RandomInvert{P: 1}},
		"pad and flip": {flip, CenterCrop{H: 70, W: 80}, slanted, flip},
	} {
		m := noise(48, 61, 3, 1)
		before := bytes.Clone(m.Pix)
		want := oneByOne(t, m, ops...)
		for _, own := range []bool{false, true} {
			if got := outcome(t, m, 0, own, ops...); !bytes.Equal(got, want) {
				t.Errorf("%s, own %v: differs from one after another", name, own)
			}
			if !own && !bytes.Equal(before, m.Pix) {
				t.Errorf("%s: pixels that were lent were written to", name)
			}
		}
	}
}

// What a Func draws depends on the generator that its steps were drawn from alone; each image of a
// sample gets the same.
func TestFuncDraws(t *testing.T) {
	m := noise(20, 30, 3, 1)
	p, err := Compile([]Op{speckled, RandomHorizontalFlip{P: 0.5}}, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var results [][]byte
	for _, sample := range []int{4, 4, 5} {
		var steps Steps
		r := random.NewRand(1, 2, sample)
		p.Draw(&steps, m.H, m.W, &r)
		for range 2 {
			out := make([]uint8, len(m.Pix))
			run(t, &steps, m, false, resample.Target{Spec: p.Store(), Uint8: out})
			results = append(results, out)
		}
	}
	for i, r := range results {
		if same := bytes.Equal(r, results[0]); same != (i < 4) {
			t.Errorf("result %d: equal to the first %v", i, same)
		}
	}
}

// applied is the error of a Func on an image.
func applied(t *testing.T, apply func(m *pixel.Image, r *random.Rand) error) error {
	t.Helper()
	m := noise(6, 5, 3, 1)
	p, err := Compile([]Op{Func{Name: "mine", Apply: apply}}, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var steps Steps
	p.Draw(&steps, m.H, m.W, new(random.Rand))
	if err := p.Fits(m, &steps); err != nil {
		t.Fatal(err)
	}
	var r Runner
	return r.Apply(&steps, m, false, resample.Target{Spec: p.Store(), Uint8: make([]uint8, len(m.Pix))})
}

func TestFuncErrors(t *testing.T) {
	mine := errors.New("no face in it")
	for want, apply := range map[string]func(m *pixel.Image, _ *random.Rand) error{
		"func:mine: no face in it": func(*pixel.Image, *random.Rand) error { return mine },
		"func:mine: panic: oh":     func(*pixel.Image, *random.Rand) error { panic("oh") },
		"func:mine: panic: runtime error: index out of range": func(m *pixel.Image, _ *random.Rand) error {
			n := len(m.Pix)
			m.Pix[n] = 1
			return nil
		},
		"func:mine: it made 5x3x3 pixels": func(m *pixel.Image, _ *random.Rand) error {
			m.Reset(3, 5, 3, m.DType)
			return nil
		},
		"func:mine: it made 5x6x3 pixels of uint8 (89 bytes)": func(m *pixel.Image, _ *random.Rand) error {
			m.Pix = m.Pix[1:]
			return nil
		},
	} {
		if err := applied(t, apply); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := applied(t, func(*pixel.Image, *random.Rand) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v is not the function's error", err)
	}
}

// Memory that a function puts in place of the image's is used for that image alone.
func TestFuncKeepsItsMemory(t *testing.T) {
	mine := make([]byte, 20*30*3)
	own := Func{Name: "own", Apply: func(m *pixel.Image, _ *random.Rand) error {
		m.Pix = mine
		return nil
	}}
	m := noise(20, 30, 3, 1)
	for _, ops := range [][]Op{{own}, {own, slanted}, {RandomInvert{P: 1}, own, RandomInvert{P: 1}, slanted}} {
		p := mustCompile(t, ops, m)
		var r Runner
		for range 3 {
			var steps Steps
			p.Draw(&steps, m.H, m.W, new(random.Rand))
			if err := r.Apply(&steps, m, false, resample.Target{Spec: p.Store(), Uint8: make([]uint8, len(m.Pix))}); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Max(mine) != 0 {
			t.Fatalf("%s: the function's memory was written to", Ops(ops))
		}
	}
}

func mustCompile(t *testing.T, ops []Op, m *pixel.Image) *Pipeline {
	t.Helper()
	p, err := Compile(ops, m.H, m.W, m.C, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFuncDoesNotAllocate(t *testing.T) {
	m := noise(20, 30, 3, 1)
	p := mustCompile(t, []Op{RandomHorizontalFlip{P: 1}, slanted}, m)
	var r Runner
	var steps Steps
	target := resample.Target{Spec: p.Store(), Uint8: make([]uint8, len(m.Pix))}
	draw := random.NewRand(1, 1, 1)
	if n := testing.AllocsPerRun(50, func() {
		p.Draw(&steps, m.H, m.W, &draw)
		if r.Apply(&steps, m, false, target) != nil || r.Store() != nil {
			t.Fatal("an error")
		}
	}); n > 0 {
		t.Errorf("%v allocations an image", n)
	}
}

// The text of a Func is in JSON and reports; it cannot be read.
func TestFuncText(t *testing.T) {
	ops := Ops{RandomHorizontalFlip{P: 0.5}, slanted}
	data, err := json.Marshal(ops)
	if err != nil || string(data) != `"flip,func:slanted"` {
		t.Errorf("%s, %v", data, err)
	}
	if err := json.Unmarshal(data, &ops); err == nil || !strings.Contains(err.Error(), `"func:slanted": it is a function in Go`) {
		t.Errorf("error %v", err)
	}
	if _, err := Parse("apply:0.5:func:slanted"); err == nil || !strings.Contains(err.Error(), "function in Go") {
		t.Errorf("error %v", err)
	}
	var s Steps
	s.Reset(4, 5, 3)
	slanted.AddTo(&s, new(random.Rand))
	if list := s.List(); len(list) != 1 || list[0].Name != "func" || list[0].Func != "slanted" {
		t.Errorf("steps %+v", list)
	}
}

// Masks and boxes stay where a Func leaves pixels, mirrored as the image is before it.
func TestFuncLeavesMasks(t *testing.T) {
	mask := noise(20, 30, 1, 5)
	plain, with := Steps{}, Steps{}
	for _, s := range []*Steps{&plain, &with} {
		s.Reset(mask.H, mask.W, 1)
		s.Flip()
		if s == &with {
			slanted.AddTo(s, new(random.Rand))
		}
		s.Crop(pixel.Rect{X: 2, Y: 3, W: 11, H: 7})
	}
	var r Runner
	var want, got pixel.Image
	if err := errors.Join(r.Mask(&plain, mask, &want), r.Mask(&with, mask, &got)); err != nil || !bytes.Equal(want.Pix, got.Pix) {
		t.Errorf("the mask differs; %v", err)
	}
	boxes := []float32{1, 2, 9, 8}
	if a, b := plain.Boxes(nil, boxes), with.Boxes(nil, boxes); !slices.Equal(a, b) {
		t.Errorf("boxes %v, want %v", b, a)
	}
}

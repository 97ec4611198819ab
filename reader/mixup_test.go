package reader

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// noisy is n raw images of noise, of the classes i%10, so that neighbours differ in both.
func noisy(n, h, w int) *memory {
	d := newMemory()
	d.meta.Schema[1].Classes = classes(10)
	for i := range n {
		d.add("train", raw(formats.Uint8, noise(h*w*3, i), h, w, 3))
	}
	return d
}

// elements are a batch's images as numbers.
func elements(b *Batch, d formats.DType) (x []float32) {
	switch d {
	case formats.Uint8:
		for _, v := range Pixels[uint8](b) {
			x = append(x, float32(v))
		}
	case formats.Uint16:
		for _, v := range Pixels[uint16](b) {
			x = append(x, float32(v))
		}
	case formats.Float32:
		x = Pixels[float32](b)
	default:
		for _, v := range Pixels[uint16](b) {
			x = append(x, halfValue(d, v))
		}
	}
	return x
}

// mixture is what the seed draws for the batch at a position, by the definition in package
// augment.
func mixture(c *Config, epoch, position int, ops []augment.Mixer) augment.Mixing {
	r := random.NewRand(c.Seed^mixUpStream, epoch, position)
	op := ops[0]
	if len(ops) > 1 {
		op = ops[r.IntN(len(ops))]
	}
	s := imageSide
	return op.Mix(s, s+3, &r)
}

const imageSide = 8 // images of these tests are imageSide by imageSide+3

// both collects an epoch as it is and mixed.
func both(t *testing.T, ds formats.Dataset, c Config, epoch int, mixers ...augment.Op) (apart, mixed []*Batch) {
	t.Helper()
	apart = collect(t, makeLoader(t, ds, c), epoch)
	c.Transforms = append(slices.Clone(c.Transforms), mixers...)
	return apart, collect(t, makeLoader(t, ds, c), epoch)
}

func TestMixUpByDefinition(t *testing.T) {
	ds := noisy(22, imageSide, imageSide+3)
	for _, d := range []formats.DType{formats.Float32, formats.Float16, formats.BFloat16} {
		rounding := map[formats.DType]float64{formats.Float32: 0x1p-23, formats.Float16: 0x1p-9, formats.BFloat16: 0x1p-6}[d]
		for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
			c := Config{BatchSize: 5, Workers: 3, Seed: 4, DType: d, Layout: layout}
			apart, mixed := both(t, ds, c, 1, augment.MixUp{Alpha: 1})
			for k := range mixed {
				b, n := mixed[k], mixed[k].N
				share := float64(b.Soft[int(Labels[int64](b)[0])])
				if want := mixture(&c, 1, 5*k, []augment.Mixer{augment.MixUp{Alpha: 1}}).Share; math.Abs(share-want) > 1e-6 {
					t.Fatalf("batch %d keeps a share of %v, want %v", k, share, want)
				}
				from, got := elements(apart[k], d), elements(b, d)
				size := len(got) / n
				for i, x := range got {
					other := from[(i/size+n-1)%n*size+i%size]
					want := share*float64(from[i]) + (1-share)*float64(other)
					if math.Abs(float64(x)-want) > rounding {
						t.Fatalf("%s, %s: element %d of batch %d is %v, want %v", d, layout, i, k, x, want)
					}
				}
				checkSoft(t, b, 10, share)
			}
		}
	}
}

// checkSoft holds that row i has a share of label i and the rest of the label before.
func checkSoft(t *testing.T, b *Batch, columns int, share float64) {
	t.Helper()
	if len(b.Soft) != b.N*columns {
		t.Fatalf("%d soft labels for %d samples", len(b.Soft), b.N)
	}
	for i := range b.N {
		sum := 0.0
		want := make([]float64, columns)
		want[Labels[int64](b)[i]] += share
		want[Labels[int64](b)[(i+b.N-1)%b.N]] += 1 - share
		for c, x := range b.Soft[i*columns:][:columns] {
			sum += float64(x)
			if math.Abs(float64(x)-want[c]) > 1e-6 {
				t.Fatalf("row %d is %v, want %v", i, b.Soft[i*columns:][:columns], want)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("row %d sums to %v", i, sum)
		}
	}
}

// TestCutMixByDefinition finds the part by comparing pixels: it is one rectangle, the same in
// all images of a batch, and the labels' share is its area.
func TestCutMixByDefinition(t *testing.T) {
	ds := noisy(22, imageSide, imageSide+3)
	parts := map[pixel.Rect]bool{}
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16, formats.Float32, formats.BFloat16} {
		for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
			c := Config{BatchSize: 6, Workers: 3, Seed: 4, DType: d, Layout: layout}
			apart, mixed := both(t, ds, c, 1, augment.CutMix{Alpha: 1})
			for k := range mixed {
				p := checkCut(t, apart[k], mixed[k], d, layout)
				parts[p] = true
				area := float64(p.W*p.H) / (imageSide * (imageSide + 3))
				checkSoft(t, mixed[k], 10, 1-area)
				if want := mixture(&c, 1, 6*k, []augment.Mixer{augment.CutMix{Alpha: 1}}).Region; p != want && want.W*want.H > 0 {
					t.Fatalf("part %+v, want %+v", p, want)
				}
			}
		}
	}
	if len(parts) < 3 {
		t.Errorf("all batches have the parts %v", parts)
	}
}

// checkCut gives the part that comes from the image before.
func checkCut(t *testing.T, apart, mixed *Batch, d formats.DType, layout pixel.Layout) pixel.Rect {
	t.Helper()
	const h, w = imageSide, imageSide + 3
	own, got := elements(apart, d), elements(mixed, d)
	pixelAt := func(x []float32, i, p int) (v [3]float32) {
		for c := range v {
			at := p*3 + c
			if layout == pixel.NCHW {
				at = c*h*w + p
			}
			v[c] = x[i*h*w*3+at]
		}
		return v
	}
	var part pixel.Rect
	for i := range mixed.N {
		x0, y0, x1, y1, count := w, h, 0, 0, 0
		for p := range h * w {
			if pixelAt(got, i, p) == pixelAt(own, i, p) {
				continue
			}
			if pixelAt(got, i, p) != pixelAt(own, (i+mixed.N-1)%mixed.N, p) {
				t.Fatalf("pixel %d of image %d is neither its own nor the other's", p, i)
			}
			x0, y0, x1, y1 = min(x0, p%w), min(y0, p/w), max(x1, p%w+1), max(y1, p/w+1)
			count++
		}
		r := pixel.Rect{}
		if count > 0 {
			r = pixel.Rect{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}
		}
		if r.W*r.H != count || i > 0 && r != part {
			t.Fatalf("image %d: %d pixels within %+v, image 0 has %+v", i, count, r, part)
		}
		part = r
	}
	return part
}

// TestMixingTheGlobalBatch: what two ranks get is what one gets of batches twice as large, but
// for padding, whose soft labels are 0.
func TestMixingTheGlobalBatch(t *testing.T) {
	ds := noisy(21, imageSide, imageSide+3)
	mixers := []augment.Op{augment.MixUp{Alpha: 1}, augment.CutMix{Alpha: 1}}
	c := Config{BatchSize: 6, Shuffle: true, Seed: 9, DType: formats.Float32, Transforms: mixers}
	whole := collect(t, makeLoader(t, ds, c), 2)
	c.BatchSize, c.WorldSize = 3, 2
	var ranks [2][]*Batch
	for c.Rank = range ranks {
		ranks[c.Rank] = collect(t, makeLoader(t, ds, c), 2)
	}
	for k := range 3 { // the fourth is shorter, and another number of images is mixed
		pixels := append(slices.Clone(Pixels[float32](ranks[0][k])), Pixels[float32](ranks[1][k])...)
		soft := append(slices.Clone(ranks[0][k].Soft), ranks[1][k].Soft...)
		if !slices.Equal(pixels, Pixels[float32](whole[k])) || !slices.Equal(soft, whole[k].Soft) {
			t.Errorf("batch %d of two ranks is not the whole one's", k)
		}
	}
	last := ranks[1][3]
	n := len(last.Soft) / last.N
	if at := last.N - 1; last.Indices[at] != -1 || slices.Max(last.Soft[at*n:]) != 0 || slices.Max(last.Soft[:n]) == 0 {
		t.Errorf("indices %v, soft labels %v", last.Indices, last.Soft)
	}
}

func TestMixingIsTheSameForAnyWorkers(t *testing.T) {
	ds := photos(t, 33)
	c := Config{BatchSize: 8, Shuffle: true, Seed: 2, DType: formats.BFloat16, Transforms: append(
		augment.Train(12), augment.ImageNet, augment.MixUp{Alpha: 0.2}, augment.CutMix{Alpha: 1},
	)}
	ds.meta.Schema[1].Classes = classes(10)
	var want []*Batch
	for _, c.Workers = range []int{1, 2, 7} {
		got := collect(t, makeLoader(t, ds, c), 3)
		if want == nil {
			want = got
		}
		for k := range got {
			if !slices.Equal(Pixels[uint16](got[k]), Pixels[uint16](want[k])) || !slices.Equal(got[k].Soft, want[k].Soft) {
				t.Fatalf("%d workers: batch %d differs from one worker's", c.Workers, k)
			}
		}
	}
}

func TestOneOfSeveralMixersIsDrawn(t *testing.T) {
	ds := noisy(120, imageSide, imageSide+3)
	c := Config{BatchSize: 2, DType: formats.Float32}
	apart, mixed := both(t, ds, c, 0, augment.MixUp{Alpha: 1}, augment.CutMix{Alpha: 1})
	cuts, blends := 0, 0
	for k := range mixed {
		same := 0
		for i, x := range Pixels[float32](mixed[k]) {
			n := len(Pixels[float32](mixed[k])) / 2
			if x == Pixels[float32](apart[k])[i] || x == Pixels[float32](apart[k])[(i+n)%(2*n)] {
				same++
			}
		}
		if same == len(Pixels[float32](mixed[k])) {
			cuts++
		} else {
			blends++
		}
	}
	if cuts < 15 || blends < 15 {
		t.Errorf("%d of 60 batches are cut, %d blended", cuts, blends)
	}
}

func TestMixingMultiHotLabels(t *testing.T) {
	ds := noisy(7, imageSide, imageSide+3)
	ds.meta.Schema[1] = formats.Field{Name: "tags", Kind: formats.MultiHot, Classes: classes(4)}
	for i := range ds.samples {
		ds.samples[i].Values[1] = raw(formats.Uint8, []byte{1, byte(i & 1), byte(i >> 1 & 1), 0}, 4)
	}
	b := collect(t, makeLoader(t, ds, Config{BatchSize: 7, DType: formats.Float32, Transforms: []augment.Op{augment.MixUp{Alpha: 1}}}), 0)[0]
	share := mixture(&Config{}, 0, 0, []augment.Mixer{augment.MixUp{Alpha: 1}}).Share
	for i := range b.N {
		for c := range 4 {
			want := share*float64(b.MultiHot[i*4+c]) + (1-share)*float64(b.MultiHot[(i+6)%7*4+c])
			if got := b.Soft[i*4+c]; math.Abs(float64(got)-want) > 1e-6 {
				t.Fatalf("row %d, column %d: %v, want %v", i, c, got, want)
			}
		}
	}
}

// TestUnlabelledImagesAddNothing to the soft labels.
func TestUnlabelledImagesAddNothing(t *testing.T) {
	ds := noisy(2, imageSide, imageSide+3)
	ds.samples[1].Values[1].SetInt64(formats.NoLabel)
	b := collect(t, makeLoader(t, ds, Config{BatchSize: 2, DType: formats.Float32, Transforms: []augment.Op{augment.MixUp{Alpha: 1}}}), 0)[0]
	share := float32(mixture(&Config{}, 0, 0, []augment.Mixer{augment.MixUp{Alpha: 1}}).Share)
	want := make([]float32, 20)
	want[0], want[10] = share, 1-share
	for i := range want {
		if math.Abs(float64(b.Soft[i]-want[i])) > 1e-6 {
			t.Fatalf("soft labels %v, want %v", b.Soft, want)
		}
	}
}

func TestABatchOfOneIsMixedWithItself(t *testing.T) {
	ds := noisy(1, imageSide, imageSide+3)
	apart, mixed := both(t, ds, Config{BatchSize: 1}, 0, augment.CutMix{Alpha: 1})
	if !slices.Equal(Pixels[uint8](apart[0]), Pixels[uint8](mixed[0])) || mixed[0].Soft[0] < 1-1e-6 {
		t.Errorf("soft labels %v", mixed[0].Soft)
	}
}

func TestAtIsNotMixed(t *testing.T) {
	ds := noisy(3, imageSide, imageSide+3)
	l := makeLoader(t, ds, Config{BatchSize: 3, Transforms: []augment.Op{augment.CutMix{Alpha: 1}}})
	b := new(Batch)
	for i := range 3 {
		if err := l.At(i, b); err != nil {
			t.Fatal(err)
		}
		want := make([]float32, 10)
		want[i] = 1
		if !slices.Equal(b.Soft, want) || !slices.Equal(Pixels[uint8](b), ds.samples[i].Values[0].Data) {
			t.Errorf("sample %d: soft labels %v", i, b.Soft)
		}
	}
}

func TestWhatMixingRefuses(t *testing.T) {
	unlabelled := noisy(2, imageSide, imageSide+3)
	unlabelled.dropLabels()
	up, cut := augment.MixUp{Alpha: 1}, augment.CutMix{Alpha: 1}
	for want, c := range map[string]Config{
		"not of uint8":         {Transforms: []augment.Op{up}},
		"not of uint16":        {Transforms: []augment.Op{up}, DType: formats.Uint16},
		"must come before":     {Transforms: []augment.Op{cut, augment.RandomHorizontalFlip{P: 1}}},
		"mixup:1":              {Transforms: []augment.Op{up, augment.ImageNet}, DType: formats.Float32},
		"alpha 0":              {Transforms: []augment.Op{augment.CutMix{}}},
		"alpha NaN":            {Transforms: []augment.Op{augment.CutMix{Alpha: math.NaN()}}},
		"tail uneven":          {Transforms: []augment.Op{cut}, Tail: order.Uneven},
		"has no labels to mix": {Transforms: []augment.Op{cut}},
	} {
		c.BatchSize = 2
		ds := noisy(2, imageSide, imageSide+3)
		if strings.Contains(want, "no labels") {
			ds = unlabelled
		}
		if _, err := New(ds, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestBeta compares draws with the distribution's mean, 1/2, and variance, 1/(4(2a+1)).
func TestBeta(t *testing.T) {
	const n = 40000
	for _, alpha := range []float64{0.2, 1, 3} {
		t.Run(fmt.Sprint(alpha), func(t *testing.T) {
			sum, squares := 0.0, 0.0
			for k := range n {
				r := random.NewRand(1, 0, k)
				x := r.Beta(alpha)
				if !(x >= 0 && x <= 1) {
					t.Fatalf("%v is drawn", x)
				}
				sum, squares = sum+x, squares+(x-0.5)*(x-0.5)
			}
			variance := 1 / (4 * (2*alpha + 1))
			// Four standard errors of each.
			if mean := sum / n; math.Abs(mean-0.5) > 4*math.Sqrt(variance/n) {
				t.Errorf("mean %v", mean)
			}
			if got := squares / n; math.Abs(got-variance) > 4*variance*math.Sqrt(2./n) {
				t.Errorf("variance %v, want %v", got, variance)
			}
		})
	}
}

// TestShareIsWhatTheCutLeaves also of parts that are cut off at the edges.
func TestShareIsWhatTheCutLeaves(t *testing.T) {
	whole := pixel.Rect{W: 20, H: 13}
	for k := range 2000 {
		r := random.NewRand(2, 0, k)
		m := augment.CutMix{Alpha: 1}.Mix(whole.H, whole.W, &r)
		p := m.Region
		if !m.Cut || p.X < 0 || p.Y < 0 || p.W < 0 || p.H < 0 || p.X+p.W > whole.W || p.Y+p.H > whole.H {
			t.Fatalf("%+v", m)
		}
		if want := 1 - float64(p.W*p.H)/float64(whole.W*whole.H); m.Share != want {
			t.Fatalf("a share of %v, want %v", m.Share, want)
		}
	}
}

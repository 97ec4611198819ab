package reader

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// predicted is raw images with those numbers to predict.
func predicted(numbers ...float32) *memory {
	d := rawImages(len(numbers), 4, 4, 3)
	d.meta.Schema[1] = formats.Field{Name: "age", Kind: formats.Number, DType: formats.Float32}
	for i, x := range numbers {
		d.samples[i].Values[1].SetFloat32(x)
	}
	return d
}

// sameNumbers takes NaN for equal to itself.
func sameNumbers(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

var nan = math.Float32frombits(0x7fc00000)

func TestNumbersAreLabels(t *testing.T) {
	ds := predicted(0.5, -3, nan, 1e-40, 7)
	for _, dtype := range []formats.DType{"", formats.Float32} {
		l := makeLoader(t, ds, Config{BatchSize: 2, LabelDType: dtype, WorldSize: 1, Cache: Cache{Kind: Encoded}})
		for epoch := range 2 { // the second of the cache
			var got []float32
			for _, b := range collect(t, l, epoch) {
				got = append(got, Labels[float32](b)...)
				if b.LabelDType != formats.Float32 || b.Label(0) != formats.NoLabel {
					t.Errorf("labels %v, %d", Labels[int64](b), b.Label(0))
				}
			}
			if !sameNumbers(got, []float32{0.5, -3, nan, 1e-40, 7, nan}[:len(got)]) || len(got) < 5 {
				t.Errorf("%q, epoch %d: %v", dtype, epoch, got)
			}
		}
		if f := l.Frame(); f.Label != formats.Float32 || f.Soft != 0 {
			t.Errorf("frame %+v", f)
		}
		all, err := l.Numbers(t.Context())
		if err != nil || !sameNumbers(all, []float32{0.5, -3, nan, 1e-40, 7}) {
			t.Errorf("numbers %v, %v", all, err)
		}
	}
}

// Padding has no number, or that of the sample which is repeated.
func TestPaddingOfNumbers(t *testing.T) {
	for tail, want := range map[order.Tail]float32{order.Pad: nan, order.Repeat: 3} {
		l := makeLoader(t, predicted(3, 4, 5, 6), Config{BatchSize: 1, WorldSize: 3, Rank: 1, Tail: tail})
		b := collect(t, l, 0)[1]
		if b.Indices[0] != -1 || !sameNumbers(Labels[float32](b), []float32{want}) {
			t.Errorf("tail %v: index %d, %v", tail, b.Indices[0], Labels[float32](b))
		}
	}
}

// MixUp and CutMix mix numbers by the share that images have; what is mixed with none has none.
func TestNumbersAreMixed(t *testing.T) {
	numbers := []float32{1, 2, 4, 8, 16, nan, 32, 64}
	for _, op := range []augment.Op{augment.MixUp{Alpha: 1}, augment.CutMix{Alpha: 1}} {
		c := Config{BatchSize: 4, Seed: 7, DType: formats.Float32, Transforms: []augment.Op{op}}
		for k, b := range collect(t, makeLoader(t, predicted(numbers...), c), 0) {
			r := random.NewRand(c.Seed^mixUpStream, 0, 4*k)
			share := op.(augment.Mixer).Mix(4, 4, &r).Share
			for i, got := range Labels[float32](b) {
				own, other := float64(numbers[4*k+i]), float64(numbers[4*k+(i+3)%4])
				want := share*own + (1-share)*other
				if math.IsNaN(want) != math.IsNaN(float64(got)) || math.Abs(want-float64(got)) > 1e-4 {
					t.Errorf("%T, batch %d, entry %d: %v, want %v of %v and %v", op, k, i, got, want, own, other)
				}
			}
		}
	}
}

// What needs classes says that there are none.
func TestNumbersAreNoClasses(t *testing.T) {
	for want, c := range map[string]Config{
		`the label "age" is a number, whose type`:        {BatchSize: 1, LabelDType: formats.Int64},
		`balanced order: the label "age" is a number`:    {BatchSize: 1, Order: order.Spec{Kind: order.Balanced}},
		`label type uint8: the label "age" is a number,`: {BatchSize: 1, LabelDType: formats.Uint8},
	} {
		if _, err := New(predicted(1, 2), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := makeLoader(t, labelled(1), Config{BatchSize: 1}).Numbers(t.Context()); err == nil {
		t.Error("classes are numbers")
	}
}

// A extra field of numbers, and one that is damaged.
func TestFurtherNumbers(t *testing.T) {
	d := labelled(1, 0)
	d.meta.Schema = append(d.meta.Schema, formats.Field{Name: "age", Kind: formats.Number})
	for i := range d.samples {
		var v formats.Value
		v.SetFloat32(float32(i) + 0.5)
		d.samples[i].Values = append(d.samples[i].Values, v)
	}
	b := collect(t, makeLoader(t, d, Config{BatchSize: 2, Fields: []string{"age"}}), 0)[0]
	f := b.Fields[0]
	if got := Elements[float32](f.Data); !sameNumbers(got, []float32{0.5, 1.5}) || f.DType != formats.Float32 || f.Shape == nil {
		t.Errorf("%v, %+v", got, f)
	}
	bad := predicted(1, 2)
	bad.samples[1].Values[1].SetInt64(2)
	if _, err := drain(makeLoader(t, bad, Config{BatchSize: 1})); err == nil || !strings.Contains(err.Error(), bad.samples[1].Key) {
		t.Errorf("%v", err)
	}
}

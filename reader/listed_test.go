package reader

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// TestListedSamples are those that a loader of the whole split has at these indices, for any list.
func TestListedSamples(t *testing.T) {
	ds := twoSplits(60, false)
	r := rand.New(rand.NewPCG(4, 1))
	for trial := range 60 {
		c := Config{BatchSize: 1 + r.IntN(7), Split: []string{"", "val"}[r.IntN(2)]}
		whole := makeLoader(t, catalogue(ds), c)
		c.Samples = make([]int32, 1+r.IntN(12))
		for k := range c.Samples {
			c.Samples[k] = r.Int32N(int32(whole.Samples()))
		}
		list := slices.Clone(c.Samples)
		var of formats.Dataset = described{summed{ds}}
		if trial%2 == 0 {
			of = catalogue(ds)
		}
		l := makeLoader(t, of, c)
		clear(c.Samples) // the Loader has its own
		if l.Samples() != len(list) {
			t.Fatalf("%v: %d samples", list, l.Samples())
		}
		data, stride, release, err := l.Labels()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		labels := make([]int64, len(list))
		for i := range labels {
			labels[i] = Elements[int64](data[i*stride:][:8])[0]
		}
		var got, gotLabels []byte
		for _, b := range collect(t, l, 0) {
			got, gotLabels = append(got, b.ImageBytes()...), append(gotLabels, b.LabelBytes()...)
		}
		var one Batch
		for i, sample := range list {
			if err := whole.Pick(int(sample), 0, &one); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one.ImageBytes(), got[48*i:][:48]) || one.Label(0) != labels[i] || Elements[int64](gotLabels)[i] != labels[i] {
				t.Fatalf("%v of %q: entry %d is not sample %d", list, c.Split, i, sample)
			}
			a, err := whole.InfoOf(int(sample))
			b, other := l.InfoOf(i)
			if err != nil || other != nil || a.Key != b.Key {
				t.Fatalf("%v: sample %d is %s, and %s in the whole: %v, %v", list, i, b.Key, a.Key, err, other)
			}
		}
	}
}

// TestAnEmptyList has no batches.
func TestAnEmptyList(t *testing.T) {
	c := Config{BatchSize: 2, Samples: []int32{}, Shuffle: true, Transforms: augment.Train(8)}
	if l := makeLoader(t, catalogue(twoSplits(10, false)), c); l.Samples() != 0 || len(collect(t, l, 0)) != 0 {
		t.Errorf("%d samples", l.Samples())
	}
	c.Shuffle, c.Order, c.Weights = false, order.Spec{Kind: order.Weighted}, []float64{}
	if _, err := New(twoSplits(10, false), c); err == nil || !strings.Contains(err.Error(), "the weights add up to 0") {
		t.Errorf("weights of no samples: %v", err)
	}
}

// TestListedTwiceLooksDifferent: as two samples.
func TestListedTwiceLooksDifferent(t *testing.T) {
	l := makeLoader(t, noisy(1, 16, 16), Config{BatchSize: 2, Samples: []int32{0, 0}, Transforms: augment.Train(8)})
	b := collect(t, l, 0)[0]
	if p := Pixels[uint8](b); slices.Equal(p[:len(p)/2], p[len(p)/2:]) {
		t.Error("both crops are the same")
	}
}

func TestListsThatCannotBe(t *testing.T) {
	for want, c := range map[string]Config{
		"sample 10, at position 1 of the list: the indices are 0 to 9": {Samples: []int32{0, 10}},
		"sample -1, at position 0":                                     {Samples: []int32{-1}},
		`unknown split "tset"`:                                         {Splits: []string{"train", "tset"}},
		`"val" is in the list twice`:                                   {Splits: []string{"val", "train", "val"}},
		"a name is empty":                                              {Splits: []string{"train", ""}},
		`split "val" and splits ["train"]`:                             {Split: "val", Splits: []string{"train"}},
		"3 weights for 10 samples":                                     weighted(1, 2, 3),
		"sample 2 has weight NaN":                                      weighted(1, 0, math.NaN(), 0, 0, 0, 0, 0, 0, 0),
		"sample 9 has weight -1":                                       weighted(1, 0, 0, 0, 0, 0, 0, 0, 0, -1),
		"sample 1 has weight +Inf":                                     weighted(1, math.Inf(1), 0, 0, 0, 0, 0, 0, 0, 0),
		"the weights add up to 0":                                      weighted(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		`weights with the order "full"`:                                {Shuffle: true, Weights: make([]float64, 10)},
		"weight and weights":                                           {Weight: func(formats.Info) float64 { return 1 }, Weights: []float64{1}, Order: order.Spec{Kind: order.Weighted}},
	} {
		c.BatchSize = 2
		if _, err := New(twoSplits(10, false), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func weighted(weights ...float64) Config {
	return Config{Weights: weights, Order: order.Spec{Kind: order.Weighted}}
}

// TestWeightsAreOfTheListsEntries: they draw what a function of the samples draws, and none of weight 0.
func TestWeightsAreOfTheListsEntries(t *testing.T) {
	ds := placed(t, 31)
	c := Config{BatchSize: 8, Split: "val", Samples: []int32{9, 1, 1, 4, 0, 7}, Seed: 5, Order: order.Spec{Kind: order.Weighted, Draws: 200}}
	c.Transforms = augment.Train(8)
	byInfo := c
	byInfo.Weight = func(in formats.Info) float64 { return float64(in.Label % 4) }
	function := makeLoader(t, described{summed{ds}}, byInfo)
	for i := range function.Samples() {
		in, err := function.InfoOf(i)
		if err != nil {
			t.Fatal(err)
		}
		c.Weights = append(c.Weights, float64(in.Label%4))
	}
	weights := c.Weights
	array := makeLoader(t, described{summed{ds}}, c)
	if function.StateAt(0, 8) != array.StateAt(0, 8) || !reflect.DeepEqual(collect(t, function, 2), collect(t, array, 2)) {
		t.Error("weights of an array draw others than the same weights of a function")
	}
	seen := map[int]bool{}
	for _, i := range indices(collect(t, array, 0)) {
		seen[i] = true
	}
	for i, w := range weights {
		if seen[i] != (w > 0) {
			t.Errorf("sample %d of weight %g is drawn: %v", i, w, seen[i])
		}
	}
	c.Weights[0]++
	if makeLoader(t, described{summed{ds}}, c).StateAt(0, 8) == array.StateAt(0, 8) {
		t.Error("the state of other weights is the same")
	}
}

// TestSplitsAreInKeyOrder, with an index and without.
func TestSplitsAreInKeyOrder(t *testing.T) {
	ds := twoSplits(30, false)
	ds.samples[4].Split = "test"
	for _, of := range []formats.Dataset{described{summed{ds}}, catalogue(ds)} {
		var keys []string
		l := makeLoader(t, of, Config{BatchSize: 4, Splits: []string{"val", "train"}})
		for i := range l.Samples() {
			in, err := l.InfoOf(i)
			if err != nil || in.Split == "test" {
				t.Fatalf("sample %d is in %q: %v", i, in.Split, err)
			}
			keys = append(keys, in.Key)
		}
		if len(keys) != 29 || !slices.IsSorted(keys) {
			t.Errorf("%d samples: %v", len(keys), keys)
		}
		one, alone := makeLoader(t, of, Config{BatchSize: 4, Splits: []string{"val"}}), makeLoader(t, of, Config{BatchSize: 4, Split: "val"})
		if one.StateAt(0, 4) != alone.StateAt(0, 4) {
			t.Error("a list of one split has another state than the split")
		}
	}
}

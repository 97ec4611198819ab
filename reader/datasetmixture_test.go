package reader

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// numbered is raw images of one colour, that of their part.
func numbered(n int, part byte) *memory {
	d := rawImages(n, 2, 2, 3)
	for i := range d.samples {
		for k := range d.samples[i].Values[0].Data {
			d.samples[i].Values[0].Data[k] = part
		}
	}
	return d
}

func makeMixture(t *testing.T, datasets []WeightedDataset, c Config) *Loader {
	t.Helper()
	l, err := NewMixture(datasets, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestMixtureByWeight, evenly, each sample once in a pass over its part; a pass continues
// in the next epoch.
func TestMixtureByWeight(t *testing.T) {
	datasets := []WeightedDataset{{Dataset: numbered(10, 1), Weight: 1}, {Dataset: numbered(90, 2), Weight: 3}}
	l := makeMixture(t, datasets, Config{BatchSize: 20, Workers: 3, Seed: 5})
	if l.Samples() != 100 || l.Len() != 5 {
		t.Fatalf("%d samples, %d batches", l.Samples(), l.Len())
	}
	var small, large []int
	for epoch := range 4 {
		for k, b := range collect(t, l, epoch) {
			before := len(small)
			for i, index := range b.Indices {
				part := byte(1)
				if index < 10 {
					small = append(small, index)
				} else {
					part, large = 2, append(large, index)
				}
				if Pixels[uint8](b)[i*12] != part {
					t.Fatalf("index %d has the pixels of part %d", index, Pixels[uint8](b)[i*12])
				}
			}
			if n := len(small) - before; n != 5 {
				t.Errorf("epoch %d, batch %d: %d of 20 are of the dataset of weight 1 of 4", epoch, k, n)
			}
		}
	}
	checkPasses(t, small, 10)
	checkPasses(t, large, 90)
}

// checkPasses holds that no sample of n comes again before all have come.
func checkPasses(t *testing.T, drawn []int, n int) {
	t.Helper()
	var passes [][]int
	for pass := range slices.Chunk(drawn, n) {
		sorted := slices.Sorted(slices.Values(pass))
		if len(slices.Compact(sorted)) != len(pass) {
			t.Errorf("a sample comes twice in the pass %v", pass)
		}
		passes = append(passes, pass)
	}
	if slices.Equal(passes[0], passes[1]) {
		t.Error("two passes have one order")
	}
}

func TestMixtureOfSplits(t *testing.T) {
	ds := photos(t, 30) // 20 train, 10 val
	c := Config{BatchSize: 8, Transforms: augment.Train(8), Order: order.Spec{Draws: 64}}
	l := makeMixture(t, []WeightedDataset{{Dataset: ds, Split: "val", Weight: 1}, {Dataset: numbered(4, 7), Weight: 1}}, c)
	if l.Samples() != 14 || l.Len() != 8 {
		t.Errorf("%d samples, %d batches", l.Samples(), l.Len())
	}
	for _, i := range indices(collect(t, l, 0)) {
		if info, err := l.InfoOf(i); err != nil || i < 10 && info.Split != "val" {
			t.Errorf("sample %d is in %s: %v", i, info.Split, err)
		}
	}
	if _, err := NewMixture([]WeightedDataset{{Dataset: ds, Split: "test", Weight: 1}}, c); err == nil || !strings.Contains(err.Error(), "dataset 0") || !strings.Contains(err.Error(), "train, val") {
		t.Errorf("an unknown split gives %v", err)
	}
}

// TestRepeatedSamplesLookDifferent: the transforms of a repeated sample draw again.
func TestRepeatedSamplesLookDifferent(t *testing.T) {
	ds := noisy(1, 16, 16)
	l := makeMixture(t, []WeightedDataset{{Dataset: ds, Weight: 1}}, Config{BatchSize: 8, Order: order.Spec{Draws: 8}, Transforms: augment.Train(8)})
	b := collect(t, l, 0)[0]
	looks := map[string]bool{}
	for entry := range slices.Chunk(Pixels[uint8](b), len(Pixels[uint8](b))/8) {
		looks[string(entry)] = true
	}
	if len(looks) < 7 {
		t.Errorf("8 crops of a sample look in %d ways", len(looks))
	}
}

func TestMixtureIsTheSameForAnyWorkersAndRanks(t *testing.T) {
	datasets := []WeightedDataset{{Dataset: photos(t, 17), Weight: 2}, {Dataset: viewed{summed{rawImages(40, 20, 30, 3)}}, Weight: 1}}
	c := Config{BatchSize: 8, Seed: 3, Workers: 1, Transforms: train, Order: order.Spec{Draws: 48}}
	want := collect(t, makeMixture(t, datasets, c), 1)
	c.Workers = 7
	if got := collect(t, makeMixture(t, datasets, c), 1); !reflect.DeepEqual(got, want) {
		t.Error("7 workers' epoch differs from one's")
	}
	c.BatchSize, c.WorldSize = 4, 2
	ranks := [2][]*Batch{}
	for c.Rank = range ranks {
		ranks[c.Rank] = collect(t, makeMixture(t, datasets, c), 1)
	}
	for k := range want {
		if got := append(slices.Clone(Pixels[uint8](ranks[0][k])), Pixels[uint8](ranks[1][k])...); !slices.Equal(got, Pixels[uint8](want[k])) {
			t.Errorf("batch %d of two ranks differs", k)
		}
	}
}

func TestMixtureRefusesWhatDoesNotFit(t *testing.T) {
	change := func(f func(d *memory)) *memory { d := rawImages(3, 2, 2, 3); f(d); return d }
	for name, tt := range map[string]struct {
		other *memory
		want  []string
	}{
		"fewer fields":  {change(func(d *memory) { d.meta.Schema = d.meta.Schema[:1] }), []string{"dataset 1", `["image"] and ["image" "label"]`}},
		"another name":  {change(func(d *memory) { d.meta.Schema[1].Name = "class" }), []string{"dataset 1", "class", "label"}},
		"another kind":  {change(func(d *memory) { d.meta.Schema[1].Kind = formats.Array }), []string{"dataset 1", "array"}},
		"other classes": {change(func(d *memory) { d.meta.Schema[1].Classes = []string{"dog", "cat"} }), []string{"dataset 1", "label", "classes"}},
	} {
		_, err := NewMixture([]WeightedDataset{{Dataset: rawImages(3, 2, 2, 3), Weight: 1}, {Dataset: tt.other, Weight: 1}}, Config{BatchSize: 2})
		if !errors.Is(err, formats.ErrSchema) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q lacks %q", name, err, part)
			}
		}
	}
	for name, c := range map[string]Config{
		"a split":     {BatchSize: 1, Split: "train"},
		"a list":      {BatchSize: 1, Samples: []int32{0}},
		"weights":     {BatchSize: 1, Order: order.Spec{Kind: order.Weighted}, Weights: []float64{1}},
		"splits":      {BatchSize: 1, Splits: []string{"train"}},
		"a selection": {BatchSize: 1, Select: func(formats.Info) bool { return true }},
	} {
		if l, err := NewMixture([]WeightedDataset{{Dataset: rawImages(3, 2, 2, 3), Weight: 1}}, c); err == nil {
			_ = l.Close()
			t.Errorf("%s, which has no effect, is taken", name)
		}
	}
	for _, datasets := range [][]WeightedDataset{nil, {{Dataset: rawImages(3, 2, 2, 3), Weight: -1}}, {{Dataset: rawImages(3, 2, 2, 3)}}, {{Dataset: rawImages(0, 2, 2, 3), Weight: 1}}} {
		if l, err := NewMixture(datasets, Config{BatchSize: 2, Transforms: augment.Train(2)}); err == nil {
			_ = l.Close()
			t.Errorf("%d datasets: no error", len(datasets))
		}
	}
}

// TestMixtureOfDifferentArrays: a shape that the datasets do not have in common is none of the batch.
func TestMixtureOfDifferentArrays(t *testing.T) {
	datasets := make([]WeightedDataset, 2)
	for k := range datasets {
		ds := numbered(3, byte(k))
		ds.addField(formats.Field{Name: "points", Kind: formats.Array, DType: formats.Float32, Shape: []int{k + 1}}, func(int) formats.Value {
			return raw(formats.Float32, littleEndian(t, make([]float32, k+1)), k+1)
		})
		datasets[k] = WeightedDataset{Dataset: ds, Weight: 1}
	}
	for _, b := range collect(t, makeMixture(t, datasets, Config{BatchSize: 3, Fields: []string{"points"}}), 0) {
		for i, index := range b.Indices {
			if want := []int{index/3 + 1}; !slices.Equal(b.Fields[0].Shapes[i], want) {
				t.Errorf("sample %d has the shape %v, want %v", index, b.Fields[0].Shapes[i], want)
			}
		}
	}
}

func TestMixturePrefetches(t *testing.T) {
	a, b := &told{memory: numbered(6, 0)}, &told{memory: numbered(9, 1)}
	l := makeMixture(t, []WeightedDataset{{Dataset: a, Weight: 1}, {Dataset: b, Weight: 1}}, Config{BatchSize: 5, Order: order.Spec{Draws: 20}})
	want := [2]map[int32]bool{{}, {}}
	for _, i := range indices(collect(t, l, 0)) {
		if i < 6 {
			want[0][int32(i)] = true
		} else {
			want[1][int32(i-6)] = true
		}
	}
	if !reflect.DeepEqual(a.soon, want[0]) || !reflect.DeepEqual(b.soon, want[1]) {
		t.Errorf("the datasets were told of %v and %v, want %v", a.soon, b.soon, want)
	}
}

// told remembers what Prefetch names.
type told struct {
	*memory
	soon map[int32]bool
}

func (d *told) Prefetch(indices []int32) {
	if d.soon == nil {
		d.soon = map[int32]bool{}
	}
	for _, i := range indices {
		d.soon[i] = true
	}
}

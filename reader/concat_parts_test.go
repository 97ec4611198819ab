package reader

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
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

// TestConcatOfDifferentArrays: a shape that the datasets do not have in common is none of the batch.
func TestConcatOfDifferentArrays(t *testing.T) {
	parts := make([]Part, 2)
	for k := range parts {
		ds := numbered(3, byte(k))
		ds.addField(formats.Field{Name: "points", Kind: formats.Array, DType: formats.Float32, Shape: []int{k + 1}}, func(int) formats.Value {
			return raw(formats.Float32, littleEndian(t, make([]float32, k+1)), k+1)
		})
		parts[k] = Part{Dataset: ds}
	}
	l, err := NewConcat(parts, Config{BatchSize: 3, Fields: []string{"points"}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, b := range collect(t, l, 0) {
		for i, index := range b.Indices {
			if want := []int{index/3 + 1}; !slices.Equal(b.Fields[0].Shapes[i], want) {
				t.Errorf("sample %d has the shape %v, want %v", index, b.Fields[0].Shapes[i], want)
			}
		}
	}
}

func TestConcatPrefetches(t *testing.T) {
	a, b := &told{memory: numbered(6, 0)}, &told{memory: numbered(9, 1)}
	l, err := NewConcat([]Part{{Dataset: a}, {Dataset: b}}, Config{BatchSize: 5, Shuffle: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
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

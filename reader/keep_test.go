package reader

import (
	"reflect"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// TestKeptBatchesStay as they are while others are made, past the epoch's end, until Release.
func TestKeptBatchesStay(t *testing.T) {
	ds, names, _ := furnished(t, 40)
	ds.meta.Schema[1].Classes = classes(10)
	l := makeLoader(t, ds, Config{
		BatchSize: 4, Workers: 3, Shuffle: true, Fields: names, DType: formats.Float32, Transforms: []augment.Op{augment.MixUp{Alpha: 1}},
	})
	want := collect(t, l, 0)
	var kept []*Batch
	k := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if k++; k%2 == 0 {
			b.Keep()
			b.Keep() // once is enough
			kept = append(kept, b)
		} else {
			clear(Pixels[float32](b))
		}
	}
	collect(t, l, 1)
	for i, b := range kept {
		if !reflect.DeepEqual(b.Clone(), want[2*i+1]) {
			t.Errorf("kept batch %d changed", i)
		}
	}
	pooled := len(l.batches)
	var all sync.WaitGroup
	for _, b := range kept {
		all.Go(b.Release)
	}
	all.Wait()
	if n := len(l.batches); n != pooled+len(kept) {
		t.Errorf("%d batches are pooled, want %d", n, pooled+len(kept))
	}
	if got := collect(t, l, 0); !reflect.DeepEqual(got, want) {
		t.Error("released batches give another epoch")
	}
}

// TestReleasedBatchesAreUsedAgain: a loop that always keeps one takes one more than Prefetch+1.
func TestReleasedBatchesAreUsedAgain(t *testing.T) {
	l := makeLoader(t, rawImages(60, 4, 4, 3), Config{BatchSize: 2, Workers: 2, Prefetch: 2})
	seen := map[*uint8]bool{} // their memory
	for epoch := range 3 {
		var last *Batch
		for b, err := range l.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			seen[&Pixels[uint8](b)[0]] = true
			b.Keep()
			if last != nil {
				last.Release()
			}
			last = b
		}
		last.Release()
	}
	if len(seen) > 5 || len(l.batches) != len(seen) {
		t.Errorf("%d batches were made, %d are pooled; want at most 5", len(seen), len(l.batches))
	}
}

// TestReleaseTwice: from two goroutines, and again when the memory is another batch's by then.
// No memory is two batches'.
func TestReleaseTwice(t *testing.T) {
	l := makeLoader(t, rawImages(60, 4, 4, 3), Config{BatchSize: 2, Workers: 2, Prefetch: 2})
	var old []*Batch
	for epoch := range 20 {
		var kept []*Batch
		seen := map[*uint8]bool{}
		for b, err := range l.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			if seen[&Pixels[uint8](b)[0]] {
				t.Fatalf("epoch %d: two batches lie in the same memory", epoch)
			}
			seen[&Pixels[uint8](b)[0]] = true
			b.Release() // which is not kept yet
			b.Keep()
			kept = append(kept, b)
			for _, b := range old {
				b.Release()
			}
		}
		var all sync.WaitGroup
		for _, b := range kept {
			all.Go(b.Release)
			all.Go(b.Release)
		}
		all.Wait()
		old = kept
	}
}

func TestKeepAndLeaveTheLoop(t *testing.T) {
	l := makeLoader(t, rawImages(20, 4, 4, 3), Config{BatchSize: 2, Prefetch: 2})
	var kept *Batch
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Keep()
		kept = b
		break
	}
	want := kept.Clone()
	collect(t, l, 1)
	if !reflect.DeepEqual(kept.Clone(), want) {
		t.Error("a batch kept before the loop was left changed")
	}
	kept.Release()
}

func TestStateOfAKeptBatch(t *testing.T) {
	l := makeLoader(t, rawImages(20, 4, 4, 3), Config{BatchSize: 2, Shuffle: true})
	want := collect(t, l, 3)
	for b, err := range l.Epoch(t.Context(), 3) {
		if err != nil {
			t.Fatal(err)
		}
		b.Keep()
		var rest []int
		for b, err := range l.Resume(t.Context(), l.State(3, b)) {
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, b.Indices...)
		}
		b.Release()
		if !reflect.DeepEqual(rest, indices(want[1:])) {
			t.Errorf("%v are left, want %v", rest, indices(want[1:]))
		}
		break
	}
}

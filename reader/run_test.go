package reader

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// pull is all batches that a run has left, with the memory that their images were in.
func pull(t *testing.T, r *Run) (all []*Batch, taken [][]byte) {
	t.Helper()
	for {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all, taken
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Clone())
		taken = append(taken, b.TakeImages())
	}
}

// TestRunMakesBatchesInTheCallersMemory: batches are Epoch's, none in memory that was taken.
func TestRunMakesBatchesInTheCallersMemory(t *testing.T) {
	for _, dtype := range []formats.DType{formats.Uint8, formats.Uint16, formats.Float32, formats.BFloat16} {
		l := makeLoader(t, photos(t, 23), Config{BatchSize: 4, Workers: 3, Shuffle: true, DType: dtype, Transforms: augment.Train(8)})
		want := collect(t, l, 1)
		lent := map[*byte]bool{}
		r, err := l.StartWith(t.Context(), RunOptions{Epoch: 1, Allocate: func(size int) []byte {
			block := aligned(nil, size)
			lent[unsafe.SliceData(block)] = true
			return block
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, taken := pull(t, r)
		r.Stop()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the batches are not Epoch's", dtype)
		}
		for k, b := range taken {
			if first := unsafe.SliceData(b); !lent[first] {
				t.Fatalf("%s: batch %d lies elsewhere", dtype, k)
			} else {
				delete(lent, first)
			}
			if !slices.Equal(b, want[k].ImageBytes()) {
				t.Errorf("%s: batch %d changed after it was taken", dtype, k)
			}
		}
		collect(t, l, 0) // in memory of the Loader's own
		if n := len(lent); n != 0 {
			t.Errorf("%s: %d blocks were asked for and not used", dtype, n)
		}
	}
}

func TestStoppedRunLeavesTheCallersMemory(t *testing.T) {
	l := makeLoader(t, rawImages(40, 4, 4, 3), Config{BatchSize: 2, Workers: 2, Prefetch: 4})
	var blocks [][]byte
	r, err := l.StartWith(t.Context(), RunOptions{Epoch: 0, Allocate: func(size int) []byte {
		blocks = append(blocks, make([]byte, size))
		return blocks[len(blocks)-1]
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	for _, b := range blocks {
		clear(b)
	}
	collect(t, l, 0)
	for _, b := range blocks {
		if slices.Max(b) > 0 {
			t.Error("a block is written to after Stop")
		}
	}
}

// TestNextWaitsAgain after its context has ended, and the clock counts one wait.
func TestNextWaitsAgain(t *testing.T) {
	ds := &stuck{memory: rawImages(4, 2, 2, 3), release: make(chan struct{})}
	l := makeLoader(t, ds, Config{BatchSize: 4, Workers: 2, Transforms: augment.Train(2)})
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := r.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		cancel()
	}
	close(ds.release)
	if b, err := r.Next(t.Context()); err != nil || b.N != 4 {
		t.Fatalf("then %v", err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last batch: %v", err)
	}
	if c := l.Clock(); c.asked != 1 {
		t.Errorf("asked %d times, want once", c.asked)
	}
}

func TestNextKeepsTheErrorOfASample(t *testing.T) {
	ds := rawImages(8, 2, 2, 3)
	ds.broken = map[int]error{3: formats.ErrDamaged}
	l := makeLoader(t, ds, Config{BatchSize: 2, Workers: 2})
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Next(t.Context()); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("error %v", err)
		}
	}
}

func TestStartRefusesAnotherOrdersState(t *testing.T) {
	l := makeLoader(t, rawImages(8, 2, 2, 3), Config{BatchSize: 2})
	s := l.StateAt(0, 2)
	s.Seed++
	if _, err := l.StartWith(t.Context(), RunOptions{State: s}); !errors.Is(err, ErrState) {
		t.Errorf("error %v", err)
	}
}

func TestOrderTellsTheIndicesOfBatches(t *testing.T) {
	for _, tail := range []order.Tail{order.Pad, order.Drop, order.Uneven} {
		for rank := range 3 {
			l := makeLoader(t, rawImages(29, 2, 2, 3), Config{BatchSize: 4, Shuffle: true, Rank: rank, WorldSize: 3, Tail: tail})
			want := indices(collect(t, l, 2))
			var got []int
			for e := range l.Order(2, 0) {
				if e.Padding {
					e.Sample = -1
				}
				got = append(got, e.Sample)
			}
			if !slices.Equal(got, want) || l.Entries(0) != len(want) {
				t.Errorf("tail %v, rank %d: %v of %d, want %v", tail, rank, got, l.Entries(0), want)
			}
		}
	}
}

// TestListGivesItsSamples as Epoch would, from any position on; of one that it has twice another
// view each time.
func TestListGivesItsSamples(t *testing.T) {
	ds := photos(t, 12)
	l := makeLoader(t, ds, Config{BatchSize: 3, Workers: 2, Transforms: augment.Train(8)})
	inOrder := collect(t, l, 5)
	view := func(batches []*Batch, i int) []uint8 { return Pixels[uint8](batches[i/3])[i%3*192:][:192] }

	list := []int32{7, 0, 11, 3, 4, 1, 9}
	r, err := l.StartWith(t.Context(), RunOptions{List: list, Epoch: 5, Position: 0})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := pull(t, r)
	r.Stop()
	for i, sample := range list {
		if got[i/3].Indices[i%3] != int(sample) || !slices.Equal(view(got, i), view(inOrder, int(sample))) {
			t.Errorf("entry %d is not sample %d as in an epoch", i, sample)
		}
	}
	r, err = l.StartWith(t.Context(), RunOptions{List: list, Epoch: 5, Position: 3})
	if err != nil {
		t.Fatal(err)
	}
	rest, _ := pull(t, r)
	r.Stop()
	if !reflect.DeepEqual(rest, got[1:]) {
		t.Error("the list from position 3 on is another one")
	}

	r, err = l.StartWith(t.Context(), RunOptions{List: []int32{2, 2, 2}, Epoch: 0, Position: 0})
	if err != nil {
		t.Fatal(err)
	}
	same, _ := pull(t, r)
	r.Stop()
	if slices.Equal(view(same, 0), view(same, 1)) && slices.Equal(view(same, 1), view(same, 2)) {
		t.Error("a sample that comes three times looks the same each time")
	}
}

func TestListErrors(t *testing.T) {
	l := makeLoader(t, rawImages(4, 2, 2, 3), Config{BatchSize: 2})
	for _, list := range [][]int32{{4}, {-1}} {
		if _, err := l.StartWith(t.Context(), RunOptions{List: list, Epoch: 0, Position: 0}); err == nil {
			t.Errorf("the list %v is taken", list)
		}
	}
	if _, err := l.StartWith(t.Context(), RunOptions{List: []int32{1}, Epoch: 0, Position: 2}); err == nil {
		t.Error("a position behind the list is taken")
	}
}

// TestAnySize: images keep their sizes, and make no batches.
func TestAnySize(t *testing.T) {
	ds := photos(t, 9)
	l := makeLoader(t, ds, Config{BatchSize: 2, AnySize: true, DType: formats.Float32, Layout: pixel.NCHW})
	d := codec.NewDecoder()
	defer d.Close()
	b := new(Batch)
	for i := range 9 {
		if err := l.Pick(i, 0, b); err != nil {
			t.Fatal(err)
		}
		h, w, err := d.Size(&ds.samples[i].Values[0], codec.DecodeOptions{})
		if err != nil || b.Shape != [4]int{1, 3, h, w} || len(Pixels[float32](b)) != 3*h*w || Labels[int64](b)[0] != int64(i) {
			t.Errorf("sample %d of %dx%d: shape %v, label %d", i, w, h, b.Shape, Labels[int64](b)[0])
		}
	}
	if _, err := drain(l); err == nil {
		t.Error("they make batches")
	}
	for _, c := range []Config{
		{BatchSize: 1, AnySize: true, Color: pixel.ColorKeep},
		{BatchSize: 1, AnySize: true, DType: formats.Float32, Transforms: []augment.Op{augment.MixUp{Alpha: 1}}},
	} {
		if _, err := New(ds, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestPickDrawsAsTheEpochDoes, whatever the size.
func TestPickDrawsAsTheEpochDoes(t *testing.T) {
	ds := photos(t, 6)
	c := Config{BatchSize: 6, Transforms: augment.Train(8)}
	want := collect(t, makeLoader(t, ds, c), 3)[0]
	c.AnySize = true
	l := makeLoader(t, ds, c)
	b := new(Batch)
	for i := range 6 {
		if err := l.Pick(i, 3, b); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(Pixels[uint8](b), Pixels[uint8](want)[i*192:][:192]) {
			t.Errorf("sample %d looks otherwise in epoch 3", i)
		}
	}
}

// TestPickAtDrawsAsAnEpochThatRepeats does: each time that a sample comes it looks otherwise, in the
// Loader's order as in a list.
func TestPickAtDrawsAsAnEpochThatRepeats(t *testing.T) {
	ds := photos(t, 6)
	c := Config{BatchSize: 6, Transforms: augment.Train(8), Order: order.Spec{Kind: order.Balanced}}
	weighted := makeLoader(t, ds, c)
	want := collect(t, weighted, 3)[0]
	c.AnySize = true
	picks := makeLoader(t, ds, c)
	b := new(Batch)
	k, size := 0, 8*8*3
	for e := range picks.Order(3, 0) {
		if err := picks.PickAt(e.Sample, e.Position, 3, b); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(Pixels[uint8](b), Pixels[uint8](want)[k*size:][:size]) {
			t.Errorf("entry %d, sample %d, is not the epoch's", k, e.Sample)
		}
		k++
	}
	if k != 6 || !picks.Repeats() {
		t.Errorf("%d entries, repeats: %v", k, picks.Repeats())
	}
	c.Order, c.Rank, c.WorldSize = order.Spec{}, 1, 2
	listed := makeLoader(t, ds, c)
	c.AnySize = false
	r, err := makeLoader(t, ds, c).StartWith(t.Context(), RunOptions{List: []int32{2, 2, 2}, Epoch: 3, Position: 0})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	batch, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		if err := listed.PickAt(2, k, 3, b); err != nil || !slices.Equal(Pixels[uint8](b), Pixels[uint8](batch)[k*size:][:size]) {
			t.Errorf("entry %d of a list is not the run's (%v)", k, err)
		}
	}
	if err := listed.PickAt(6, 0, 0, b); err == nil {
		t.Error("sample 6 of 6 is picked")
	}
}

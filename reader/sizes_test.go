package reader

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// TestSizedBatchesOfAList are the list's samples, cut as the sizes say, from any batch on, with any workers.
func TestSizedBatchesOfAList(t *testing.T) {
	ds := photos(t, 40)
	r := rand.New(rand.NewPCG(9, 1))
	for trial := range 40 {
		var o RunOptions
		o.Epoch = trial
		o.List, o.Sizes = []int32{}, []int32{}
		for range r.IntN(6) {
			size := 1 + r.Int32N(7)
			o.Sizes = append(o.Sizes, size)
			for range size {
				o.List = append(o.List, r.Int32N(40))
			}
		}
		c := Config{BatchSize: 7, Seed: 2, Transforms: augment.Train(8), Tail: order.Drop}
		if trial%2 == 1 {
			c.Transforms, c.Tail = append(c.Transforms, augment.ImageNet, augment.CutMix{Alpha: 1}), order.Pad
			c.DType = "float32"
		}
		one := c
		one.BatchSize, one.Workers = max(len(o.List), 1), 2
		var want []*Batch
		for _, workers := range []int{1, 2, 7, 0} {
			c.Workers, c.Synchronous = workers, workers == 0
			l := makeLoader(t, ds, c)
			got := listedBatches(t, l, o)
			if want == nil {
				want = got
				checkSizes(t, got, o)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v with %d workers: other batches", o.Sizes, workers)
			}
			for k, b := range want {
				from := o
				from.Position = b.End
				if rest := listedBatches(t, l, from); !reflect.DeepEqual(rest, append([]*Batch(nil), want[k+1:]...)) {
					t.Errorf("%v with %d workers, from %d: other batches", o.Sizes, workers, b.End)
				}
			}
		}
		if trial%2 == 0 {
			o.Sizes = nil
			all := listedBatches(t, makeLoader(t, ds, one), o)
			if got, all := joinedImages(want), joinedImages(all); got != all {
				t.Error("the images are not those of the list in one batch")
			}
		}
	}
}

func listedBatches(t *testing.T, l *Loader, o RunOptions) []*Batch {
	t.Helper()
	r, err := l.StartWith(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	all, _ := pull(t, r)
	return all
}

func joinedImages(batches []*Batch) string {
	var b strings.Builder
	for _, one := range batches {
		b.Write(one.ImageBytes())
	}
	return b.String()
}

// checkSizes holds that batches have the sizes, samples and ends of the list.
func checkSizes(t *testing.T, got []*Batch, o RunOptions) {
	t.Helper()
	if len(got) != len(o.Sizes) {
		t.Fatalf("%d batches of %v", len(got), o.Sizes)
	}
	end := 0
	for k, b := range got {
		for i, index := range b.Indices {
			if index != int(o.List[end+i]) {
				t.Errorf("entry %d of batch %d is sample %d", i, k, index)
			}
		}
		if end += int(o.Sizes[k]); b.N != int(o.Sizes[k]) || b.End != end {
			t.Errorf("batch %d of %v has %d samples and ends at %d", k, o.Sizes, b.N, b.End)
		}
	}
}

func TestSizesThatCannotBe(t *testing.T) {
	l := makeLoader(t, rawImages(9, 2, 2, 3), Config{BatchSize: 3})
	list := []int32{0, 1, 2, 3}
	for want, o := range map[string]RunOptions{
		"batch 0 has the size 4: sizes are from 1 to the batch size 3": {List: list, Sizes: []int32{4}},
		"batch 1 has the size 0":        {List: list, Sizes: []int32{3, 0, 1}},
		"add up to 3, and the list has": {List: list, Sizes: []int32{1, 2}},
		"position 2 is inside batch 1":  {List: list, Sizes: []int32{1, 3}, Position: 2},
		"position 5 of a list of 4":     {List: list, Sizes: []int32{1, 3}, Position: 5},
		"Sizes without a List":          {Sizes: []int32{1}},
		"leave out Epoch":               {State: l.StateAt(0, 3), Sizes: []int32{1}},
	} {
		if r, err := l.StartWith(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			r.Stop()
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestSizedBatchOfBadSamples is smaller, or ends the run: it does not take samples of the next one.
func TestSizedBatchOfBadSamples(t *testing.T) {
	ds, _ := damaged(t, 20, 3, 4)
	l := makeLoader(t, ds, Config{BatchSize: 5, OnError: Skip, Transforms: augment.Train(8)})
	got := listedBatches(t, l, RunOptions{List: []int32{1, 3, 2, 5, 4, 6, 7}, Sizes: []int32{2, 1, 4}})
	if len(got) != 3 || got[0].N != 1 || got[0].Skipped != 1 || got[1].N != 1 || got[2].N != 3 || got[2].Indices[1] != 6 {
		t.Errorf("batches %+v", got)
	}
	r, err := l.StartWith(t.Context(), RunOptions{List: []int32{3, 1}, Sizes: []int32{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if _, err := r.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "all 1 samples of a batch are bad") || errors.Is(err, errBusy) {
		t.Errorf("a batch of a bad sample: %v", err)
	}
}

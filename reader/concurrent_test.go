package reader_test

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv/reader"
)

// kept is a batch that was kept and what it must be until it is released.
type kept struct {
	batch *reader.Batch
	want  step
}

// TestManyEpochsAtOnce: epochs that run side by side on one Loader, end anywhere and keep
// batches, which others give back later, do not come in each other's way.
func TestManyEpochsAtOnce(t *testing.T) {
	datasets := newCorpus(t, 40, packings()).datasets(t)
	rounds := 5
	if testing.Short() {
		datasets, rounds = datasets[:3], 2
	}
	for _, ds := range datasets {
		c := training(bothMixers...)
		c.Shuffle, c.BatchSize, c.Workers, c.Prefetch, c.Fields = true, 5, 2, 3, extraFields
		l := newLoader(t, ds, c)
		var want [3][]step
		for epoch := range want {
			want[epoch] = collect(t, l.Epoch(t.Context(), epoch))
		}
		lent := make(chan kept, 4)
		var loops, keepers sync.WaitGroup
		for k := range 2 {
			keepers.Go(func() { giveBack(t, lent, rand.New(rand.NewPCG(8, uint64(k)))) })
		}
		for g := range 5 {
			loops.Go(func() {
				r := rand.New(rand.NewPCG(7, uint64(g)))
				for range rounds {
					epoch := r.IntN(len(want))
					loopOnce(t, l, epoch, want[epoch], r, lent)
				}
			})
		}
		loops.Wait()
		close(lent)
		keepers.Wait()
	}
}

// loopOnce continues an epoch from some step, perhaps not to its end.
func loopOnce(t *testing.T, l *reader.Loader, epoch int, want []step, r *rand.Rand, lent chan<- kept) {
	begin, end := r.IntN(3), 1+r.IntN(2*len(want))
	k := begin
	s := l.State(epoch, &reader.Batch{End: 5 * begin})
	for b, err := range l.Resume(t.Context(), s) {
		if err != nil {
			t.Error(err)
			return
		}
		if got := stepOf(b); !reflect.DeepEqual(got, want[k]) {
			t.Errorf("epoch %d, batch %d: %v, alone it was %v", epoch, k, got, want[k])
			return
		}
		switch r.IntN(4) {
		case 0:
			b.Keep()
			lent <- kept{b, want[k]}
		case 1:
			clear(reader.Pixels[float32](b)) // it may be written to
		}
		if k++; k == end {
			return
		}
	}
	if k != len(want) {
		t.Errorf("epoch %d: it ended before batch %d of %d", epoch, k, len(want))
	}
}

// giveBack holds that batches stay what they are while they are kept.
func giveBack(t *testing.T, lent <-chan kept, r *rand.Rand) {
	var held []kept
	release := func(k kept) {
		if got := stepOf(k.batch); !reflect.DeepEqual(got, k.want) {
			t.Errorf("a batch that was kept became %v, it was %v", got, k.want)
		}
		k.batch.Release()
	}
	for k := range lent {
		if held = append(held, k); len(held) > 3 {
			time.Sleep(time.Duration(r.IntN(500)) * time.Microsecond)
			i := r.IntN(len(held))
			release(held[i])
			held = append(held[:i], held[i+1:]...)
		}
	}
	for _, k := range held {
		release(k)
	}
}

package reader

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/forgottentest"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(forgottentest.Exit("forgotten.lmdb"))) // of TestForgotten
}

// makeLoader makes a Loader that is closed at the test's end.
func makeLoader(t testing.TB, ds formats.Dataset, c Config) *Loader {
	t.Helper()
	l, err := New(ds, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// collect is all batches of an epoch.
func collect(t testing.TB, l *Loader, epoch int) []*Batch {
	t.Helper()
	var all []*Batch
	for b, err := range l.Epoch(t.Context(), epoch) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Clone())
	}
	if len(all) != l.Len() {
		t.Fatalf("%d batches, Len says %d", len(all), l.Len())
	}
	return all
}

func indices(batches []*Batch) (all []int) {
	for _, b := range batches {
		all = append(all, b.Indices...)
	}
	return all
}

func TestEpochIsTheSameForAnyWorkers(t *testing.T) {
	ds := photos(t, 61)
	ops := append(augment.Train(24), augment.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}, augment.ImageNet)
	c := Config{BatchSize: 8, Shuffle: true, Seed: 7, Transforms: ops, DType: formats.Float32, Layout: pixel.NCHW}
	var want [2][]*Batch
	for _, workers := range []int{1, 2, 7} {
		for _, prefetch := range []int{1, 2, 20} {
			c.Workers, c.Prefetch = workers, prefetch
			l := makeLoader(t, ds, c)
			for epoch := range want {
				got := collect(t, l, epoch)
				if want[epoch] == nil {
					want[epoch] = got
				} else if !reflect.DeepEqual(got, want[epoch]) {
					t.Errorf("%d workers, prefetch %d: epoch %d differs from one worker's", workers, prefetch, epoch)
				}
			}
		}
	}
	if slices.Equal(Pixels[float32](want[0][0]), Pixels[float32](want[1][0])) {
		t.Error("two epochs are the same")
	}
}

func TestEvaluationTakesEachSampleOnceInOrder(t *testing.T) {
	l := makeLoader(t, rawImages(23, 3, 4, 3), Config{BatchSize: 5, Workers: 3})
	all := collect(t, l, 0)
	for i, index := range indices(all) {
		if i != index {
			t.Fatalf("sample %d comes at %d", index, i)
		}
	}
	last := all[len(all)-1]
	if last.N != 3 || last.Shape != [4]int{3, 3, 4, 3} || len(Pixels[uint8](last)) != 3*36 || len(Labels[int64](last)) != 3 {
		t.Errorf("last batch: N %d, shape %v, %d bytes, labels %v", last.N, last.Shape, len(Pixels[uint8](last)), Labels[int64](last))
	}
	l = makeLoader(t, rawImages(23, 3, 4, 3), Config{BatchSize: 5, Tail: order.Drop})
	if all := collect(t, l, 0); len(all) != 4 || len(indices(all)) != 20 {
		t.Errorf("DropLast: %d batches", len(all))
	}
}

func TestRanksShareOneEpoch(t *testing.T) {
	for _, n := range []int{1, 7, 24, 50, 61} {
		for _, tail := range []order.Tail{order.Pad, order.Drop} {
			ds := rawImages(n, 2, 2, 3)
			c := Config{BatchSize: 4, Shuffle: true, Seed: 3, Tail: tail}
			single := c
			single.BatchSize = 12
			want := indices(collect(t, makeLoader(t, ds, single), 5))
			var steps [][]*Batch
			for rank := range 3 {
				c.Rank, c.WorldSize, c.Workers = rank, 3, 1+rank
				steps = append(steps, collect(t, makeLoader(t, ds, c), 5))
			}
			var got []int
			for k := range steps[0] {
				for rank := range steps {
					if steps[rank][k].N != steps[0][k].N {
						t.Fatalf("n=%d: batch %d has %d entries on rank %d, %d on rank 0", n, k, steps[rank][k].N, rank, steps[0][k].N)
					}
					got = append(got, steps[rank][k].Indices...)
					checkPadding(t, steps[rank][k])
				}
			}
			got = slices.DeleteFunc(got, func(i int) bool { return i < 0 })
			if !slices.Equal(got, want) {
				t.Errorf("n=%d tail %v: ranks have %v, one has %v", n, tail, got, want)
			}
		}
	}
}

func checkPadding(t *testing.T, b *Batch) {
	t.Helper()
	for i, index := range b.Indices {
		switch {
		case index < 0 && Labels[int64](b)[i] != formats.NoLabel:
			t.Fatalf("padding has label %d", Labels[int64](b)[i])
		case index >= 0 && Labels[int64](b)[i] != int64(index%10):
			t.Fatalf("sample %d has label %d", index, Labels[int64](b)[i])
		}
	}
}

func TestBreakAndCancelStopAllGoroutines(t *testing.T) {
	ds := photos(t, 80)
	l := makeLoader(t, ds, Config{BatchSize: 2, Workers: 5, Transforms: augment.Train(16)})
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil || b.N != 2 {
			t.Fatal(b, err)
		}
		break
	}
	checkNoWorkers(t)

	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	for b, err := range l.Epoch(ctx, 1) {
		if err != nil {
			if !errors.Is(err, cause) || b != nil {
				t.Errorf("batch %v, error %v", b, err)
			}
			break
		}
		if n++; n == 3 {
			cancel(cause)
		}
	}
	checkNoWorkers(t)
	if n != 3 {
		t.Errorf("%d batches after the third was the last", n)
	}
	if got := len(collect(t, l, 2)); got != 40 {
		t.Errorf("the epoch after a cancelled one has %d batches", got)
	}
}

// checkNoWorkers holds at once: Epoch waits for its workers, nothing is left to finish.
func checkNoWorkers(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	if stacks := string(buf[:runtime.Stack(buf, true)]); strings.Contains(stacks, "(*running).work") {
		t.Error("workers are still there")
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	ds := &stuck{memory: rawImages(10, 2, 2, 3), release: make(chan struct{})}
	l := makeLoader(t, ds, Config{BatchSize: 5, Workers: 2, Transforms: augment.Train(2)})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, err := range l.Epoch(ctx, 0) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		close(ds.release) // the end of the loop waits for the workers
	}
}

// stuck is a dataset whose reads hang until release.
type stuck struct {
	*memory
	release chan struct{}
}

func (d *stuck) Read(i int, s *formats.Sample) error {
	<-d.release
	return d.memory.Read(i, s)
}

func TestErrorEndsTheEpochWithTheKey(t *testing.T) {
	ds := photos(t, 40)
	ds.samples[17].Values[0].Data = ds.samples[17].Values[0].Data[:60] // PNG, cut short
	ds.samples[19].Values[0].Data = nil
	disk := errors.New("input/output error")
	for _, workers := range []int{1, 2, 7} {
		l := makeLoader(t, ds, Config{BatchSize: 4, Workers: workers, Transforms: augment.Eval(16)})
		ds.broken = nil
		batches, err := drain(l)
		if batches != 4 || err == nil || !strings.Contains(err.Error(), ds.samples[17].Key) {
			t.Errorf("%d workers: %d batches, error %v", workers, batches, err)
		}
		ds.broken = map[int]error{9: disk, 11: errors.New("later")}
		batches, err = drain(l)
		if batches != 2 || !errors.Is(err, disk) || !strings.Contains(err.Error(), ds.samples[9].Key) {
			t.Errorf("%d workers: %d batches, error %v", workers, batches, err)
		}
	}
}

// drain counts the batches before the error of an epoch.
func drain(l *Loader) (n int, failure error) {
	for b, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			failure = err
		} else if b != nil {
			n++
		}
	}
	return n, failure
}

func TestBatchIsValidUntilTheBodyEnds(t *testing.T) {
	l := makeLoader(t, rawImages(64, 8, 8, 3), Config{BatchSize: 4, Workers: 4, Prefetch: 1})
	for round := range 3 {
		for b, err := range l.Epoch(t.Context(), round) {
			if err != nil {
				t.Fatal(err)
			}
			before := b.Clone()
			time.Sleep(time.Millisecond) // workers go ahead as far as they can
			if !reflect.DeepEqual(before, b.Clone()) {
				t.Fatal("the batch changed while it was in use")
			}
			clear(Pixels[uint8](b)) // it may be written to
		}
	}
	if n := len(l.batches); n != 2 {
		t.Errorf("%d batches are pooled, want prefetch + 1", n)
	}
}

func TestPrefetchIsBounded(t *testing.T) {
	ds := rawImages(100, 2, 2, 3)
	l := makeLoader(t, ds, Config{BatchSize: 5, Workers: 4, Prefetch: 3})
	before := ds.reads.Load()
	for _, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for ds.reads.Load()-before < 5*4 {
			time.Sleep(time.Millisecond)
		}
		break // which waits for the workers
	}
	if n := ds.reads.Load() - before; n != 5*4 {
		t.Errorf("%d samples were read, want one batch and 3 ahead", n)
	}
}

func TestEpochsAtTheSameTime(t *testing.T) {
	l := makeLoader(t, photos(t, 30), Config{BatchSize: 4, Workers: 2, Shuffle: true, Transforms: augment.Train(8)})
	want := collect(t, l, 1)
	for outer, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, l, 1); !reflect.DeepEqual(got, want) {
			t.Fatal("an epoch within an epoch differs")
		}
		if !slices.Contains(indices(want), outer.Indices[0]) {
			t.Fatal("the outer epoch lost its batch")
		}
	}
}

func TestSteadyStateAllocatesNothingPerSample(t *testing.T) {
	ds := lending{rawImages(256, 32, 32, 3)}
	l := makeLoader(t, viewOnly{ds}, Config{BatchSize: 64, Workers: 2, Shuffle: true, Transforms: []augment.Op{augment.RandomHorizontalFlip{P: 0.5}}})
	collect(t, l, 0)
	n := testing.AllocsPerRun(5, func() {
		if _, err := drain(l); err != nil {
			t.Fatal(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations an epoch of 256 samples", n)
	}
}

// viewOnly lends without allocating.
type viewOnly struct{ lending }

func (d viewOnly) View(i int, s *formats.Sample) error {
	s.Key = d.samples[i].Key
	s.Resize(2)
	copy(s.Values, d.samples[i].Values)
	return nil
}

func TestPaddingIsMarked(t *testing.T) {
	l := makeLoader(t, rawImages(5, 2, 2, 3), Config{BatchSize: 2, WorldSize: 3, Rank: 2})
	b := collect(t, l, 0)[0]
	if !slices.Equal(b.Indices, []int{4, -1}) || !slices.Equal(Labels[int64](b), []int64{4, -1}) {
		t.Errorf("indices %v, labels %v", b.Indices, Labels[int64](b))
	}
	first := new(Batch)
	if err := l.At(0, first); err != nil || !slices.Equal(Pixels[uint8](b)[12:], Pixels[uint8](first)) {
		t.Error("the padding is not the epoch's first sample")
	}
	l = makeLoader(t, rawImages(5, 2, 2, 3), Config{BatchSize: 2, WorldSize: 3, Rank: 2, Tail: order.Repeat})
	b = collect(t, l, 0)[0]
	if !slices.Equal(b.Indices, []int{4, -1}) || !slices.Equal(b.Samples, []int{4, 0}) || !slices.Equal(Labels[int64](b), []int64{4, 0}) {
		t.Errorf("padding with labels: indices %v, samples %v, labels %v", b.Indices, b.Samples, Labels[int64](b))
	}
}

package trainer

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/reader"
)

// numbered gives n batches, each with its number as N.
func numbered(n int) func(context.Context) iter.Seq2[*reader.Batch, error] {
	return func(ctx context.Context) iter.Seq2[*reader.Batch, error] {
		return func(yield func(*reader.Batch, error) bool) {
			for i := range n {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				b := newBatch([4]int{1, 1, 1, 1}, "int64")
				b.N = i
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

func number(b *reader.Batch) (int, error) { return b.N, nil }

// The body of a loop waits for the next batch to be staged: without a batch ahead it would wait for ever.
func TestTheNextBatchIsStagedWhileTheBodyRuns(t *testing.T) {
	const n = 5
	staged := make(chan int, n)
	stage := func(b *reader.Batch) (int, error) {
		staged <- b.N
		return b.N, nil
	}
	var got []int
	for v, err := range ahead(t.Context(), numbered(n), stage, func(int) {}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
		if <-staged != v {
			t.Fatalf("batch %d was not staged in its turn", v)
		}
		if v < n-1 {
			next := <-staged
			staged <- next
		}
	}
	if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("batches %v", got)
	}
}

// What is staged and not used is dropped, and the loader's loop has ended when the body's has.
func TestAnEndedLoopLeavesNothingBehind(t *testing.T) {
	ended := false
	batches := func(ctx context.Context) iter.Seq2[*reader.Batch, error] {
		return func(yield func(*reader.Batch, error) bool) {
			defer func() { ended = true }()
			numbered(100)(ctx)(yield)
		}
	}
	live := map[int]bool{}
	stage := func(b *reader.Batch) (int, error) {
		live[b.N] = true
		return b.N, nil
	}
	for v, err := range ahead(t.Context(), batches, stage, func(v int) { delete(live, v) }) {
		if err != nil {
			t.Fatal(err)
		}
		if v == 3 {
			break
		}
	}
	if !ended {
		t.Error("the loader's loop runs on")
	}
	if len(live) != 4 { // 0 to 3 are the body's
		t.Errorf("%v are staged and not dropped", live)
	}
}

// A cancelled loop gives no batch that is asked for afterwards, though the body waits for one.
func TestACancelledLoopGivesNoBatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stage := func(b *reader.Batch) (int, error) {
		if b.N == 3 {
			cancel()
		}
		return b.N, nil
	}
	var got []int
	var err error
	for v, e := range ahead(ctx, numbered(100), stage, func(int) {}) {
		if err = e; e == nil {
			got = append(got, v)
		}
	}
	if !errors.Is(err, context.Canceled) || !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("batches %v, error %v", got, err)
	}
}

// Errors and panics of the loader and of staging come after the batches before them.
func TestErrorsComeInTheirTurn(t *testing.T) {
	broken := errors.New("disk on fire")
	failing := func(fail func() error) func(*reader.Batch) (int, error) {
		return func(b *reader.Batch) (int, error) {
			if b.N == 2 {
				return 0, fail()
			}
			return number(b)
		}
	}
	for want, stage := range map[string]func(*reader.Batch) (int, error){
		"disk on fire": failing(func() error { return broken }),
		"no such page": failing(func() error { panic("no such page") }),
	} {
		n := 0
		var err error
		for _, e := range ahead(t.Context(), numbered(9), stage, func(int) {}) {
			if err = e; e == nil {
				n++
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || n != 2 {
			t.Errorf("%s: error %v after %d batches", want, err, n)
		}
	}
}

// Step copies a batch and computes; Run copies the next batch meanwhile. The weights are the same.
func TestRunEqualsSteps(t *testing.T) {
	train, _, c := resumable(t, ModelMLP, 0)
	train.pad = true
	c.Epochs = 1
	if _, err := Run(t.Context(), train, nil, c); err != nil {
		t.Fatal(err)
	}
	want := saved(t, c.Checkpoint.Path)
	steps, err := New(c, train.ImageShape(), train.classes)
	if err != nil {
		t.Fatal(err)
	}
	defer steps.Close()
	for b, err := range train.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := steps.Step(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := steps.Save(c.Checkpoint.Path, Progress{}); err != nil {
		t.Fatal(err)
	}
	for name, tensor := range saved(t, c.Checkpoint.Path) {
		if tensor != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}

package reader_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// leg is a part of an epoch on one machine.
type leg struct {
	config   reader.Config
	datasets []formats.Dataset // of the ranks
}

// randomLeg changes all that may be changed when an epoch is resumed.
func randomLeg(r *rand.Rand, datasets []formats.Dataset, c reader.Config) leg {
	c.WorldSize, c.BatchSize = 1+r.IntN(5), 1+r.IntN(7)
	c.Workers, c.Prefetch = 1+r.IntN(7), 1+r.IntN(4)
	if r.IntN(4) == 0 {
		c = synchronous(c)
	}
	c.Tail = []order.Tail{order.Pad, order.Drop, order.Uneven}[r.IntN(3)]
	g := leg{config: c}
	for range c.WorldSize {
		g.datasets = append(g.datasets, datasets[r.IntN(len(datasets))])
	}
	return g
}

func (g leg) String() string {
	c := &g.config
	return fmt.Sprintf("%d ranks, batch %d, tail %v, %d workers", c.WorldSize, c.BatchSize, c.Tail, c.Workers)
}

// run resumes at s for that many steps, -1 for all that is left, on all ranks. It gives the
// samples in order and the state then.
func (g leg) run(t *testing.T, s reader.State, steps int) ([]entry, reader.State) {
	t.Helper()
	perStep := map[int][][]entry{} // by End, in order of rank
	end := s
	for rank := range g.config.WorldSize {
		c := g.config
		c.Rank = rank
		l := newLoader(t, g.datasets[rank], c)
		k := 0
		for b, err := range l.Resume(t.Context(), s) {
			must(t, err)
			state := l.State(s.Epoch, b)
			if rank == 0 {
				end = state
			}
			perStep[state.Position] = append(perStep[state.Position], stepOf(b).Entries)
			if k++; k == steps {
				if state != end {
					t.Fatalf("%v: rank %d stops at %+v, rank 0 at %+v", g, rank, state, end)
				}
				break
			}
		}
		if left := l.Left(s); steps < 0 && k != left {
			t.Fatalf("%v: %d batches, Left says %d", g, k, left)
		}
	}
	return joined(perStep), end
}

// joined is the samples of all steps, without padding.
func joined(perStep map[int][][]entry) (all []entry) {
	ends := make([]int, 0, len(perStep))
	for end := range perStep {
		ends = append(ends, end)
	}
	slices.Sort(ends)
	for _, end := range ends {
		for _, entries := range perStep[end] {
			all = append(all, entries...)
		}
	}
	return slices.DeleteFunc(all, func(e entry) bool { return e.Index < 0 })
}

// TestResumedEpochHasEachSampleLeft: an epoch that is stopped after any steps, again and again,
// and resumed with other settings, has the samples and pixels of an epoch that is not stopped.
func TestResumedEpochHasEachSampleLeft(t *testing.T) {
	datasets := newCorpus(t, 60, packings()).datasets(t)
	r := rand.New(rand.NewPCG(6, 1))
	trials := 100
	if testing.Short() {
		trials = 15
	}
	orders := []string{"full", "full", "block:3:4", "none", "balanced", "weighted:41"}
	for trial := range trials {
		n, epoch := 1+r.IntN(60), r.IntN(5)
		spec, err := order.Parse(orders[r.IntN(len(orders))])
		must(t, err)
		base := reader.Config{
			Order: spec, Seed: r.Uint64(), Select: some(datasets[0], n), Transforms: augment.Train(12),
			Weight: func(in formats.Info) float64 { return float64(in.Label + 1) },
		}
		if trial%2 == 1 {
			base.Samples = randomList(r, n, 1+r.IntN(64))
			n = len(base.Samples)
		}
		whole := base
		whole.BatchSize = 64
		l := newLoader(t, datasets[0], whole)
		want := collect(t, l.Epoch(t.Context(), epoch))[0].Entries
		state := reader.State{Epoch: epoch, Seed: base.Seed, Order: l.State(epoch, &reader.Batch{}).Order}

		said := fmt.Sprintf("trial %d: %s of %d samples", trial, spec, n)
		var got []entry
		for range r.IntN(3) { // stops
			g := randomLeg(r, datasets, base)
			said += fmt.Sprintf("; from %d: %v", state.Position, g)
			var entries []entry
			entries, state = g.run(t, throughJSON(t, state), 1+r.IntN(6))
			got = append(got, entries...)
			if len(got) != state.Position {
				t.Fatalf("%s: %d samples, the state is at %d", said, len(got), state.Position)
			}
		}
		g := randomLeg(r, datasets, base)
		said += fmt.Sprintf("; from %d to the end: %v", state.Position, g)
		if rest := (len(want) - state.Position) % (g.config.WorldSize * g.config.BatchSize); g.config.Tail == order.Drop {
			want = want[:len(want)-rest]
		}
		entries, _ := g.run(t, throughJSON(t, state), -1)
		if got = append(got, entries...); !slices.Equal(got, want) {
			t.Fatalf("%s:\n%v\nuninterrupted:\n%v", said, got, want)
		}
	}
}

// throughJSON is the state as a process that is started later finds it.
func throughJSON(t *testing.T, s reader.State) (again reader.State) {
	t.Helper()
	b, err := json.Marshal(s)
	must(t, err)
	must(t, json.Unmarshal(b, &again))
	if again != s {
		t.Fatalf("%+v becomes %+v", s, again)
	}
	return again
}

// TestResumedMixturesAreTheSame: images are mixed within a global batch, which other ranks can
// make too.
func TestResumedMixturesAreTheSame(t *testing.T) {
	datasets := newCorpus(t, 48, packings()).datasets(t)
	c := training(bothMixers...)
	c.Shuffle, c.BatchSize = true, 12
	l := newLoader(t, datasets[0], c)
	var want []entry
	var states []reader.State
	for b, err := range l.Epoch(t.Context(), 2) {
		must(t, err)
		want = append(want, stepOf(b).Entries...)
		states = append(states, l.State(2, b))
	}
	worlds := []int{1, 2, 3, 4, 6}
	if testing.Short() {
		worlds = []int{3}
	}
	for _, world := range worlds {
		for k, s := range states {
			g := leg{config: c}
			for rank := range world {
				g.datasets = append(g.datasets, datasets[(rank+k)%len(datasets)])
			}
			g.config.WorldSize, g.config.BatchSize = world, 12/world
			got, end := g.run(t, s, -1)
			if !slices.Equal(got, want[12*(k+1):]) || k+1 < len(states) && end != states[len(states)-1] {
				t.Errorf("%d ranks from %+v to %+v: other images", world, s, end)
			}
		}
	}
}

// TestStateOfAnotherOrderIsRefused: resuming it would lose samples and repeat others.
func TestStateOfAnotherOrderIsRefused(t *testing.T) {
	ds := newCorpus(t, 30, nil).datasets(t)[0]
	base := reader.Config{BatchSize: 4, Shuffle: true, Seed: 5, Transforms: augment.Train(8)}
	stateOf := func(c reader.Config) (*reader.Loader, reader.State) {
		l := newLoader(t, ds, c)
		for b, err := range l.Epoch(t.Context(), 1) {
			must(t, err)
			return l, l.State(1, b)
		}
		return l, reader.State{}
	}
	l, good := stateOf(base)
	if got := collect(t, l.Resume(t.Context(), good)); len(got) != l.Len()-1 || l.Left(good) != len(got) {
		t.Fatalf("%d batches after the first of %d", len(got), l.Len())
	}
	for name, change := range map[string]func(*reader.Config, *reader.State){
		"seed": func(c *reader.Config, _ *reader.State) { c.Seed++ },
		"order": func(c *reader.Config, _ *reader.State) {
			c.Shuffle, c.Order = false, order.Spec{Kind: order.Block, Block: 2, Window: 2}
		},
		"stored": func(c *reader.Config, _ *reader.State) { c.Shuffle = false },
		"fewer":  func(c *reader.Config, _ *reader.State) { c.Select = some(ds, 29) },
		"split": func(c *reader.Config, _ *reader.State) {
			c.Select = func(in formats.Info) bool { return in.Label == 0 }
		},
		"list": func(c *reader.Config, _ *reader.State) { c.Samples = []int32{3, 5, 7, 7} },
		"another order of a list": func(c *reader.Config, _ *reader.State) {
			for i := range ds.Len() {
				c.Samples = append([]int32{int32(i)}, c.Samples...)
			}
		},
		"draws":        func(c *reader.Config, _ *reader.State) { c.Shuffle, c.Order = false, order.Spec{Kind: order.Balanced} },
		"no order":     func(_ *reader.Config, s *reader.State) { s.Order = "" },
		"below zero":   func(_ *reader.Config, s *reader.State) { s.Position = -1 },
		"past the end": func(_ *reader.Config, s *reader.State) { s.Position = 31 },
		"no epoch":     func(_ *reader.Config, s *reader.State) { s.Epoch = -1 },
	} {
		c, s := base, good
		change(&c, &s)
		l := newLoader(t, ds, c)
		var failed error
		for b, err := range l.Resume(t.Context(), s) {
			if failed = err; b != nil || err == nil {
				t.Fatalf("%s: a batch of %+v", name, s)
			}
		}
		if !errors.Is(failed, reader.ErrState) {
			t.Errorf("%s: error %v", name, failed)
		}
	}
	same := base
	same.BatchSize, same.WorldSize, same.Rank, same.Workers, same.Tail = 3, 2, 1, 5, order.Drop
	if s := good; collect(t, newLoader(t, ds, same).Resume(t.Context(), s)) == nil {
		t.Error("nothing is left")
	}
}

package reader_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// interleavings is how many there are over all formats.
const interleavings = 100

// TestRandomInterleavings of Close, of the dataset's Close, Stop, Keep, Release, Clone, Next and Pick on several goroutines, over
// each format: they are errors or panics of the caller's, never a crash, a hang or a wrong byte.
func TestRandomInterleavings(t *testing.T) {
	c := newCorpus(t, 30, packings())
	for k, s := range c.stored {
		t.Run(s.name, func(t *testing.T) {
			config := reader.Config{BatchSize: 3, Workers: 2, Shuffle: true, Transforms: augment.Train(8)}
			m := &misuse{path: s.path, config: config, batches: map[[2]int]uint64{}, samples: map[int]uint64{}}
			m.expect(t)
			rounds := interleavings/len(c.stored) + 1
			for seed := range rounds {
				m.round(t, uint64(k*rounds+seed))
			}
		})
	}
}

// misuse is several goroutines that misuse a Loader.
type misuse struct {
	path    string
	config  reader.Config
	batches map[[2]int]uint64 // by epoch and end
	samples map[int]uint64

	dataset formats.Dataset // that the Loader is of; in every second round one of the caller's
	loader  *reader.Loader
	mu      sync.Mutex
	runs    []*reader.Run
	epochs  map[*reader.Run]int
	taken   []taken
}

// taken is a batch that a run gave, valid or not.
type taken struct {
	b     *reader.Batch
	epoch int
}

const misusedEpochs = 2

func contentOf(b *reader.Batch) uint64 { return xxh3.Hash(append(b.ImageBytes(), b.LabelBytes()...)) }

// expect notes what the batches of an orderly Loader are.
func (m *misuse) expect(t *testing.T) {
	t.Helper()
	l, err := reader.Open(dsconv.Formats(), m.path, m.config)
	must(t, err)
	for epoch := range misusedEpochs {
		for b, err := range l.Epoch(t.Context(), epoch) {
			must(t, err)
			m.batches[[2]int{epoch, b.End}] = contentOf(b.Clone())
		}
	}
	b := new(reader.Batch)
	for i := range l.Samples() {
		must(t, l.At(i, b))
		m.samples[i] = contentOf(b.Clone())
	}
	must(t, l.Close())
}

// round lets four goroutines misuse one Loader.
func (m *misuse) round(t *testing.T, seed uint64) {
	t.Helper()
	var err error
	m.config.Prefetch = 1 + int(seed%3)
	if m.dataset = nil; seed%2 == 0 {
		m.loader, err = reader.Open(dsconv.Formats(), m.path, m.config)
	} else {
		m.dataset, err = dsconv.Formats().Open(m.path)
		must(t, err)
		m.loader, err = reader.New(m.dataset, m.config)
	}
	must(t, err)
	m.runs, m.epochs, m.taken = nil, map[*reader.Run]int{}, nil
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, g))
			for range 40 {
				m.act(t, r)
			}
		})
	}
	all.Wait()
	must(t, m.loader.Close())
	if m.dataset != nil {
		must(t, m.dataset.Close())
	}
	for _, run := range m.runs {
		if _, err := run.Next(t.Context()); err == nil {
			t.Error("a run gives a batch after Close")
		}
		run.Stop()
	}
	for _, one := range m.taken {
		m.check(t, one)
		one.b.Release()
		one.b.Release()
	}
}

// act does something at random, which may be a mistake.
func (m *misuse) act(t *testing.T, r *rand.Rand) {
	run, one := m.draw(r)
	switch x := r.IntN(100); {
	case x < 12:
		m.start(t, r.IntN(misusedEpochs))
	case x < 50 && run != nil:
		m.next(t, run)
	case x < 60:
		m.pick(t, r.IntN(len(m.samples)))
	case x < 75 && one.b != nil:
		m.check(t, one)
	case x < 85 && one.b != nil:
		tolerate(t, one.b.Keep)
	case x < 92 && one.b != nil:
		one.b.Release()
	case x < 94 && run != nil:
		run.Stop()
	case x < 96:
		m.leave(t, r.IntN(misusedEpochs))
	case x == 98 && m.dataset != nil: // too early
		if err := m.dataset.Close(); err != nil {
			t.Error(err)
		}
	case x == 99 && r.IntN(4) == 0:
		if err := m.loader.Close(); err != nil {
			t.Error(err)
		}
	}
}

// draw is one of the runs and one of the batches, if there are some.
func (m *misuse) draw(r *rand.Rand) (run *reader.Run, one taken) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.runs); n > 0 {
		run = m.runs[r.IntN(n)]
	}
	if n := len(m.taken); n > 0 {
		one = m.taken[r.IntN(n)]
	}
	return run, one
}

func (m *misuse) start(t *testing.T, epoch int) {
	run, err := m.loader.Start(context.Background(), epoch)
	if expected(t, err) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs, m.epochs[run] = append(m.runs, run), epoch
}

func (m *misuse) next(t *testing.T, run *reader.Run) {
	b, err := run.Next(context.Background())
	if expected(t, err) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = append(m.taken, taken{b, m.epochs[run]})
}

func (m *misuse) pick(t *testing.T, i int) {
	b := new(reader.Batch)
	if err := m.loader.At(i, b); !expected(t, err) && contentOf(b) != m.samples[i] {
		t.Errorf("sample %d has wrong bytes", i)
	}
}

// leave leaves a loop after its second batch, which must be the epoch's throughout the body.
func (m *misuse) leave(t *testing.T, epoch int) {
	n := 0
	for b, err := range m.loader.Epoch(context.Background(), epoch) {
		if expected(t, err) {
			return
		}
		if contentOf(b.Clone()) != m.batches[[2]int{epoch, b.End}] {
			t.Errorf("epoch %d: the loop's batch has wrong bytes", epoch)
		}
		if n++; n == 2 {
			return
		}
	}
}

// check compares a batch with the epoch's, if it is still valid.
func (m *misuse) check(t *testing.T, one taken) {
	tolerate(t, func() {
		if b := one.b.Clone(); contentOf(b) != m.batches[[2]int{one.epoch, b.End}] {
			t.Errorf("epoch %d: a batch that is valid has wrong bytes", one.epoch)
		}
	})
}

// expected reports whether err is one of misuse; any other one is a failure.
func expected(t *testing.T, err error) bool {
	if err != nil && !errors.Is(err, formats.ErrClosed) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "in Next already") {
		t.Errorf("error %v", err)
	}
	return err != nil
}

// tolerate lets f panic because a batch is over.
func tolerate(t *testing.T, f func()) {
	defer func() {
		if r := recover(); r != nil {
			if text, ok := r.(string); !ok || !strings.Contains(text, "no longer valid") {
				t.Errorf("panic %v", r)
			}
		}
	}()
	f()
}

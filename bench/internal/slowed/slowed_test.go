package slowed

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
)

// A sleep is never shorter than asked for, so only lower bounds are tested: no load can break them.
func TestPauseIsLongEnoughInTheMean(t *testing.T) {
	p := NewPause(400 * time.Microsecond)
	const callers, calls = 4, 10
	var group sync.WaitGroup
	var mu sync.Mutex
	var slept time.Duration
	for range callers {
		group.Go(func() {
			for range calls {
				d := p.Wait(nil, 1)
				mu.Lock()
				slept += d
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if want := callers*calls*400*time.Microsecond - shortest; slept < want {
		t.Errorf("slept %v in all, want at least %v", slept, want)
	}
	if owed := time.Duration(p.owed.Load()); owed >= shortest {
		t.Errorf("%v are still owed", owed)
	}
}

func TestPauseOfABatch(t *testing.T) {
	p := NewPause(time.Millisecond)
	if d := p.Wait(nil, 5); d < 5*time.Millisecond {
		t.Errorf("waited %v for 5 images of 1ms", d)
	}
	if d := (*Pause)(nil).Wait(nil, 5); d != 0 || NewPause(0) != nil {
		t.Errorf("no pause waited %v", d)
	}
}

// Who wakes up late has paid for some of the next calls, but a call of a long pause is never free.
func TestPauseMakesUpForLateWaking(t *testing.T) {
	short, long := NewPause(400*time.Microsecond), NewPause(2*time.Millisecond)
	for _, p := range []*Pause{short, long} {
		p.owed.Store(-int64(time.Hour))
	}
	if d := short.Wait(nil, 1); d != 0 {
		t.Errorf("waited %v after an hour too much", d)
	}
	if d := long.Wait(nil, 1); d < time.Millisecond || long.owed.Load() > -int64(time.Minute) {
		t.Errorf("waited %v after an hour too much, of which %v are left", d, time.Duration(long.owed.Load()))
	}
}

func TestWaitingEnds(t *testing.T) {
	done := make(chan struct{})
	close(done)
	start := time.Now()
	NewPause(time.Hour).Wait(done, 1)
	newBandwidth(1).wait(done, 1<<40)
	if d := time.Since(start); d > time.Minute {
		t.Errorf("waited %v although all waiting was over", d)
	}
}

func TestBandwidth(t *testing.T) {
	b, now := newBandwidth(1e6), time.Now()
	for i := 1; i <= 3; i++ { // one after another, whoever asks
		if got, want := b.take(1e6, now), now.Add(time.Duration(i)*time.Second-credit); got != want {
			t.Errorf("megabyte %d comes after %v, want %v", i, got.Sub(now), want.Sub(now))
		}
	}
	later := now.Add(time.Hour)
	if got, want := b.take(1e6, later), later.Add(time.Second-credit); got != want {
		t.Errorf("after an hour without reads a megabyte takes %v, want %v", got.Sub(later), want.Sub(later))
	}
	(*bandwidth)(nil).wait(nil, 1<<60)
	if newBandwidth(0) != nil {
		t.Error("0 is a limit")
	}
}

// stored is a dataset of one sample.
type stored struct{ err error }

func (d stored) Meta() *formats.Meta { return &formats.Meta{} }
func (d stored) Len() int            { return 1 }

func (d stored) Info(int) (formats.Info, error) { return formats.Info{Key: "a"}, nil }

func (d stored) Read(_ int, s *formats.Sample) error {
	s.Key, s.Values = "a", []formats.Value{{Data: make([]byte, 5000)}}
	return d.err
}

func (d stored) Close() error { return nil }

// lending also lends.
type lending struct{ stored }

func (d lending) View(i int, s *formats.Sample) error { return d.Read(i, s) }
func (d lending) Lease() (func(), error)              { return func() {}, nil }

func TestWrap(t *testing.T) {
	if ds := Wrap(stored{}, Config{}, nil); ds != (stored{}) {
		t.Errorf("without delays it is a %T", ds)
	}
	c := Config{Read: 3 * time.Millisecond, Decode: 4 * time.Millisecond}
	copying, view := Wrap(stored{}, c, nil), Wrap(lending{}, c, nil)
	if _, ok := copying.(formats.Viewer); ok {
		t.Error("a dataset that copies lends")
	}
	if _, ok := view.(formats.Viewer); !ok {
		t.Error("a dataset that lends copies")
	}
	var s formats.Sample
	for name, read := range map[string]func(int, *formats.Sample) error{
		"Read of a dataset that copies": copying.Read, "View of one that lends": view.(formats.Viewer).View,
		"Read of one that lends": Wrap(lending{}, c, nil).Read,
	} {
		start := time.Now()
		for range 2 {
			if err := read(0, &s); err != nil || s.Key != "a" {
				t.Fatal(name, s.Key, err)
			}
		}
		if d := time.Since(start); d < 2*3*time.Millisecond-3*time.Millisecond/2 {
			t.Errorf("%s: two reads took %v", name, d)
		}
	}
	start := time.Now()
	copying.(interface{ Delay(stage string) }).Delay("decode")
	copying.(interface{ Delay(stage string) }).Delay("collate")
	if d := time.Since(start); d < 4*time.Millisecond {
		t.Errorf("decoding took %v longer", d)
	}
}

func TestWrapLimitsReading(t *testing.T) {
	ds, start := Wrap(stored{}, Config{BytesPerSecond: 1e6}, nil), time.Now()
	for range 4 {
		if err := ds.Read(0, new(formats.Sample)); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(start); d < 4*5*time.Millisecond-credit {
		t.Errorf("20,000 bytes came in %v at 1 MB/s", d)
	}
}

// What fails is not delayed.
func TestWrapOfErrors(t *testing.T) {
	ds := Wrap(stored{err: formats.ErrDamaged}, Config{Read: time.Hour}, nil)
	if err := ds.Read(0, new(formats.Sample)); !errors.Is(err, formats.ErrDamaged) {
		t.Error(err)
	}
}

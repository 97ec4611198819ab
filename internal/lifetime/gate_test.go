package lifetime

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
)

func TestCloseWaitsForThoseInside(t *testing.T) {
	for range 200 {
		var freed, entered atomic.Int64
		g := new(Gate)
		g.Open("x.lmdb", func() error { freed.Add(1); return nil })
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				for range 20 {
					if err := g.Enter(i); err != nil {
						if !errors.Is(err, formats.ErrClosed) || err.Error() != "x.lmdb: it is closed" {
							t.Errorf("got %v", err)
						}
						return
					}
					entered.Add(1)
					runtime.Gosched()
					if freed.Load() > 0 {
						t.Error("freed with someone inside")
					}
					g.Leave(i)
				}
			})
		}
		for range 3 {
			all.Go(func() {
				if err := g.Close(); err != nil || freed.Load() != 1 {
					t.Errorf("close: %v, freed %d times", err, freed.Load())
				}
			})
		}
		all.Wait()
		if freed.Load() != 1 || g.Check() == nil {
			t.Fatalf("freed %d times, check %v", freed.Load(), g.Check())
		}
	}
}

func TestTheLastLeaseFrees(t *testing.T) {
	freed := 0
	g := new(Gate)
	g.Open("x", func() error { freed++; return errors.New("free") })
	one, err := g.Lease()
	if err != nil {
		t.Fatal(err)
	}
	two, err := g.Lease()
	if err != nil {
		t.Fatal(err)
	}
	one()
	one()
	if err := g.Close(); err != nil || freed != 0 {
		t.Errorf("closed with a lease: %v, freed %d times", err, freed)
	}
	if _, err := g.Lease(); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("a lease after Close: %v", err)
	}
	two()
	if freed != 1 {
		t.Errorf("freed %d times", freed)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestWhatIsForgottenIsFreed unless its memory may still be used.
func TestWhatIsForgottenIsFreed(t *testing.T) {
	var freed, lent atomic.Bool
	func() {
		a, b := new(Gate), new(Gate)
		a.Open("forgotten.tar", func() error { freed.Store(true); return nil })
		b.Open("lent.tar", func() error { lent.Store(true); return nil })
		b.Lend()
	}()
	for isOpen("forgotten.tar") || isOpen("lent.tar") {
		runtime.GC()
		runtime.Gosched()
	}
	if !freed.Load() || lent.Load() {
		t.Errorf("freed %v, and memory that was lent without a lease %v", freed.Load(), lent.Load())
	}
}

func isOpen(path string) bool {
	return slices.ContainsFunc(forgotten.StillOpen(), func(s string) bool { return strings.Contains(s, "dataset "+path) })
}

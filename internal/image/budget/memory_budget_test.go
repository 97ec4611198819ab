package budget

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Reservations together never exceed the Budget, and all are granted in the end.
func TestReservationsKeepTheBudget(t *testing.T) {
	var taken, most atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			var r Reservation
			for k := range 20 {
				n := int64(UnreservedBytes + 1 + (i*37+k*91)%900<<20)
				if err := r.ReserveImage(n, 10, 0); err != nil {
					t.Error(err)
					return
				}
				now := taken.Add(r.Taken)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				taken.Add(-r.Taken)
				r.release()
			}
		})
	}
	all.Wait()
	if most.Load() > Budget {
		t.Errorf("%d bytes at once, the budget is %d", most.Load(), int64(Budget))
	}
	if !Shared.TryAcquire(Budget) {
		t.Fatal("not all room came back")
	}
	Shared.Release(Budget)
}

func TestReservationOfOneImage(t *testing.T) {
	for _, c := range []struct {
		need            int64
		size, maxPixels int
		held, large     bool
	}{
		{need: UnreservedBytes, size: 1},
		{need: UnreservedBytes + 1, size: 1, held: true},
		{need: maxAllowance, size: 20 << 20},
		{need: maxAllowance + 1, size: 20 << 20, held: true},
		{need: 2 << 30, size: 100 << 20, held: true},
		{need: 2 << 30, size: 60 << 20, large: true},
		{need: bytesPerPixel * pixel.DefaultMaxPixels, size: 1, held: true},
		{need: bytesPerPixel*pixel.DefaultMaxPixels + 1, size: 1, large: true},
		{need: UnreservedBytes + 1, size: 1, maxPixels: 1000, large: true},
		{need: 3 << 30, size: 1, maxPixels: 1 << 30, held: true},
		{need: tooManyBytes, size: 1, large: true},
	} {
		var r Reservation
		err := r.ReserveImage(c.need, c.size, c.maxPixels)
		if errors.Is(err, pixel.ErrTooLarge) != c.large || r.Held() != c.held {
			t.Errorf("%+v: held %v, %v", c, r.Held(), err)
		}
		r.Release()
	}
}

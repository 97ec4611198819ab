package reader

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
)

// sized is a dataset whose images claim a size; it counts those that are read at once.
type sized struct {
	*memory
	size         int64
	reading, max atomic.Int64
}

func (d *sized) Info(i int) (formats.Info, error) {
	in, err := d.memory.Info(i)
	in.Size = d.size
	return in, err
}

func (d *sized) Read(i int, s *formats.Sample) error {
	d.max.Store(max(d.max.Load(), d.reading.Add(1)))
	time.Sleep(time.Millisecond) // others may begin meanwhile
	defer d.reading.Add(-1)
	return d.memory.Read(i, s)
}

// Images as large as the budget are read one at a time, whatever becomes of them, and all are.
func TestLargeImagesAreReadInTurn(t *testing.T) {
	for _, size := range []int64{budget.InputBudget, 900 << 20} {
		ds := rawImages(24, 4, 4, 3)
		ds.broken = map[int]error{4: errDisk, 5: errDisk, 11: errDisk}
		large := &sized{memory: ds, size: size}
		l := makeLoader(t, large, Config{BatchSize: 4, Workers: 4, Prefetch: 4, OnError: Skip})
		if got := indices(collect(t, l, 0)); len(got) != 21 {
			t.Errorf("%d images of %d bytes: %v", len(got), size, got)
		}
		if n := large.max.Load(); n != 1 {
			t.Errorf("%d images of %d bytes were read at once", n, size)
		}
	}
}

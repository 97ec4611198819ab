//go:build linux && cgo

package cuda_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/testing/cudatest/foreign"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
)

// open opens the fake GPU, and closes it with the test.
func open(t *testing.T, modes string) *cuda.Device {
	t.Helper()
	fakegpu.Load(t, modes)
	driver, err := cuda.Open()
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// must returns a value, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestDescribe(t *testing.T) {
	fakegpu.Load(t, "")
	driver := must[*cuda.Driver](t)(cuda.Open())
	p := must[cuda.Properties](t)(driver.Describe(0))
	if p.Name == "" || !strings.HasPrefix(p.UUID, "GPU-") || len(p.UUID) != 40 || p.Major != 9 || p.Minor != 0 || p.Memory != 1<<30 {
		t.Errorf("%+v", p)
	}
	if major, minor := driver.Version(); major != 13 || minor != 0 || driver.Devices() != 1 {
		t.Errorf("CUDA %d.%d, %d GPUs", major, minor, driver.Devices())
	}
	for _, number := range []int{-1, 1} {
		if _, err := driver.Device(number); err == nil || !strings.Contains(err.Error(), "there is no GPU") {
			t.Errorf("GPU %d: %v", number, err)
		}
	}
	if text, n := fakegpu.Live(); n > 0 {
		t.Errorf("Describe left %s", text)
	}
}

// Each way in which a driver does not start is named, with what to do.
func TestOpenFails(t *testing.T) {
	dir := filepath.Dir(fakegpu.Load(t, ""))
	for i, c := range []struct{ modes, want string }{
		{"cuInit:100", "CUDA_ERROR_NO_DEVICE, 100); the driver sees no GPU: start the container with --gpus all"},
		{"devices:0", "the driver sees no GPU"},
		{"driver:11040", "supports CUDA 11.4; update it to 525 or newer"},
		{"driver:11040,cuInit:3", "supports CUDA 11.4; update it to 525 or newer"},
		{"cuInit:803", "of different versions"},
		{"cuInit:999", "nvidia_uvm"},
		{"cuInit:3", "start it by spawn"},
		{"cuInit:802", "start nvidia-fabricmanager"},
		{"cuInit:46", "nvidia-smi"},
	} {
		fakegpu.Set(c.modes)
		// Another name for the same library, which Open has not opened yet.
		cuda.SetLibrary(t, dir+strings.Repeat("/.", i+1)+"/"+fakegpu.CUDA)
		_, err := cuda.Open()
		if !errors.Is(err, cuda.ErrNoDriver) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.modes, err, c.want)
		}
	}
}

// Bytes go to the GPU and back, in the order of a stream, and between streams after an event.
func TestCopies(t *testing.T) {
	d := open(t, "")
	s, s2 := must[*cuda.Stream](t)(d.NewStream()), must[*cuda.Stream](t)(d.NewStream())
	e := must[*cuda.Event](t)(d.NewEvent())
	from, to := must[*cuda.Pinned](t)(d.AllocPinned(300)), must[*cuda.Pinned](t)(d.AllocPinned(300))
	a := must[cuda.Address](t)(d.Alloc(300))
	for i := range from.Bytes() {
		from.Bytes()[i] = byte(i)
	}
	ok(t, e.Sync(), // nothing was recorded yet
		s.ToDevice(a, from.Bytes()), s.Set32(a+100, 0x07070707, 3), s.Set32(a+200, 0x04030201, 2), e.Record(s.Handle()),
		e.Sync(), s2.ToHost(to.Bytes(), a), e.Record(s2.Handle()), e.Sync())
	want := bytes.Clone(from.Bytes())
	copy(want[100:], bytes.Repeat([]byte{7}, 12))
	copy(want[200:], []byte{1, 2, 3, 4, 1, 2, 3, 4})
	if !bytes.Equal(to.Bytes(), want) {
		t.Errorf("got %v", to.Bytes())
	}
	// Other memory of the host.
	other := make([]byte, 300)
	ok(t, s.ToDevice(a, want), s.ToHost(other, a), s.Sync())
	if !bytes.Equal(other, want) {
		t.Errorf("got %v", other)
	}
	ok(t, d.Free(a), from.Free(), to.Free(), e.Close(), s.Close(), s2.Close())
}

// The training's kernels must not hold up those of a batch.
func TestStreamsComeFirst(t *testing.T) {
	d := open(t, "")
	before := fakegpu.Count("streams of the greatest priority")
	s := must[*cuda.Stream](t)(d.NewStream())
	if n := fakegpu.Count("streams of the greatest priority") - before; n != 1 {
		t.Errorf("%d streams of the greatest priority, want 1", n)
	}
	fakegpu.Set("cuCtxGetStreamPriorityRange:2")
	if _, err := d.NewStream(); !errors.Is(err, cuda.ErrMemory) {
		t.Errorf("no range of priorities: %v", err)
	}
	fakegpu.Set("")
	ok(t, s.Close())
}

// Whoever waits for a stream sleeps.
func TestSyncSleeps(t *testing.T) {
	d := open(t, "")
	s := must[*cuda.Stream](t)(d.NewStream())
	a := must[cuda.Address](t)(d.Alloc(300))
	for range 20 {
		ok(t, s.Set32(a, 1, 75), s.Sync())
	}
	if n := fakegpu.Count("busy waits"); n > 0 {
		t.Errorf("%d of 20 waits occupied a core", n)
	}
	fakegpu.Set("cuEventCreate:2")
	if _, err := d.NewStream(); !errors.Is(err, cuda.ErrMemory) {
		t.Errorf("no event for a stream: %v", err)
	}
	fakegpu.Set("cuStreamCreate:2")
	if _, err := d.NewStream(); !errors.Is(err, cuda.ErrMemory) {
		t.Errorf("no stream: %v", err)
	}
	fakegpu.Set("")
	ok(t, d.Free(a), s.Close())
}

// Errors keep the driver's words and what was being done; callers tell the kinds apart.
func TestErrors(t *testing.T) {
	d := open(t, "")
	s := must[*cuda.Stream](t)(d.NewStream())
	if _, err := d.Alloc(2 << 30); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "allocate 2147483648 bytes") {
		t.Errorf("too much memory: %v", err)
	}
	fakegpu.Set("cuMemHostAlloc:2")
	if _, err := d.AllocPinned(10); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("no pinned memory: %v", err)
	}
	for _, size := range []int{0, -1} {
		if _, err := d.Alloc(size); err == nil {
			t.Errorf("%d bytes of the GPU's memory", size)
		}
		if _, err := d.AllocPinned(size); err == nil {
			t.Errorf("%d bytes of pinned memory", size)
		}
		if _, err := d.NewPool(size); err == nil {
			t.Errorf("a pool of blocks of %d bytes", size)
		}
	}
	fakegpu.Set("cuStreamSynchronize:700@1")
	if err := s.Sync(); !errors.Is(err, cuda.ErrLost) || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS, 700") {
		t.Errorf("illegal address: %v", err)
	}
	if _, err := d.Alloc(10); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("after the GPU was lost: %v", err)
	}
	fakegpu.Set("")
	ok(t, s.Close())
}

// A module that is none, and a kernel that is not in it, are errors.
func TestModules(t *testing.T) {
	d := open(t, "")
	if _, err := d.Load([]byte("no code")); err == nil || !strings.Contains(err.Error(), "load code") {
		t.Errorf("no code: %v", err)
	}
	m := must[*cuda.Module](t)(d.Load([]byte(".version 8.0\n.target sm_75\n.visible .entry other() {}\n")))
	if _, err := m.Function("dsconv_nothing"); err == nil || !strings.Contains(err.Error(), "dsconv_nothing") {
		t.Errorf("no kernel: %v", err)
	}
	ok(t, m.Close())
}

// A GPU that was closed twice is closed once, and stays open for whoever opened it again.
func TestCloseTwice(t *testing.T) {
	first, second := open(t, ""), must[*cuda.Device](t)(must[*cuda.Driver](t)(cuda.Open()).Device(0))
	ok(t, first.Close(), first.Close())
	a := must[cuda.Address](t)(second.Alloc(10))
	ok(t, second.Free(a), second.Close())
}

// Blocks are lent again only after the work that they were released after, and outlive their pool.
func TestPool(t *testing.T) {
	d := open(t, "")
	writer, reader := must[*cuda.Stream](t)(d.NewStream()), must[*cuda.Stream](t)(d.NewStream())
	pool := must[*cuda.Pool](t)(d.NewPool(1000))
	got := must[*cuda.Pinned](t)(d.AllocPinned(1000))
	for round := range 20 {
		b := must[*cuda.Block](t)(pool.Take(writer.Handle()))
		ok(t, writer.Set32(b.Address(), uint32(round)*0x01010101, 250), writer.Sync(), reader.ToHost(got.Bytes(), b.Address()))
		foreign.Release(b, reader.Handle()) // its copy has not been waited for
		next := must[*cuda.Block](t)(pool.Take(writer.Handle()))
		if next.Address() != b.Address() {
			t.Fatalf("a second block, %#x beside %#x", next.Address(), b.Address())
		}
		ok(t, writer.Set32(next.Address(), 0xeeeeeeee, 250), writer.Sync())
		next.Release()
		ok(t, reader.Sync())
		if want := bytes.Repeat([]byte{byte(round)}, 1000); !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("round %d: the block was lent before the copy was done", round)
		}
	}
	a, b := must[*cuda.Block](t)(pool.Take(writer.Handle())), must[*cuda.Block](t)(pool.Take(writer.Handle()))
	if a.Address() == b.Address() {
		t.Errorf("lent twice: %#x", a.Address())
	}
	pool.Close()
	pool.Close()
	if _, err := pool.Take(0); err == nil {
		t.Error("a closed pool lends")
	}
	ok(t, got.Free(), writer.Close(), reader.Close(), d.Close())
	foreign.Release(a, 2) // the thread's own default stream
	b.Release()
}

// Blocks are released and taken on many threads at a time.
func TestPoolConcurrently(t *testing.T) {
	d := open(t, "")
	s := must[*cuda.Stream](t)(d.NewStream())
	pool := must[*cuda.Pool](t)(d.NewPool(100))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				b, err := pool.Take(s.Handle())
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					b.Release()
				} else {
					foreign.Release(b, s.Handle())
				}
			}
		})
	}
	wg.Wait()
	pool.Close()
	ok(t, s.Close())
}

// Whatever fails while a block is lent, the pool stays whole.
func TestPoolFails(t *testing.T) {
	d := open(t, "")
	s := must[*cuda.Stream](t)(d.NewStream())
	pool := must[*cuda.Pool](t)(d.NewPool(100))
	b := must[*cuda.Block](t)(pool.Take(s.Handle()))
	for _, mode := range []string{"cuMemAlloc_v2:2", "cuEventCreate:2"} {
		fakegpu.Set(mode)
		if _, err := pool.Take(s.Handle()); !errors.Is(err, cuda.ErrMemory) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	fakegpu.Set("cuEventRecord:400") // the consumer's stream has ended
	foreign.Release(b, s.Handle())
	if fakegpu.Count("cuCtxSynchronize") != 1 {
		t.Error("nothing waited for the work of a stream in which no event could be recorded")
	}
	fakegpu.Set("")
	b = must[*cuda.Block](t)(pool.Take(s.Handle()))
	foreign.Release(b, s.Handle())
	fakegpu.Set("cuStreamWaitEvent:999")
	if _, err := pool.Take(s.Handle()); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("the wait for a block's last work fails: %v", err)
	}
	fakegpu.Set("")
	if again := must[*cuda.Block](t)(pool.Take(s.Handle())); again.Address() != b.Address() {
		t.Error("the block got lost")
	} else {
		again.Release()
	}
	pool.Close()
	ok(t, s.Close())
}

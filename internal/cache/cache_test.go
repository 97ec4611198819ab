//go:build linux

package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// content is what sample i of a test is: of a size of its own, told apart by its bytes.
func content(i int) []byte {
	size := 1 + i*7919%3000
	b := make([]byte, 0, size+8)
	r := rand.NewPCG(uint64(i), 1)
	for len(b) < size {
		b = binary.NativeEndian.AppendUint64(b, r.Uint64())
	}
	return b[:size]
}

func putContent(c *Cache, i int) ([]byte, bool, error) {
	want := content(i)
	return c.Put(i, len(want), func(dst []byte) error {
		copy(dst, want)
		return nil
	})
}

// openCache opens a cache that is closed at the test's end.
func openCache(t testing.TB, conf Config) *Cache {
	t.Helper()
	c, err := Open(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// memoryDir is an empty folder in memory where there is such a file system.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(defaultDir(), "dsconv-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func checkGone(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestPutThenGetInEveryCache(t *testing.T) {
	dir := memoryDir(t)
	conf := Config{Dir: dir, Name: "a", Limit: 1 << 20, Samples: 100}
	a, b := openCache(t, conf), openCache(t, conf)
	var used int64
	for i := range 100 {
		if _, ok := b.Get(i); ok {
			t.Fatalf("sample %d is there before it is put", i)
		}
		data, ok, err := putContent(a, i)
		if err != nil || !ok || !bytes.Equal(data, content(i)) {
			t.Fatalf("Put(%d): %v %v", i, ok, err)
		}
		used += RecordSize(len(data))
		got, ok := b.Get(i)
		if !ok || !bytes.Equal(got, content(i)) || cap(got) != len(got) {
			t.Fatalf("Get(%d) differs", i)
		}
		if p := uintptr(unsafe.Pointer(&got[0])); p%alignment != 0 {
			t.Errorf("sample %d lies at %#x", i, p)
		}
	}
	data, ok, err := b.Put(5, 1, func([]byte) error { panic("filled twice") })
	if err != nil || !ok || !bytes.Equal(data, content(5)) {
		t.Errorf("Put of what is there: %v %v", ok, err)
	}
	want := Stats{Limit: 1 << 20, Used: used, Samples: 100, Hits: 100, Misses: 100}
	if got := b.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Get(7); !ok {
		t.Error("what is in use was removed")
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	checkGone(t, dir)
	if _, ok := b.Get(7); ok {
		t.Error("Get after Close")
	}
}

func TestGoroutinesFillEachSampleOnce(t *testing.T) {
	const n = 3000
	dir := memoryDir(t)
	conf := Config{Dir: dir, Name: "a", Limit: 8 << 20, Samples: n}
	caches := [2]*Cache{openCache(t, conf), openCache(t, conf)}
	var filled [n]atomic.Int32
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			c := caches[g%2]
			for _, i := range rand.New(rand.NewPCG(uint64(g), 2)).Perm(n) {
				want := content(i)
				data, ok := c.Get(i)
				if !ok {
					var err error
					data, ok, err = c.Put(i, len(want), func(dst []byte) error {
						filled[i].Add(1)
						copy(dst, want)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
				if ok && !bytes.Equal(data, want) {
					t.Errorf("sample %d differs", i)
				}
			}
		})
	}
	wg.Wait()
	for i := range filled {
		if k := filled[i].Load(); k != 1 {
			t.Errorf("sample %d was filled %d times", i, k)
		}
		if data, ok := caches[0].Get(i); !ok || !bytes.Equal(data, content(i)) {
			t.Errorf("sample %d is not there", i)
		}
	}
}

// Those who come at the same moment agree who fills: what is there is passed quickly, so that
// all are at the first sample that is not.
func TestOneOfManyClaims(t *testing.T) {
	const n = 1 << 20
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1, Samples: n})
	var filled atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range n {
				_, _, _ = c.Put(i, 0, func([]byte) error {
					filled.Add(1)
					return nil
				})
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); filled.Load() != n || s.Samples != n {
		t.Errorf("%d samples were filled %d times: %+v", n, filled.Load(), s)
	}
}

func TestFailedFillCanBeRepeatedInItsPlace(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 3})
	broken := errors.New("broken")
	for range 3 {
		_, ok, err := c.Put(1, 1000, func(dst []byte) error {
			dst[0] = 1
			return broken
		})
		if ok || !errors.Is(err, broken) {
			t.Fatalf("%v %v", ok, err)
		}
		if _, ok := c.Get(1); ok {
			t.Fatal("half a sample is there")
		}
	}
	if _, ok, err := c.Put(1, 1001, nil); ok || err != nil {
		t.Errorf("larger than its place: %v %v", ok, err)
	}
	if data, ok, err := c.Put(1, 900, func([]byte) error { return nil }); !ok || err != nil || len(data) != 900 {
		t.Errorf("repeated: %v %v", ok, err)
	}
	if used := c.Stats().Used; used != RecordSize(1000) {
		t.Errorf("%d bytes are used", used)
	}
}

func TestWhoIsLateGoesOnWithout(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 3})
	_, ok, err := c.Put(1, 10, func([]byte) error {
		_, ok, err := c.Put(1, 10, func([]byte) error { panic("filled twice") })
		if ok || err != nil {
			t.Errorf("Put during Put: %v %v", ok, err)
		}
		return nil
	})
	if !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

func TestLimit(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 10 * alignment, Samples: 100})
	nothing := func([]byte) error { return nil }
	sizes := []int{4 * alignment, 6*alignment + 1, 0, 5 * alignment, alignment, math.MaxInt, alignment}
	want := []bool{true, false, true, true, true, false, false}
	for i, size := range sizes {
		data, ok, err := c.Put(i, size, nothing)
		if err != nil || ok != want[i] || ok && len(data) != size {
			t.Errorf("Put of %d bytes: %v %v", size, ok, err)
		}
		if got, found := c.Get(i); found != ok || len(got) != len(data) {
			t.Errorf("Get of %d bytes: %v", size, found)
		}
	}
	s := c.Stats()
	if s.Used != 10*alignment || s.Samples != 4 || s.Refused != 3 || s.Full != AtLimit {
		t.Errorf("%+v, %v", s, s.Full)
	}
}

// The arena grows in steps; what is put after many of them is right, and memory that is not
// needed is not taken.
func TestGrows(t *testing.T) {
	dir := memoryDir(t)
	const size = 5<<20 + 123
	c := openCache(t, Config{Dir: dir, Name: "a", Limit: 1 << 40, Samples: 10})
	fill := func(i int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, size) }
	for i := range 10 {
		if _, ok, err := c.Put(i, size, func(dst []byte) error { copy(dst, fill(i)); return nil }); !ok || err != nil {
			t.Fatalf("Put(%d): %v %v", i, ok, err)
		}
	}
	for i := range 10 {
		if data, ok := c.Get(i); !ok || !bytes.Equal(data, fill(i)) {
			t.Errorf("sample %d differs", i)
		}
	}
	if backed := int64(c.head.backed.Load()); backed < 10*size || backed > 10*size+growth+IndexSize(10) {
		t.Errorf("%d bytes are backed", backed)
	}
}

func TestLimitOfItsOwn(t *testing.T) {
	dir := memoryDir(t)
	a := openCache(t, Config{Dir: dir, Name: "a", Samples: 10})
	b := openCache(t, Config{Dir: dir, Name: "a", Samples: 10})
	if a.Stats().Limit <= 0 || a.Stats().Limit != b.Stats().Limit {
		t.Errorf("limits of %d and %d bytes", a.Stats().Limit, b.Stats().Limit)
	}
}

func TestNoMemoryLeft(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 30, Samples: 100})
	c.freeMemory = func() (int64, error) { return spare + growth/2, nil }
	if _, ok, err := putContent(c, 1); !ok || err != nil {
		t.Fatalf("with memory: %v %v", ok, err)
	}
	for i := range 2 {
		if _, ok, err := c.Put(2+i, 2*growth, nil); ok || err != nil {
			t.Fatalf("without memory: %v %v", ok, err)
		}
	}
	if s := c.Stats(); s.Full != NoMemory || s.Refused != 2 || s.Samples != 1 {
		t.Errorf("%+v", s)
	}
	if _, ok, err := putContent(c, 5); !ok || err != nil {
		t.Errorf("where there is memory still: %v %v", ok, err)
	}
}

func BenchmarkGet(b *testing.B) {
	const n, size = 100_000, 500
	c := openCache(b, Config{Dir: memoryDir(b), Name: "a", Limit: n * 512, Samples: n})
	for i := range n {
		if _, ok, err := c.Put(i, size, func([]byte) error { return nil }); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	order := rand.Perm(n)
	b.ReportAllocs()
	b.Run("alone", func(b *testing.B) {
		for k := range b.N {
			if _, ok := c.Get(order[k%n]); !ok {
				b.Fatal("a miss")
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for k := 0; pb.Next(); k++ {
				if _, ok := c.Get(order[k%n]); !ok {
					b.Error("a miss")
				}
			}
		})
	})
}

func BenchmarkPut(b *testing.B) {
	const size = 100 << 10
	src := content(1)
	b.SetBytes(size)
	conf := Config{Dir: memoryDir(b), Name: "a", Limit: int64(b.N+1) * size, Samples: b.N}
	c := openCache(b, conf)
	for i := range b.N {
		_, _, err := c.Put(i, size, func(dst []byte) error {
			for len(dst) > 0 {
				dst = dst[copy(dst, src):]
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

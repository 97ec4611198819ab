package extsort

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

type record struct{ key, value []byte }

// small returns a Sorter that spills all the time.
func small(t testing.TB, memory int64) *Sorter {
	s := New(t.TempDir(), memory)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(s.dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return s
}

func add(t testing.TB, s *Sorter, list []record) {
	t.Helper()
	for _, r := range list {
		key, value := slices.Clone(r.key), slices.Clone(r.value)
		if err := s.Add(key, value); err != nil {
			t.Fatal(err)
		}
		clear(key) // Add copies
		clear(value)
	}
}

func sorted(t testing.TB, s *Sorter) (list []record) {
	t.Helper()
	if err := s.Each(func(key, value []byte) error {
		list = append(list, record{bytes.Clone(key), bytes.Clone(value)})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func same(t testing.TB, got, want []record) {
	t.Helper()
	slices.SortStableFunc(want, func(a, b record) int { return bytes.Compare(a.key, b.key) })
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i].key, want[i].key) || !bytes.Equal(got[i].value, want[i].value) {
			t.Fatalf("record %d: %.40q %.40q, want %.40q %.40q", i, got[i].key, got[i].value, want[i].key, want[i].value)
		}
	}
}

// some returns n records of one kind; values are numbered, so that the order of equal keys is seen.
func some(r *rand.Rand, n int, key func() []byte) (list []record) {
	for i := range n {
		value := binary.AppendUvarint(nil, uint64(i))
		list = append(list, record{key(), append(value, make([]byte, r.IntN(40))...)})
	}
	return list
}

func TestSortsLikeTheStandardLibrary(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		kinds := map[string]func() []byte{
			"paths":  func() []byte { return fmt.Appendf(nil, "train/class%03d/image_%07d.jpg", r.IntN(20), r.IntN(10_000)) },
			"few":    func() []byte { return []byte{byte(r.IntN(3))} },
			"zeros":  func() []byte { return make([]byte, r.IntN(30)) },
			"random": func() []byte { return binary.BigEndian.AppendUint64(nil, r.Uint64())[:r.IntN(9)] },
			"long":   func() []byte { return append(bytes.Repeat([]byte("x"), maxDepth+r.IntN(9)), byte(r.IntN(4))) },
		}
		for name, key := range kinds {
			n := 3000
			if name == "long" {
				n = 60
			}
			list := some(r, n, key)
			for _, memory := range []int64{1, 20_000, 1 << 20} {
				t.Run(fmt.Sprint(name, seed, memory), func(t *testing.T) {
					s := small(t, memory)
					add(t, s, list)
					same(t, sorted(t, s), slices.Clone(list))
				})
			}
		}
	}
}

func TestNoFileWithinTheMemory(t *testing.T) {
	s := New("/no such folder", 1<<20)
	defer s.Close()
	list := some(rand.New(rand.NewPCG(1, 1)), 5000, func() []byte { return []byte("key") })
	add(t, s, list)
	same(t, sorted(t, s), list)
	if len(s.ends) > 0 {
		t.Errorf("%d runs", len(s.ends))
	}
}

func TestEmpty(t *testing.T) {
	s := New("", 0)
	if got := sorted(t, s); got != nil {
		t.Errorf("%v", got)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestRecordsLargerThanTheMemory(t *testing.T) {
	s := small(t, 1000)
	var list []record
	for i := range 12 {
		list = append(list, record{fmt.Appendf(nil, "%02d", i*5%12), bytes.Repeat([]byte{byte(i)}, i<<17)})
		list = append(list, record{bytes.Repeat([]byte{byte(i)}, i<<10), []byte("small")})
	}
	add(t, s, list)
	same(t, sorted(t, s), list)
}

func TestUseAfterTheEnd(t *testing.T) {
	s := New("", 0)
	defer s.Close()
	add(t, s, []record{{[]byte("a"), nil}})
	stop := errors.New("stop")
	if err := s.Each(func(_, _ []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	n := 0
	if err := s.Each(func(_, _ []byte) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("again %d records, %v", n, err)
	}
	if err := s.Add(nil, nil); err == nil {
		t.Error("Add after Each")
	}
}

// What was merged can be merged again; what is closed cannot.
func TestEachAgain(t *testing.T) {
	s := small(t, 5000)
	add(t, s, some(rand.New(rand.NewPCG(1, 1)), 3000, func() []byte { return []byte("key") }))
	for range 3 {
		n := 0
		if err := s.Each(func(_, _ []byte) error { n++; return nil }); err != nil || n != 3000 {
			t.Fatalf("%d records, %v", n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Each(func(_, _ []byte) error { return nil }); err == nil {
		t.Error("Each after Close")
	}
}

func TestYieldEndsAMerge(t *testing.T) {
	s := small(t, 5000)
	add(t, s, some(rand.New(rand.NewPCG(1, 1)), 3000, func() []byte { return []byte("key") }))
	stop, n := errors.New("stop"), 0
	err := s.Each(func(_, _ []byte) error {
		if n++; n == 1500 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 1500 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestMissingFolder(t *testing.T) {
	s := New("/no such folder", 5000)
	defer s.Close()
	var err error
	for i := 0; err == nil && i < 3000; i++ {
		err = s.Add([]byte("key"), nil)
	}
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/no such folder: no such file or directory") {
		t.Errorf("%v", err)
	}
	if again := s.Add([]byte("key"), nil); again == nil {
		t.Error("Add goes on after an error")
	}
	if each := s.Each(func(_, _ []byte) error { return nil }); each == nil {
		t.Error("Each gives some of the records")
	}
}

// Every flipped bit and every cut of a temporary file is an error, and no record is lost silently.
func TestDamagedFile(t *testing.T) {
	list := some(rand.New(rand.NewPCG(1, 1)), 400, func() []byte { return []byte("key") })
	for k := range 60 {
		s := small(t, 5000)
		add(t, s, list)
		if len(s.ends) == 0 {
			t.Fatal("no run")
		}
		r := &s.file
		at := int64(k) * 101 % r.size
		if k%10 == 0 {
			if err := r.f.Truncate(at); err != nil {
				t.Fatal(err)
			}
		} else {
			b := make([]byte, 1)
			if _, err := r.f.ReadAt(b, at); err != nil {
				t.Fatal(err)
			}
			b[0] ^= 1 << (k % 8)
			if _, err := r.f.WriteAt(b, at); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Each(func(_, _ []byte) error { return nil })
		if !errors.Is(err, errDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

func FuzzSort(f *testing.F) {
	f.Add([]byte("a\x00b\x00a"), 9)
	f.Add(bytes.Repeat([]byte("prefix, long enough\x00"), 300), 4096)
	f.Fuzz(func(t *testing.T, text []byte, memory int) {
		var list []record
		for i, key := range bytes.Split(text, []byte{0}) {
			list = append(list, record{key, binary.AppendUvarint(nil, uint64(i))})
		}
		s := New(os.TempDir(), int64(memory)%(1<<20))
		defer s.Close()
		add(t, s, list)
		same(t, sorted(t, s), list)
	})
}

// Memory outside of Go's heap, and no allocation for each record.
func TestAllocations(t *testing.T) {
	key := []byte("key")
	n := testing.AllocsPerRun(5, func() {
		s := New("", 1<<20)
		for range 10_000 {
			if err := s.Add(key, key); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Each(func(_, _ []byte) error { return nil }), s.Close()); err != nil {
			t.Fatal(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations", n)
	}
}

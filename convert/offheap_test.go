package convert

import (
	"runtime"
	"testing"
)

func TestArray(t *testing.T) {
	for range 50 { // those before are garbage
		a, err := newOffheap[int32](100_000)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Len() {
			if a.At(i) != 0 {
				t.Fatal("not zero at first")
			}
			a.Set(i, int32(i))
		}
		runtime.GC()
		a.Use(func(list []int32) {
			for i, v := range list {
				if int(v) != i || a.At(i) != v {
					t.Fatalf("%d is %d", i, v)
				}
			}
		})
	}
	if a, err := newOffheap[uint16](0); err != nil || a.Len() != 0 {
		t.Errorf("%v", err)
	}
	if _, err := newOffheap[uint16](1 << 60); err == nil {
		t.Error("no such memory")
	}
}

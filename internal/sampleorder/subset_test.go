package sampleorder

import (
	"slices"
	"testing"
)

func TestSubset(t *testing.T) {
	const n = 1000
	third, err := Select(n, func(i int) bool { return i%3 == 0 })
	if err != nil {
		t.Fatal(err)
	}
	var indices []int32
	for i := range third.Len() {
		if third.At(i) != 3*i {
			t.Fatalf("sample %d is %d", i, third.At(i))
		}
		indices = append(indices, int32(third.At(i)))
	}
	picked, err := Pick(n, indices)
	if err != nil || picked.String() != third.String() || picked.Len() != 334 {
		t.Errorf("picked %s, %v, want %s", picked, err, third)
	}
	indices = slices.Clone(indices)
	indices[5]++
	if other, err := Pick(n, indices); err != nil || other.String() == third.String() {
		t.Errorf("%s, %v: another subset is not told", other, err)
	}
	all, err := Select(n, func(int) bool { return true })
	if err != nil || all.String() != All(n).String() || all.At(7) != 7 || all.indices != nil {
		t.Errorf("all: %s, %v", all, err)
	}
	none, err := Select(n, func(int) bool { return false })
	if err != nil || none.Len() != 0 || none.String() == all.String() {
		t.Errorf("none: %s, %v", none, err)
	}
	for _, bad := range [][]int32{{-1}, {1000}, {3, 3}, {4, 3}} {
		if _, err := Pick(n, bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

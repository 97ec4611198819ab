package reader

import (
	"slices"
	"testing"
)

func TestSubset(t *testing.T) {
	const n = 1000
	third, err := selectOf(n, func(i int) bool { return i%3 == 0 })
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
	picked, err := pickOf(n, indices)
	if err != nil || picked.String() != third.String() || picked.Len() != 334 {
		t.Errorf("picked %s, %v, want %s", picked, err, third)
	}
	indices = slices.Clone(indices)
	indices[5]++
	if other, err := pickOf(n, indices); err != nil || other.String() == third.String() {
		t.Errorf("%s, %v: another subset is not told", other, err)
	}
	all, err := selectOf(n, func(int) bool { return true })
	if err != nil || all.String() != allOf(n).String() || all.At(7) != 7 || all.Listed() != 0 {
		t.Errorf("all: %s, %v", all, err)
	}
	none, err := selectOf(n, func(int) bool { return false })
	if err != nil || none.Len() != 0 || none.String() == all.String() {
		t.Errorf("none: %s, %v", none, err)
	}
	for _, bad := range [][]int32{{-1}, {1000}, {3, 3}, {4, 3}} {
		if _, err := pickOf(n, bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// TestSubsetsKeepTheirNames: the states of trainings contain them.
func TestSubsetsKeepTheirNames(t *testing.T) {
	const n = 1000
	third, err := selectOf(n, func(i int) bool { return i%3 == 0 })
	if err != nil {
		t.Fatal(err)
	}
	middle, err := selectOf(n, func(i int) bool { return i >= 100 && i < 300 })
	if err != nil {
		t.Fatal(err)
	}
	none, err := pickOf(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]subset{
		"334 of 1000, subset 582cf8ece4e64262": third,
		"200 of 1000, subset e3b8f434b2fbdda6": middle,
		"0 of 1000, subset 0000000000000000":   none,
		"534 of 2000, subset e9a89760c900e2cd": joinOf(third, middle),
		"all of 2000":                          joinOf(allOf(n), allOf(n)),
		"all of 7":                             allOf(7),
	} {
		if s.String() != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
}

// TestConsecutiveIndicesTakeNoMemory: only others are in a list.
func TestConsecutiveIndicesTakeNoMemory(t *testing.T) {
	apart, err := pickOf(10, []int32{1, 2, 4, 9})
	if err != nil || apart.Listed() != 4 {
		t.Fatalf("%v: %d in lists, want 4", err, apart.Listed())
	}
	between, err := pickOf(10, []int32{3, 4, 5})
	if err != nil || between.Listed() != 0 {
		t.Fatalf("%v: %d in lists, want 0", err, between.Listed())
	}
	none, err := pickOf(10, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := joinOf(none, between, none, apart, allOf(3), none)
	var got []int
	for i := range all.Len() {
		got = append(got, all.At(i))
	}
	if want := []int{13, 14, 15, 31, 32, 34, 39, 40, 41, 42}; !slices.Equal(got, want) || all.Listed() != 4 {
		t.Errorf("joined: %v with %d in lists, want %v with 4", got, all.Listed(), want)
	}
}

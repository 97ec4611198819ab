package bench

import (
	"math"
	"testing"
)

func TestSub(t *testing.T) {
	now := Counters{
		Queue: 8, OtherCPU: 7, MajorFaults: 6, AllMajorFaults: 60, Read: 5, SwapIn: 40,
		MemoryStall: 2,
	}
	then := Counters{Queue: 2, OtherCPU: 3, MajorFaults: 4, AllMajorFaults: 50, Read: 5, SwapIn: 6, MemoryStall: 1}
	want := Counters{Queue: 6, OtherCPU: 4, MajorFaults: 2, AllMajorFaults: 10, SwapIn: 34, MemoryStall: 1}
	if got := now.sub(then); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A thread that has ended takes its time along.
	if got := then.sub(now); got.Queue != 0 || got.OtherCPU != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSwapStall(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name    string
		c       Counters
		blocked float64
		want    float64
	}{
		{"nothing was swapped in", Counters{MajorFaults: 5, Read: 100 * mb, MemoryStall: 5}, 8, 0},
		{"all that was read", Counters{MajorFaults: 5, SwapIn: 100 * mb, Read: 100 * mb, MemoryStall: 5}, 8, 8},
		{"a quarter of what was read", Counters{MajorFaults: 5, SwapIn: 25 * mb, Read: 100 * mb, MemoryStall: 5}, 8, 2},
		{"what was read is not known", Counters{MajorFaults: 5, SwapIn: 25 * mb}, 8, 8},
		{"others swapped", Counters{AllMajorFaults: 9, SwapIn: 25 * mb, Read: mb, MemoryStall: 5}, 8, 0},
		{"no longer than somebody waited, times the threads", Counters{MajorFaults: 5, SwapIn: mb, Read: mb, MemoryStall: 0.5}, 8, 2},
		{"cores were lacking meanwhile", Counters{MajorFaults: 5, SwapIn: mb, Read: mb, MemoryStall: 3}, -1, 3},
		{"others swapped more", Counters{MajorFaults: 5, AllMajorFaults: 50, SwapIn: mb, Read: mb, MemoryStall: 3}, -1, 0.3},
		{"others swapped more, and files were read", Counters{MajorFaults: 5, AllMajorFaults: 50, SwapIn: mb, Read: 2 * mb, MemoryStall: 3}, 0, 0.15},
		{"no pressure is counted", Counters{MajorFaults: 5, SwapIn: mb, Read: mb}, -1, 0},
	} {
		if got := c.c.swapStall(c.blocked, 4); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

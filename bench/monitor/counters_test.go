package monitor

import (
	"math"
	"testing"
)

func TestSub(t *testing.T) {
	now := Counters{
		CPU: 9, Queue: 8, OtherCPU: 7, MajorFaults: 6, Read: 5, SwapIn: 40, SwapOut: 30,
		MemoryStall: 2, IOStall: 1, CPUStall: 0.5,
	}
	then := Counters{CPU: 1, Queue: 2, OtherCPU: 3, MajorFaults: 4, Read: 5, SwapIn: 6, SwapOut: 7, MemoryStall: 1, IOStall: 1, CPUStall: 0.25}
	want := Counters{CPU: 8, Queue: 6, OtherCPU: 4, MajorFaults: 2, SwapIn: 34, SwapOut: 23, MemoryStall: 1, CPUStall: 0.25}
	if got := now.Sub(then); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A thread that has ended takes its time along.
	if got := then.Sub(now); got.Queue != 0 || got.CPU != 0 || got.OtherCPU != 0 {
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
		{"nothing was swapped in", Counters{Read: 100 * mb, MemoryStall: 5}, 8, 0},
		{"all that was read", Counters{SwapIn: 100 * mb, Read: 100 * mb, MemoryStall: 5}, 8, 8},
		{"a quarter of what was read", Counters{SwapIn: 25 * mb, Read: 100 * mb, MemoryStall: 5}, 8, 2},
		{"what was read is not known", Counters{SwapIn: 25 * mb}, 8, 8},
		{"others swapped", Counters{SwapIn: 25 * mb, Read: mb, MemoryStall: 5}, 0, 0},
		{"no longer than somebody waited, times the threads", Counters{SwapIn: mb, Read: mb, MemoryStall: 0.5}, 8, 2},
		{"more computing than time", Counters{SwapIn: mb, Read: mb}, -1, 0},
	} {
		if got := c.c.SwapStall(c.blocked, 4); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

func TestReadNonsense(t *testing.T) {
	//nolint:staticcheck // the mistake that is tested
	if _, err := Read(nil, 0); err == nil {
		t.Error("no context")
	}
	for _, pid := range []int{-1, 1 << 30} {
		if _, err := Read(t.Context(), pid); err == nil {
			t.Errorf("process %d has counters", pid)
		}
	}
}

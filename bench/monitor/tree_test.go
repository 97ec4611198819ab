package monitor

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"
)

// What a descendant used counts, also after its end; its memory does not.
func TestTree(t *testing.T) {
	c := startChildren(t)
	tr := tree{pid: c.pid}
	before, err := tr.usage(t.Context(), 0)
	if err != nil || before.cpu < childCPU || before.memory < childMemory {
		t.Fatalf("%+v, %v, want at least %v and %d bytes", before, err, childCPU, childMemory)
	}
	c.endWorker(t)
	after, err := tr.usage(t.Context(), refresh)
	if err != nil || after.cpu < before.cpu || after.memory >= before.memory {
		t.Errorf("%+v, %v, and before %+v", after, err, before)
	}
}

// A Monitor of another process has its samples.
func TestOtherProcess(t *testing.T) {
	c := startChildren(t)
	m, err := Start(t.Context(), Options{PID: c.pid, Interval: shortest})
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return m.now() > 2*shortest })
	r := m.Stop()
	if last := r.Samples[len(r.Samples)-1]; last.OwnMemory < childMemory || len(r.Missing) > 0 {
		t.Errorf("%+v", r)
	}
}

// Both ways to find descendants find the same.
func TestScan(t *testing.T) {
	c := startChildren(t)
	for name, find := range map[string]func(context.Context, int) ([]int, error){"scan": scan, "family": family} {
		all, err := find(t.Context(), c.pid)
		if err != nil || len(all) != 2 || all[0] != c.pid || all[1] == c.pid {
			t.Errorf("%s: %v, %v", name, all, err)
		}
		ours, err := find(t.Context(), os.Getpid())
		if err != nil || !slices.Contains(ours, all[1]) {
			t.Errorf("%s: %v, %v lacks %d", name, ours, err, all[1])
		}
	}
}

// The exact memory is measured rarely; in between it follows what is resident.
func TestTreeMemory(t *testing.T) {
	own := []int{os.Getpid()}
	resident := residentMemory(own[0])
	m := treeMemory{shared: 1 << 30, resident: 2 * resident, next: time.Hour} // half of it is gone
	if got := m.of(own, 0); got < 1<<28 || got > 1<<30 {
		t.Errorf("%d bytes: it did not follow", got)
	}
	if got := m.of(own, time.Hour); got <= 1<<20 || m.next <= time.Hour {
		t.Errorf("%d bytes, the next time at %v", got, m.next)
	}
}

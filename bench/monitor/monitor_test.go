package monitor

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/internal/nvml"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// made are sources of a machine that is not there: each second 3 cores are busy, one of them by the process, and 1000 bytes
// are read.
type made struct {
	begin   time.Time
	failing bool
}

func (m *made) elapsed() time.Duration { return time.Since(m.begin) }

func (m *made) usage(context.Context, time.Duration) (usage, error) {
	if m.failing {
		return usage{}, errors.New("it is gone")
	}
	return usage{cpu: m.elapsed(), memory: 77}, nil
}

func (m *made) sources() sources {
	rate := func(perSecond float64) int64 { return int64(m.elapsed().Seconds() * perSecond) }
	return sources{
		machine: func(context.Context) (machine, error) {
			return machine{busy: 3 * m.elapsed(), memory: 500, swap: 60, swapIn: rate(20), swapOut: rate(10)}, nil
		},
		disks: func() (disks, error) { return disks{read: rate(1000), written: rate(2000)}, nil },
		tree:  m,
		gpus:  func() (gpuSource, error) { return nil, nvml.ErrNotInstalled },
		spent: func() time.Duration { return 0 },
	}
}

func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := start(t.Context(), Options{Interval: time.Second}, (&made{begin: time.Now()}).sources())
		time.Sleep(3*time.Second + 500*time.Millisecond)
		if now := m.Seconds(); now != 3.5 {
			t.Errorf("%g s, want 3.5", now)
		}
		r := m.Stop()
		if again := m.Stop(); again != r {
			t.Error("the second Stop returned another record")
		}
		want := Sample{
			Cores: 3, OwnCores: 1, Memory: 500, OwnMemory: 77, Swap: 60, SwapIn: 20, SwapOut: 10, DiskRead: 1000, DiskWrite: 2000,
		}
		for k, at := range []float64{1, 2, 3, 3.5} { // the last one by Stop
			want.At = at
			if k >= len(r.Samples) || !same(r.Samples[k], want) {
				t.Fatalf("sample %d of %+v, want %+v", k, r.Samples, want)
			}
		}
		if len(r.Samples) != 4 || r.Interval != 1 || r.GPUs != nil || r.Missing != nil || r.Sampling != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func same(a, b Sample) bool {
	x, y := a.GPUs, b.GPUs
	a.GPUs, b.GPUs = nil, nil
	return slices.Equal(x, y) && a.At == b.At && a.Cores == b.Cores && a.OwnCores == b.OwnCores && a.Memory == b.Memory &&
		a.OwnMemory == b.OwnMemory && a.Swap == b.Swap && a.SwapIn == b.SwapIn && a.SwapOut == b.SwapOut &&
		a.DiskRead == b.DiskRead && a.DiskWrite == b.DiskWrite
}

// A run that is shorter than the interval has a sample, and the context's end ends the sampling.
func TestShortRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := start(ctx, Options{Interval: time.Hour}, (&made{begin: time.Now()}).sources())
		time.Sleep(time.Millisecond)
		cancel()
		<-m.ended
		if r := m.Stop(); len(r.Samples) != 1 || r.Samples[0].Cores != 3 || r.Samples[0].At != 0.001 || r.Missing != nil {
			t.Errorf("%+v", r)
		}
	})
}

// What cannot be read is said once, and all else is sampled. What comes back has no rate of what was missed.
func TestMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &made{begin: time.Now(), failing: true}
		m := start(t.Context(), Options{Interval: time.Second}, source.sources())
		time.Sleep(2500 * time.Millisecond)
		r := m.Stop()
		if !slices.Equal(r.Missing, []string{"the process: it is gone"}) || r.Samples[1].Cores != 3 || r.Samples[1].OwnCores != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// This process, really: it has memory, and the machine has more.
func TestThisProcess(t *testing.T) {
	m, err := Start(t.Context(), Options{Interval: shortest})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * shortest)
	r := m.Stop()
	if len(r.Samples) == 0 || len(r.Missing) > 0 {
		t.Fatalf("%+v", r)
	}
	for _, s := range r.Samples {
		if s.OwnMemory <= 1<<20 || s.Memory <= 1<<20 || s.Cores < 0 || s.OwnCores < 0 {
			t.Errorf("%+v", s)
		}
	}
	if r.Sampling <= 0 {
		t.Errorf("sampling took %g s", r.Sampling)
	}
}

func TestNonsense(t *testing.T) {
	var none *Monitor
	if none.Stop() != nil || none.Seconds() != 0 || new(Monitor).Stop() != nil {
		t.Error("a Monitor that was not started has samples")
	}
	//nolint:staticcheck // the mistake that is tested
	if _, err := Start(nil, Options{}); err == nil {
		t.Error("no context")
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{PID: -1}, "process -1: give the number"},
		{Options{Interval: -1}, "an interval of -1ns is too short"},
		{Options{Interval: time.Millisecond}, "give at least 10ms"},
		{Options{PID: 1 << 30}, "there is no process 1073741824"},
	} {
		if _, err := Start(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

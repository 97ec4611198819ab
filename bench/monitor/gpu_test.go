package monitor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dsconv/dsconv/internal/nvml"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
)

// until waits for what a goroutine does.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// The samples have the GPUs, by the fake of NVIDIA's library.
func TestGPUs(t *testing.T) {
	fakegpu.Load(t, "devices:2,utilization:80,used:1000,memory:5000")
	m, err := Start(t.Context(), Options{Interval: shortest})
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return m.sampler.gpus.latest() != nil })
	time.Sleep(2 * shortest)
	r := m.Stop()
	gpu := GPU{Name: "Fake GPU", Memory: 5000}
	want := []GPUSample{{Busy: 0.8, Memory: 1000}, {Busy: 0.8, Memory: 2000}}
	if last := r.Samples[len(r.Samples)-1]; !slices.Equal(r.GPUs, []GPU{gpu, gpu}) || !slices.Equal(last.GPUs, want) || len(r.Missing) > 0 {
		t.Errorf("%+v", r)
	}
}

// A GPU that fails is said, and ends its samples.
func TestGPUFails(t *testing.T) {
	for _, modes := range []string{"nvmlInit_v2:9", "nvmlDeviceGetName:15", "nvmlDeviceGetMemoryInfo:15+2"} {
		fakegpu.Load(t, modes)
		m, err := Start(t.Context(), Options{Interval: shortest})
		if err != nil {
			t.Fatal(err)
		}
		<-m.sampler.gpus.ended
		r := m.Stop()
		if len(r.Missing) != 1 || !strings.HasPrefix(r.Missing[0], "GPUs: NVML: ") || r.Samples[len(r.Samples)-1].GPUs != nil {
			t.Errorf("%s: %+v", modes, r)
		}
	}
}

// A driver that never answers is left behind.
func TestGPUHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		from := (&made{begin: time.Now()}).sources()
		from.gpus = func() (gpuSource, error) {
			<-hang
			return nil, errors.New("released")
		}
		m := start(t.Context(), Options{Interval: time.Second}, from)
		time.Sleep(time.Minute)
		begin := time.Now()
		r := m.Stop()
		if took := time.Since(begin); took > patience || len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "did not answer") {
			t.Errorf("after %v: %+v", took, r.Missing)
		}
		close(hang) // so that the test can end
	})
}

// counting is a source of GPUs that notes whether it was closed.
type counting struct {
	asked, closed int
}

func (c *counting) GPUs() ([]nvml.GPU, error) { return make([]nvml.GPU, 1), nil }
func (c *counting) Usage(int) (nvml.Usage, error) {
	c.asked++
	return nvml.Usage{Busy: 0.5}, nil
}

func (c *counting) Close() error {
	c.closed++
	return nil
}

func TestGPUIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counting
		from := (&made{begin: time.Now()}).sources()
		from.gpus = func() (gpuSource, error) { return &c, nil }
		m := start(t.Context(), Options{Interval: time.Second}, from)
		time.Sleep(10*time.Second + time.Millisecond)
		m.Stop()
		if c.asked != 11 || c.closed != 1 {
			t.Errorf("asked %d times, closed %d times", c.asked, c.closed)
		}
	})
}

//go:build linux && cgo

package nvml_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/internal/nvml"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
)

func open(t *testing.T, modes string) *nvml.Library {
	t.Helper()
	fakegpu.Load(t, modes)
	l, err := nvml.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestUsage(t *testing.T) {
	l := open(t, "devices:2,utilization:80,used:1000,memory:5000")
	gpus, err := l.GPUs()
	if err != nil || len(gpus) != 2 || gpus[1] != (nvml.GPU{Name: "Fake GPU", Memory: 5000}) {
		t.Fatalf("%v, %v", gpus, err)
	}
	for number, want := range []nvml.Usage{{Busy: 0.8, Memory: 1000}, {Busy: 0.8, Memory: 2000}} {
		if got, err := l.Usage(number); err != nil || got != want {
			t.Errorf("GPU %d: %+v, %v, want %+v", number, got, err, want)
		}
	}
	for _, number := range []int{-1, 2} {
		if _, err := l.Usage(number); err == nil || !strings.Contains(err.Error(), "this machine has 2") {
			t.Errorf("GPU %d: %v", number, err)
		}
	}
}

// A GPU in parts (MIG) has no utilisation; its memory is still known.
func TestNoUtilization(t *testing.T) {
	l := open(t, "nvmlDeviceGetUtilizationRates:3")
	if got, err := l.Usage(0); err != nil || got.Busy != -1 || got.Memory == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every function that fails is an error with NVML's words, and what was started is ended (fakegpu.Load).
func TestFailures(t *testing.T) {
	for _, c := range []struct{ function, want string }{
		{"nvmlInit_v2:9", "Driver Not Loaded"},
		{"nvmlDeviceGetCount_v2:15", "start: GPU is lost"},
		{"nvmlDeviceGetHandleByIndex_v2:15", "GPU 0: GPU is lost"},
		{"nvmlDeviceGetName:15", "describe GPU 0: GPU is lost"},
		{"nvmlDeviceGetMemoryInfo:15", "GPU 0: GPU is lost"},
		{"nvmlDeviceGetUtilizationRates:15", "utilisation of GPU 0: GPU is lost (15); see that nvidia-smi works"},
	} {
		t.Run(c.function, func(t *testing.T) {
			fakegpu.Load(t, c.function)
			if err := use(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func use() error {
	l, err := nvml.Open()
	if err != nil {
		return err
	}
	_, err = l.GPUs()
	if err == nil {
		_, err = l.Usage(0)
	}
	return errors.Join(err, l.Close())
}

// Calls beside and after Close fail, and call nothing that was freed.
func TestClose(t *testing.T) {
	l := open(t, "")
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for {
				if _, err := l.Usage(0); err != nil {
					return
				}
			}
		})
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	g.Wait()
	if _, err := l.GPUs(); err == nil {
		t.Error("GPUs after Close")
	}
}

func TestOpenWithoutLibrary(t *testing.T) {
	nvml.SetLibrary(t, "libnvidia-that-is-not-there.so.1")
	if _, err := nvml.Open(); !errors.Is(err, nvml.ErrNotInstalled) || !strings.Contains(err.Error(), "--gpus all") {
		t.Error(err)
	}
	nvml.SetLibrary(t, "libm.so.6")
	if _, err := nvml.Open(); err == nil || errors.Is(err, nvml.ErrNotInstalled) || !strings.Contains(err.Error(), "libm.so.6: it has no function nvmlInit_v2") {
		t.Error(err)
	}
}

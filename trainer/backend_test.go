package trainer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What is missing is named, with what provides it.
func TestBackendErrors(t *testing.T) {
	dir := t.TempDir()
	missing, text := filepath.Join(dir, "no such plugin.so"), filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		backend string
		is      error
		want    []string
	}{
		{"tpu", ErrUnknownBackend, []string{`"tpu"`, "go, xla:PATH"}},
		{"go:parallelism=1", ErrUnknownBackend, []string{"go, xla:PATH"}},
		{"xla", ErrUnknownBackend, []string{"xla:PATH"}},
		{"xla:", ErrUnknownBackend, []string{"xla:PATH"}},
		{"xla:" + missing, fs.ErrNotExist, []string{missing}},
		{"xla:" + missing + ",tf32=false", fs.ErrNotExist, []string{missing}},
		{"xla:" + dir, nil, []string{dir, "not a file"}},
		{"xla:" + text, nil, []string{text + " cannot be loaded"}},
	} {
		_, err := New(Config{Backend: c.backend}, [3]int{8, 8, 3}, 2)
		if err == nil {
			t.Errorf("%s: no error", c.backend)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v is not %v", c.backend, err, c.is)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.backend, err, want)
			}
		}
	}
}

// A library that is no plugin is called that.
func TestOtherLibraryAsPlugin(t *testing.T) {
	maps, _ := os.ReadFile("/proc/self/maps")
	library := regexp.MustCompile(`/\S*/libc\.so\S*`).Find(maps)
	if library == nil {
		t.Skip("this process has no C library")
	}
	_, err := New(Config{Backend: "xla:" + string(library)}, [3]int{8, 8, 3}, 2)
	if err == nil || !strings.Contains(err.Error(), string(library)+": it is another library, not a PJRT plugin") {
		t.Error(err)
	}
}

// cpuPlugin is the path of a PJRT plugin for the CPU: DSCONV_XLA_PLUGIN, or that of the Python packages.
func cpuPlugin(t *testing.T) string {
	t.Helper()
	if plugin := os.Getenv("DSCONV_XLA_PLUGIN"); plugin != "" {
		return plugin
	}
	python := os.Getenv("DSCONV_PYTHON")
	if python == "" {
		t.Skip("DSCONV_XLA_PLUGIN and DSCONV_PYTHON are not set")
	}
	root := filepath.Dir(filepath.Dir(python))
	found, _ := filepath.Glob(filepath.Join(root, "lib/python3*/site-packages/*/pjrt_c_api_cpu_plugin.so"))
	if len(found) == 0 {
		t.Skip("no package there has a PJRT plugin for the CPU")
	}
	return found[0]
}

// A folder's name does not make a GPU's plugin one that shares the host's memory.
func TestConfigOfXLA(t *testing.T) {
	for _, c := range [][3]string{
		{"/envs/cpu/xla_cuda_plugin.so", "", "/envs/cpu/xla_cuda_plugin.so,noshared_buffers"},
		{"/x/xla_cuda_plugin.so", "tf32=false", "/x/xla_cuda_plugin.so,noshared_buffers,tf32=false"},
		{"/x/xla_cuda_plugin.so", "shared_buffers", "/x/xla_cuda_plugin.so,shared_buffers"},
		{"/x/pjrt_c_api_cpu_plugin.so", "", "/x/pjrt_c_api_cpu_plugin.so"},
		{"/x/pjrt_c_api_cpu_plugin.so", "tf32=false", "/x/pjrt_c_api_cpu_plugin.so,tf32=false"},
	} {
		if got := xlaConfig(c[0], c[1]); got != c[2] {
			t.Errorf("%s with %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// JAX's plugin for CUDA, which DSCONV_XLA_CUDA_PLUGIN names, says on a machine without a GPU what is missing.
func TestCUDAPluginWithoutGPU(t *testing.T) {
	plugin := os.Getenv("DSCONV_XLA_CUDA_PLUGIN")
	if plugin == "" {
		t.Skip("DSCONV_XLA_CUDA_PLUGIN is not set")
	}
	if found, _ := filepath.Glob("/dev/nvidia[0-9]*"); len(found) > 0 {
		t.Skip("there is a GPU here")
	}
	_, err := New(Config{Backend: "xla:" + plugin}, [3]int{8, 8, 3}, 2)
	if !errors.Is(err, ErrNoBackend) || !strings.Contains(err.Error(), plugin+" sees no GPU") || !strings.Contains(err.Error(), "driver") {
		t.Errorf("without a GPU: %v", err)
	}
}

// Each model learns on XLA, from checkpoints that the pure-Go backend reads.
func TestXLA(t *testing.T) {
	plugin := cpuPlugin(t)
	for _, model := range Models() {
		train := &memory{samples: 400, batch: 32, side: 16, classes: 4, draw: ramps}
		val := &memory{samples: 100, batch: 32, side: 16, classes: 4, draw: ramps, offset: 1000}
		c := Config{Model: model, Backend: "xla:" + plugin, Epochs: 5}
		c.Checkpoint.Path = filepath.Join(t.TempDir(), "run.safetensors")
		r, err := runWith(t.Context(), train, val, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := r.Epochs[4].Val.Accuracy; a < 0.95 {
			t.Errorf("%s: accuracy %v", model, a)
		}
		compareOnGo(t, c, train, val, r.Epochs[4].Val.Accuracy)
	}
}

// compareOnGo measures the weights of a run on the pure-Go backend.
func compareOnGo(t *testing.T, c Config, train, val *memory, want float64) {
	t.Helper()
	c.Backend = "go"
	on, err := New(c, train.ImageShape(), train.classes)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	if _, err := on.Load(c.Checkpoint.Path); err != nil {
		t.Fatal(err)
	}
	m, err := on.Evaluate(t.Context(), val)
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Accuracy - want; d < -0.03 || d > 0.03 {
		t.Errorf("%s: accuracy %v on the pure-Go backend, %v on XLA", c.Model, m.Accuracy, want)
	}
}

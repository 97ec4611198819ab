package trainer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// touch makes an empty file below a folder.
func touch(t *testing.T, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Plugins are found in the places in their order, and the newest of a place is taken.
func TestFindPlugin(t *testing.T) {
	dir := t.TempDir()
	home := touch(t, dir, "home/.local/lib/go-xla/pjrt_c_api_cuda_plugin.so")
	cpu := touch(t, dir, "venv/lib/python3.11/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")
	touch(t, dir, "venv/lib/python3.11/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so")
	venv := touch(t, dir, "venv/lib/python3.11/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	wheel := touch(t, dir, "wheel/lib/python3.11/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	named := touch(t, dir, "named/xla_cuda_plugin.so")
	s := pluginSearch{}
	env := map[string]string{}
	s.getenv = func(name string) string { return env[name] }
	expect := func(kind, want string) {
		t.Helper()
		got, err := s.find(kind)
		if got != want || (want == "") != errors.Is(err, ErrNoBackend) {
			t.Errorf("xla:%s: %q, %v; want %q", kind, got, err, want)
		}
	}
	expect("cuda", "")
	env["HOME"] = filepath.Join(dir, "home")
	expect("cuda", home)
	env["CONDA_PREFIX"] = filepath.Join(dir, "venv")
	expect("cuda", venv)
	expect("cpu", cpu)
	env["CONDA_PREFIX"], env["VIRTUAL_ENV"] = "", filepath.Join(dir, "venv")
	expect("cuda", venv)
	s.program = filepath.Join(dir, "wheel/lib/python3.11/site-packages/dsconv/bin/dsconv")
	expect("cuda", wheel)
	expect("cpu", cpu)
	env["PJRT_PLUGIN_LIBRARY_PATH"] = "relative:" + filepath.Join(dir, "empty") + ":" + filepath.Join(dir, "named")
	expect("cuda", named)
}

// XLA is told where pip put CUDA, unless the caller told it something else.
func TestXLALearnsWhereCUDAIs(t *testing.T) {
	site := filepath.Join(t.TempDir(), "site-packages")
	plugin := touch(t, site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	t.Setenv("CUDA_HOME", "")
	t.Setenv("CUDA_PATH", "")
	touch(t, site, "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc") // CUDA 12's
	if got, want := cudaData(touch(t, site, "jax_plugins/xla_cuda12/xla_cuda_plugin.so")), site+"/nvidia/cuda_nvcc"; got != want {
		t.Errorf("CUDA 12 is in %q, want %q", got, want)
	}
	for _, c := range []struct{ before, after string }{
		{"", ""}, // nothing is installed yet
		{"", "--xla_gpu_cuda_data_dir=" + site + "/nvidia/cu13"},
		{"--xla_dump_to=x", "--xla_dump_to=x --xla_gpu_cuda_data_dir=" + site + "/nvidia/cu13"},
		{"--xla_gpu_cuda_data_dir=/mine", "--xla_gpu_cuda_data_dir=/mine"},
	} {
		t.Setenv("XLA_FLAGS", c.before)
		if err := setCUDAData(plugin); err != nil {
			t.Fatal(err)
		}
		if got := os.Getenv("XLA_FLAGS"); got != c.after {
			t.Errorf("XLA_FLAGS %q becomes %q, want %q", c.before, got, c.after)
		}
		touch(t, site, "nvidia/cu13/nvvm/libdevice/libdevice.10.bc")
	}
}

// A toolkit in another place than XLA's is found by the environment, behind what pip put beside the plugin.
func TestXLALearnsOfTheToolkit(t *testing.T) {
	site, toolkit := t.TempDir(), t.TempDir()
	plugin := touch(t, site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	t.Setenv("CUDA_HOME", site) // which has none
	t.Setenv("CUDA_PATH", toolkit)
	touch(t, toolkit, "nvvm/libdevice/libdevice.10.bc")
	if got := cudaData(plugin); got != toolkit {
		t.Errorf("CUDA is in %q, want %q", got, toolkit)
	}
	touch(t, site, "nvidia/cu13/nvvm/libdevice/libdevice.10.bc")
	if got, want := cudaData(plugin), filepath.Join(site, "nvidia/cu13"); got != want {
		t.Errorf("CUDA is in %q, want %q", got, want)
	}
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

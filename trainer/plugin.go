package trainer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pluginKind is a kind of PJRT plugin that is looked for by its name.
type pluginKind struct {
	files    []string // names, as patterns, in a folder of plugins
	packaged []string // where Python packages have it
	provides string   // what has it
}

var pluginKinds = map[string]pluginKind{
	"cuda": {
		files:    []string{"pjrt_c_api_cuda*_plugin.so", "xla_cuda_plugin.so"},
		packaged: []string{"jax_plugins/xla_cuda*/xla_cuda_plugin.so"},
		provides: `pip install "jax[cuda13]", or "jax[cuda12]" for an older driver`,
	},
	"cpu": {
		files:    []string{"pjrt_c_api_cpu*_plugin.so"},
		packaged: []string{"*/pjrt_c_api_cpu_plugin.so"},
		provides: "pip install lammps-jax-pjrt-cpu",
	},
}

// pluginSearch is where plugins are looked for.
type pluginSearch struct {
	getenv  func(name string) string
	program string // path of the running program
}

func newPluginSearch() pluginSearch {
	program, _ := os.Executable() // without it one place less
	return pluginSearch{os.Getenv, program}
}

// find returns the newest plugin of a kind in the first place that has one. ErrNoBackend is in the error's chain if there
// is none.
func (s pluginSearch) find(kind string) (string, error) {
	k := pluginKinds[kind]
	var patterns []string
	for _, place := range filepath.SplitList(s.getenv("PJRT_PLUGIN_LIBRARY_PATH")) {
		patterns = append(patterns, within(place, k.files)...)
	}
	for _, folder := range s.packages() {
		patterns = append(patterns, within(folder, k.packaged)...)
	}
	for _, folder := range []string{filepath.Join(s.getenv("HOME"), ".local/lib/go-xla"), "/usr/local/lib/go-xla"} {
		patterns = append(patterns, within(folder, k.files)...)
	}
	for _, pattern := range patterns {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return slices.Max(found), nil
		}
	}
	return "", fmt.Errorf("%w: no PJRT plugin for xla:%s was found: %s, set PJRT_PLUGIN_LIBRARY_PATH to its folder, or give its path as xla:PATH",
		ErrNoBackend, kind, k.provides)
}

// within returns the patterns in a folder; none in a relative one.
func within(folder string, patterns []string) (in []string) {
	for _, p := range patterns {
		if filepath.IsAbs(folder) {
			in = append(in, filepath.Join(folder, p))
		}
	}
	return in
}

// packages are folders of Python packages: those that the program lies in if it is dsconv's wheel's, and those of an
// active environment.
func (s pluginSearch) packages() (folders []string) {
	// site-packages/dsconv/bin/dsconv
	if site := filepath.Dir(filepath.Dir(filepath.Dir(s.program))); filepath.Base(site) == "site-packages" {
		folders = append(folders, site)
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := s.getenv(name); root != "" {
			found, _ := filepath.Glob(filepath.Join(root, "lib/python3*/site-packages"))
			folders = append(folders, found...)
		}
	}
	return folders
}

// cudaData is the folder that pip put CUDA's compiler into beside JAX's plugin, else that of the toolkit that the
// environment names, "" if there is none: XLA looks for it in /usr/local/cuda only, unless it is told.
func cudaData(plugin string) string {
	folder := filepath.Dir(plugin) // site-packages/jax_plugins/xla_cuda13
	version := strings.TrimPrefix(filepath.Base(folder), "xla_cuda")
	name := "cu" + version
	if version == "12" {
		name = "cuda_nvcc"
	}
	packaged := filepath.Join(filepath.Dir(filepath.Dir(folder)), "nvidia", name)
	for _, data := range []string{packaged, os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH")} {
		if _, err := os.Stat(filepath.Join(data, "nvvm/libdevice")); err == nil && filepath.IsAbs(data) {
			return data
		}
	}
	return ""
}

// setCUDAData tells XLA where CUDA is, as JAX does: by XLA_FLAGS, which XLA reads once in the process. There is no other
// way. What the caller set stays.
func setCUDAData(plugin string) error {
	const name, flag = "XLA_FLAGS", "--xla_gpu_cuda_data_dir"
	flags, folder := os.Getenv(name), cudaData(plugin)
	if folder == "" || strings.Contains(flags, flag) {
		return nil
	}
	return os.Setenv(name, strings.TrimSpace(flags+" "+flag+"="+folder))
}

// checkPlugin returns an error if path is not a file.
func checkPlugin(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("XLA plugin: %w", err)
	}
	if info.Mode()&fs.ModeType != 0 {
		return fmt.Errorf("XLA plugin %s: not a file; give the path of the plugin, such as xla_cuda_plugin.so", path)
	}
	return nil
}

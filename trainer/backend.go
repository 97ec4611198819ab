package trainer

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// openBackend starts the backend of that name and returns its fastest convolution.
func openBackend(name string) (compute.Backend, convolution, error) {
	kind, plugin, _ := strings.Cut(name, ":")
	switch {
	case name == "go":
		b, err := gobackend.New("")
		return b, im2col, err
	case kind == "xla":
		b, err := openPlugin(plugin)
		return b, nativeConvolution, err
	}
	return nil, nil, fmt.Errorf("%w %q; known: go, xla:PLUGIN (cuda, cpu, or the path of a PJRT plugin)", ErrUnknownBackend, name)
}

// openPlugin loads the PJRT plugin that config names: cuda, cpu or a path and, after a comma, options.
// The path is found here because XLA would otherwise search for a plugin, or download one.
func openPlugin(config string) (compute.Backend, error) {
	path, options, _ := strings.Cut(config, ",")
	kind := path
	if path == "" {
		return nil, fmt.Errorf("%w \"xla\" without a plugin: give xla:PLUGIN: cuda, cpu, or the path of a PJRT plugin", ErrUnknownBackend)
	}
	if _, ok := pluginKinds[kind]; ok {
		var err error
		if path, err = newPluginSearch().find(kind); err != nil {
			return nil, err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	if err := checkPlugin(path); err != nil {
		return nil, err
	}
	if err := setCUDAData(path); err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	b, err := openXLA(xlaConfig(path, options))
	if err != nil && strings.Contains(err.Error(), noGPU) {
		return nil, fmt.Errorf("%w: XLA plugin %s sees no GPU: it needs an NVIDIA GPU and its driver; dsconv doctor says what this machine has", ErrNoBackend, path)
	}
	if err != nil && strings.Contains(err.Error(), pluginFunction) {
		return nil, fmt.Errorf("XLA plugin %s: it is another library, not a PJRT plugin", path)
	}
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s cannot be loaded: %w", path, err)
	}
	return b, nil
}

// xlaConfig is the plugin's path with its options. go-xla takes each path with "cpu" in it for that of the CPU's plugin,
// a folder's name too, and then shares the host's memory with the device: a GPU cannot.
func xlaConfig(path, options string) string {
	if strings.Contains(filepath.Base(path), "cuda") && !strings.Contains(options, "shared_buffers") {
		options = strings.TrimSuffix("noshared_buffers,"+options, ",")
	}
	return strings.TrimSuffix(path+","+options, ",")
}

const (
	// noGPU is in what the CUDA plugin says without a driver or a GPU.
	noGPU = "No visible GPU devices"
	// pluginFunction is the function that each plugin has; an error that names it says that it is missing.
	pluginFunction = "GetPjrtApi"
)

package trainer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// openBackend starts the backend of that name and returns its fastest convolution.
func openBackend(name string) (compute.Backend, convolution, error) {
	plugin, isXLA := strings.CutPrefix(name, "xla:")
	switch {
	case name == "go":
		b, err := gobackend.New("")
		return b, im2col, err
	case isXLA && plugin != "":
		b, err := openPlugin(plugin)
		return b, nativeConvolution, err
	}
	return nil, nil, fmt.Errorf("%w %q; known: go, xla:PATH with the path of a PJRT plugin", ErrUnknownBackend, name)
}

// openPlugin loads the PJRT plugin that config names: its path and, after a comma, options.
func openPlugin(config string) (compute.Backend, error) {
	path, options, _ := strings.Cut(config, ",")
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	info, err := os.Stat(path) // XLA would search for a plugin that is not there, or download one
	if err == nil && info.Mode()&fs.ModeType != 0 {
		err = errors.New("not a file; give the path of the plugin, such as xla_cuda_plugin.so")
	}
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	b, err := openXLA(xlaConfig(path, options))
	switch {
	case err == nil:
		return b, nil
	case strings.Contains(err.Error(), "No visible GPU devices"): // the CUDA plugin
		return nil, fmt.Errorf("%w: XLA plugin %s sees no GPU: it needs an NVIDIA GPU and its driver; dsconv doctor says what this machine has", ErrNoBackend, path)
	case strings.Contains(err.Error(), "GetPjrtApi"): // the function that each plugin has
		return nil, fmt.Errorf("XLA plugin %s: it is another library, not a PJRT plugin", path)
	}
	return nil, fmt.Errorf("XLA plugin %s cannot be loaded: %w", path, err)
}

// xlaConfig is the plugin's path with its options. go-xla takes each path with "cpu" in it for that of the CPU's plugin,
// a folder's name too, and then shares the host's memory with the device: a GPU cannot.
func xlaConfig(path, options string) string {
	if strings.Contains(filepath.Base(path), "cuda") && !strings.Contains(options, "shared_buffers") {
		options = strings.TrimSuffix("noshared_buffers,"+options, ",")
	}
	return strings.TrimSuffix(path+","+options, ",")
}

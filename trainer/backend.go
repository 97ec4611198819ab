package trainer

import (
	"fmt"
	"os"
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
	return nil, nil, fmt.Errorf("%w %q; known: go, xla:PLUGIN (the path of a PJRT plugin)", ErrUnknownBackend, name)
}

// openPlugin loads the PJRT plugin that config names: a path and, after a comma, options.
// The path is checked here because XLA would otherwise search for a plugin, or download one.
func openPlugin(config string) (compute.Backend, error) {
	path, options, _ := strings.Cut(config, ",")
	if path == "" {
		return nil, fmt.Errorf("%w \"xla\" without a plugin: give xla:PLUGIN, the path of a PJRT plugin", ErrUnknownBackend)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("XLA plugin: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("XLA plugin %s: not a file", path)
	}
	b, err := openXLA(strings.TrimSuffix(path+","+options, ","))
	if err != nil {
		return nil, fmt.Errorf("XLA plugin %s: %w", path, err)
	}
	return b, nil
}

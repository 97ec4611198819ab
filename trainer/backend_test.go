package trainer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		{"tpu", ErrUnknownBackend, []string{`"tpu"`, "go, xla:PLUGIN"}},
		{"go:parallelism=1", ErrUnknownBackend, []string{"go, xla:PLUGIN"}},
		{"xla", ErrUnknownBackend, []string{"xla:PLUGIN"}},
		{"xla:" + missing, fs.ErrNotExist, []string{missing}},
		{"xla:" + missing + ",tf32=false", fs.ErrNotExist, []string{missing}},
		{"xla:" + dir, nil, []string{dir, "not a file"}},
		{"xla:" + text, nil, []string{text}},
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

// TestXLA trains on the CPU plugin that DSCONV_XLA_PLUGIN names.
func TestXLA(t *testing.T) {
	plugin := os.Getenv("DSCONV_XLA_PLUGIN")
	if plugin == "" {
		t.Skip("DSCONV_XLA_PLUGIN is not set")
	}
	for _, model := range Models() {
		train := &memory{samples: 400, batch: 32, side: 16, classes: 4, draw: ramps}
		val := &memory{samples: 100, batch: 32, side: 16, classes: 4, draw: ramps, offset: 1000}
		r, err := runWith(t.Context(), train, val, Config{Model: model, Backend: "xla:" + plugin, Epochs: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := r.Epochs[4].Val.Accuracy; a < 0.95 {
			t.Errorf("%s: accuracy %v", model, a)
		}
	}
}

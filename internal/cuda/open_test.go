//go:build linux && cgo

package cuda

import (
	"errors"
	"strings"
	"testing"
)

// Without a driver, or with a library that is none, the error says so and what to do.
func TestOpenWithoutDriver(t *testing.T) {
	before := library
	t.Cleanup(func() { library = before })
	for _, c := range []struct{ library, want string }{
		{"libcuda-that-is-not-there.so.1", "install it, or start the container with --gpus all"},
		{"libm.so.6", "it has no function cuInit"},
	} {
		library = c.library
		_, err := Open()
		if !errors.Is(err, errNoDriver) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.library) {
			t.Errorf("%s: %v, want %q", c.library, err, c.want)
		}
	}
}

func TestErrorIs(t *testing.T) {
	for code, want := range map[int]error{outOfMemory: ErrMemory, 700: ErrLost, 719: ErrLost, forked: errForked, 1: nil} {
		err := error(&failure{code: code, name: "CUDA_ERROR", text: "text", doing: "test"})
		for _, kind := range []error{ErrMemory, ErrLost, errForked} {
			if errors.Is(err, kind) != errors.Is(kind, want) {
				t.Errorf("%v: is %v: %v", err, kind, errors.Is(err, kind))
			}
		}
	}
}

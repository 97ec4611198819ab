package formatcheck

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// NotBuilt checks, in a build without cgo, a format whose writer needs cgo: it still matches
// path, and the writer's errors name the path and say what to do.
func NotBuilt(t *testing.T, f formats.WritableFormat, path string) {
	_, create := f.Create(path, formats.Meta{}, formats.CreateOptions{})
	_, _, _, resume := f.Resume(path, formats.CreateOptions{})
	if err := formats.CheckBuilt(f); !errors.Is(err, formats.ErrNotBuilt) || !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Errorf("CheckBuilt: %v", err)
	}
	for _, err := range []error{create, resume} {
		if !errors.Is(err, formats.ErrNotBuilt) || !strings.Contains(err.Error(), "CGO_ENABLED=1") || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	}
	if !f.Match(path) {
		t.Error("the path does not match")
	}
}

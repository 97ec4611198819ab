//go:build !cgo

package hdf5

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) {
	_, open := Format{}.Open("x.h5")
	_, create := Format{}.Create("x.h5", formats.Meta{}, formats.CreateOptions{})
	_, _, _, resume := Format{}.Resume("x.h5", formats.CreateOptions{})
	for _, err := range []error{open, create, resume} {
		if !errors.Is(err, formats.ErrNotBuilt) || !strings.Contains(err.Error(), "CGO_ENABLED=1") || !strings.Contains(err.Error(), "x.h5") {
			t.Errorf("got %v", err)
		}
	}
	if !(Format{}).Match("x.h5") {
		t.Error("the path does not match")
	}
}

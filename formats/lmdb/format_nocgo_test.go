//go:build !cgo

package lmdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) {
	_, open := Format{}.Open("x.lmdb")
	_, create := Format{}.Create("x.lmdb", formats.Meta{}, formats.CreateOptions{})
	_, _, _, resume := Format{}.Resume("x.lmdb", formats.CreateOptions{})
	for _, err := range []error{open, create, resume} {
		if !errors.Is(err, formats.ErrNotBuilt) || !strings.Contains(err.Error(), "CGO_ENABLED=1") || !strings.Contains(err.Error(), "x.lmdb") {
			t.Errorf("got %v", err)
		}
	}
	if !(Format{}).Match("x.lmdb") {
		t.Error("the path does not match")
	}
}

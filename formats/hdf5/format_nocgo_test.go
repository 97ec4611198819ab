//go:build !cgo

package hdf5

import (
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) { formatcheck.NotBuilt(t, Format{}, "x.h5") }

//go:build !cgo

package hdf5

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) { formattest.NotBuilt(t, Format{}, "x.h5") }

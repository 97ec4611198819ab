//go:build !cgo

package lmdb

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) { formattest.NotBuilt(t, Format{}, "x.lmdb") }

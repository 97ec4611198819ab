//go:build !cgo

package lmdb

import (
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestNotBuiltSaysWhatToDo(t *testing.T) { formatcheck.NotBuilt(t, Format{}, "x.lmdb") }

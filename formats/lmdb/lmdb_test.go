//go:build cgo

package lmdb

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.lmdb") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.lmdb") }

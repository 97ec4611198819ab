//go:build cgo

package hdf5

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.h5") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.h5") }

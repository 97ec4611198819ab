//go:build cgo

package hdf5

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestMain(m *testing.M) {
	big.Child()
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.h5") }

func TestSIGKILL(t *testing.T) { big.Kill(t, "x.h5") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.h5") }

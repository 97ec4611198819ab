//go:build cgo

package lmdb

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestMain(m *testing.M) {
	big.Child()
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.lmdb") }

func TestSIGKILL(t *testing.T) { big.Kill(t, "x.lmdb") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.lmdb") }

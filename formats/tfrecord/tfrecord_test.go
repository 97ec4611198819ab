package tfrecord

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{"x.tfrecord", "x-%05d.tfrecords"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	formatcheck.WriteAllocatesNothing(t, Format{}, "x.tfrecord", testMeta, testSample())
}

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x-%05d.tfrecord") }

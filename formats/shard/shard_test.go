package shard

import (
	"testing"

	"github.com/dsconv/dsconv/formats/formattest"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{"x-%03d.tar", "x.tar.zst"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func BenchmarkPlain(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar") }

func BenchmarkCompressed(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar.zst") }

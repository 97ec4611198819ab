package shard

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{"x-%03d.tar", "x.tar.zst"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	s := stereoSample("")
	s.Columns = nil
	for _, name := range []string{"x.tar", "x.tar.zst"} {
		formatcheck.WriteAllocatesNothing(t, Format{}, name, formats.Meta{Schema: fuzzMeta.Schema}, s)
	}
}

func BenchmarkPlain(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar") }

func BenchmarkCompressed(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar.zst") }

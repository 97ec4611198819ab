package shard

import (
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{"x-%03d.tar", "x.tar.zst"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	for _, name := range []string{"x.tar", "x.tar.zst"} {
		m := formats.Meta{Schema: fuzzMeta.Schema}
		w, err := Format{}.Create(t.TempDir()+"/"+name, m, formats.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := stereoSample("")
		s.Columns = nil
		keys := make([]string, 2000)
		for i := range keys {
			keys[i] = fmt.Sprintf("class/%05d", i)
		}
		i := 0
		if n := testing.AllocsPerRun(len(keys)-1, func() {
			s.Key = keys[i]
			i++
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations a sample", name, n)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkPlain(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar") }

func BenchmarkCompressed(b *testing.B) { formattest.Bench(b, Format{}, "x-%03d.tar.zst") }

package tfrecord

import (
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{"x.tfrecord", "x-%05d.tfrecords"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	w, err := Format{}.Create(t.TempDir()+"/x.tfrecord", testMeta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := testSample()
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
		t.Errorf("%v allocations a sample", n)
	}
}

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x-%05d.tfrecord") }

package conformance

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Bench measures writing, reading and viewing 2,000 samples of about 30 KB. Write counts
// a whole dataset an operation, Read and View one sample in random order.
func Bench(b *testing.B, f formats.WritableFormat, name string) {
	s := suite{format: f, name: name}
	schema := photos(0).schema
	c := newSet(schema, 2000, func(r *rand.Rand, i int) []formats.Value {
		return []formats.Value{encoded(r, formats.JPEG, 20_000+r.IntN(20_000)), label(int64(i % 3))}
	})
	var size int64
	for i := range c.samples {
		size += int64(len(c.samples[i].Values[0].Data))
	}
	b.Run("Write", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		dir, order := b.TempDir(), c.order(f.Traits().Ordered)
		for b.Loop() {
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
				b.Fatal(err)
			}
			w := s.create(b, s.path(filepath.Join(dir, "d")), c, formats.CreateOptions{})
			for _, i := range order {
				if err := w.Write(&c.samples[i]); err != nil {
					b.Fatal(err)
				}
			}
			commit(b, w)
			if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
				b.Fatal(err)
			}
		}
	})
	ds := s.open(b, s.write(b, c))
	each := func(read func(int, *formats.Sample) error) func(*testing.B) {
		return func(b *testing.B) {
			b.SetBytes(size / int64(len(c.samples)))
			b.ReportAllocs()
			r := rand.New(rand.NewPCG(1, 1))
			var smp formats.Sample
			for b.Loop() {
				if err := read(r.IntN(len(c.samples)), &smp); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("Read", each(ds.Read))
	if v, ok := ds.(formats.Viewer); ok {
		b.Run("View", each(v.View))
	}
}

package guard

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// BenchmarkRead is the cost when nothing fails.
func BenchmarkRead(b *testing.B) {
	memory, n := make([]byte, 100), 0
	for b.Loop() {
		if err := Read(memory, func() error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDo(b *testing.B) {
	n := 0
	for b.Loop() {
		if err := Do(func() error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	memory := make([]byte, 100)
	for b.Loop() {
		if err := Check(Now(), memory); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSampleShortened is the cost per sample of a file that is whole.
func BenchmarkSampleShortened(b *testing.B) {
	_, memory := mapped(b, 3)
	s := formats.Sample{Values: make([]formats.Value, 2)}
	s.Values[0].Data, s.Values[1].Data = memory[:100], memory[100:108]
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := SampleShortened(&s); err != nil {
				b.Error(err)
			}
		}
	})
}

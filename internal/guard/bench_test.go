package guard

import "testing"

// BenchmarkRead is what it costs where nothing goes wrong.
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

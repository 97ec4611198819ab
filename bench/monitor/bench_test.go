package monitor

import (
	"context"
	"os"
	"testing"
	"time"
)

// BenchmarkSample is what happens five times a second.
func BenchmarkSample(b *testing.B) {
	begin := time.Now()
	idle := gpuWatch{}
	s := sampler{from: newSources(os.Getpid()), gpus: &idle, clock: func() time.Duration { return time.Since(begin) }}
	for b.Loop() {
		s.read(context.Background())
	}
	b.ReportMetric(float64(s.spent.Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkRead is what happens before and after a round.
func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := Read(context.Background(), 0); err != nil {
			b.Fatal(err)
		}
	}
}

package bench

import (
	"math"
	"runtime/metrics"
)

// goroutinesQueued estimates the seconds, summed over goroutines, in which they were ready to run and waited for one of GOMAXPROCS, since
// the program started. The threads that run goroutines do not count this time: to the kernel, it does not exist.
func goroutinesQueued() float64 {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	return tracked * sumOf(sample[0].Value.Float64Histogram())
}

// tracked is how many waits there are for each that the runtime measures (its gTrackingPeriod).
const tracked = 8

// sumOf estimates the sum of a histogram's values: each is taken for the middle of its bucket, whose limits are
// close together.
func sumOf(h *metrics.Float64Histogram) (sum float64) {
	for i, n := range h.Counts {
		low, high := h.Buckets[i], h.Buckets[i+1]
		if n == 0 {
			continue
		}
		if math.IsInf(low, -1) {
			low = high
		}
		if math.IsInf(high, 1) {
			high = low
		}
		sum += float64(n) * (low + high) / 2
	}
	return sum
}

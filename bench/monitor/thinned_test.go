package monitor

import (
	"math"
	"testing"
	"time"
)

// However many samples come, the record stays small, covers all of the time, and its means and maxima are those of the samples.
func TestThinned(t *testing.T) {
	for _, n := range []int{1, maxSamples, maxSamples + 1, 10 * maxSamples} {
		th := thinned{interval: time.Second}
		var cores, most float64
		for k := range n {
			s := Sample{At: float64(k + 1), Cores: float64(k % 7), DiskRead: float64(100 * k), Memory: int64(k * k % 1001)}
			cores, most = cores+s.Cores, max(most, float64(s.Memory))
			th.add(s)
		}
		if len(th.samples) > maxSamples || th.samples[len(th.samples)-1].At != float64(n) {
			t.Errorf("%d samples, of %d; the last at %g", len(th.samples), n, th.samples[len(th.samples)-1].At)
		}
		var sum, weight, found float64
		last := 0.0
		for _, s := range th.samples {
			sum += s.Cores * (s.At - last)
			weight += s.At - last
			last, found = s.At, max(found, float64(s.Memory))
		}
		if weight != float64(n) || math.Abs(sum-cores) > 0.01*float64(n) || found != most {
			t.Errorf("%d samples: cores add up to %g, want %g; most memory %g, want %g", n, sum, cores, found, most)
		}
	}
}

func TestMergeGPUs(t *testing.T) {
	gpus := func(busy float64, memory int64) Sample {
		return Sample{GPUs: []GPUSample{{Busy: busy, Memory: memory}}}
	}
	a := gpus(0.2, 100)
	for _, c := range []struct {
		b    Sample
		want GPUSample
	}{
		{gpus(0.6, 50), GPUSample{Busy: 0.4, Memory: 100}},
		{gpus(-1, 50), GPUSample{Busy: -1, Memory: 100}},
	} {
		if got := merge(a, c.b).GPUs[0]; got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if c.b.GPUs[0].Memory != 50 {
			t.Error("merge wrote to its argument")
		}
	}
	if s := merge(Sample{}, a); s.GPUs[0] != a.GPUs[0] { // the driver answered between the two
		t.Errorf("%+v", s)
	}
	if s := merge(a, Sample{}); s.GPUs != nil {
		t.Errorf("%+v", s)
	}
}

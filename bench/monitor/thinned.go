package monitor

import (
	"slices"
	"time"
)

// maxSamples limits the samples of a Record, and so the size of a report.
const maxSamples = 300

// thinned are samples at regular times. When they become too many, two become one and the interval doubles.
type thinned struct {
	interval time.Duration
	samples  []Sample
}

func (t *thinned) empty() bool { return len(t.samples) == 0 }

func (t *thinned) add(s Sample) {
	if len(t.samples) == maxSamples {
		for k := range maxSamples / 2 {
			t.samples[k] = merge(t.samples[2*k], t.samples[2*k+1])
		}
		t.samples = t.samples[:maxSamples/2]
		t.interval *= 2
	}
	t.samples = append(t.samples, s)
}

// merge makes one sample of two neighbours: means of rates, maxima of what is in use.
func merge(a, b Sample) Sample {
	mean := func(x, y float64) float64 { return round((x+y)/2, 1000) }
	s := Sample{
		At: b.At, Cores: mean(a.Cores, b.Cores), OwnCores: mean(a.OwnCores, b.OwnCores),
		Memory: max(a.Memory, b.Memory), OwnMemory: max(a.OwnMemory, b.OwnMemory), Swap: max(a.Swap, b.Swap),
		SwapIn: mean(a.SwapIn, b.SwapIn), SwapOut: mean(a.SwapOut, b.SwapOut),
		DiskRead: mean(a.DiskRead, b.DiskRead), DiskWrite: mean(a.DiskWrite, b.DiskWrite),
		GPUs: slices.Clone(b.GPUs),
	}
	for k := range s.GPUs {
		if k >= len(a.GPUs) {
			break
		}
		s.GPUs[k].Memory = max(a.GPUs[k].Memory, b.GPUs[k].Memory)
		if a.GPUs[k].Busy >= 0 && b.GPUs[k].Busy >= 0 {
			s.GPUs[k].Busy = mean(a.GPUs[k].Busy, b.GPUs[k].Busy)
		}
	}
	return s
}

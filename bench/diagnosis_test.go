package bench

import (
	"testing"

	"github.com/dsconv/dsconv/bench/verdict"
)

func TestDiagnose(t *testing.T) {
	for name, c := range map[string]struct {
		stages  Stages
		starved float64
		consume float64
		cause   verdict.Cause
		want    string
	}{
		"loader alone": {
			Stages{Read: 50, Decode: 1500, Augment: 300, Collate: 150},
			1, 0, verdict.OfDecode,
			"decode-bound: without decoding, an epoch would take 0.12 s instead of 0.50 s",
		},
		"fed": {
			Stages{Read: 50, Decode: 1500, Augment: 300, Collate: 150},
			0.02, 300, verdict.OfCompute,
			"compute-bound: the loop's own step takes the time, and it hardly waits for data",
		},
		"a slow disk": {
			Stages{Read: 900, Decode: 50, Augment: 25, Collate: 25},
			1, 0, verdict.OfStorage,
			"storage-bound: without reading, an epoch would take 25.0 ms instead of 0.25 s",
		},
		"transforms": {
			Stages{Augment: 500, Collate: 100},
			1, 0, verdict.OfAugment,
			"augment-bound: without augmentations, an epoch would take 25.0 ms instead of 0.15 s",
		},
	} {
		o := Options{Consume: c.consume}
		o.Workers, o.BatchSize = 4, 64
		r := &Report{Machine: Machine{GOMAXPROCS: 4}, Options: o, Consumer: o.consumer()}
		d := Dataset{
			Stages: c.stages, Starved: c.starved, EpochSeconds: c.stages.workers() * 1000 / 4e6,
			Rounds: []Round{{Images: 1000, Epochs: 1, FirstSeconds: c.stages.workers() * 64 / 4e6}},
		}
		if c.consume > 0 {
			d.EpochSeconds = max(d.EpochSeconds, 1000/c.consume)
		}
		d.Costs = r.costs(&d)
		r.diagnose(&d)
		if d.Verdict == nil || d.Verdict.Cause != c.cause || d.Diagnosis != c.want {
			t.Errorf("%s: %q, want %s with %q", name, d.Diagnosis, c.cause, c.want)
		}
	}
}

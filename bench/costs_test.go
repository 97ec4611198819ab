package bench

import (
	"math"
	"testing"

	"github.com/dsconv/dsconv/bench/verdict"
)

// measured is a report of one dataset whose 1,000 images took the stages' microseconds each, with cpu of them computed and
// the threads waiting as w says.
func measured(s Stages, cpu float64, w *Counters, change func(r *Report)) *Report {
	stages := Stages{Read: s.Read / 1e3, Decode: s.Decode / 1e3, Augment: s.Augment / 1e3, Collate: s.Collate / 1e3, Step: s.Step / 1e3}
	r := &Report{Consumer: "a loop", Machine: Machine{GOMAXPROCS: 2}}
	r.Options.Workers, r.Options.BatchSize = 2, 50
	seconds := max(stages.workers()/2, stages.Step)
	r.Datasets = []Dataset{{Rounds: []Round{{
		Images: 1000, Loaded: 1000, Epochs: 1, Bytes: 1e8, Seconds: seconds, WaitSeconds: seconds - stages.Step, CPUSeconds: cpu / 1e3,
		FirstSeconds: stages.workers() / 2 / 20, Stages: stages, Waited: w,
	}}}}
	if change != nil {
		change(r)
	}
	r.summarise()
	return r
}

func TestVerdictsOfWhatWasMeasured(t *testing.T) {
	usual := Stages{Read: 100, Decode: 400, Augment: 250, Collate: 250, Step: 450}
	plus := func(change func(s *Stages)) Stages {
		s := usual
		change(&s)
		return s
	}
	delayed := plus(func(s *Stages) { s.Decode += 5000 })
	for _, c := range []struct {
		name   string
		stages Stages
		cpu    float64
		waited *Counters
		change func(r *Report)
		cause  verdict.Cause
		start  float64
	}{
		{"a slow disk", plus(func(s *Stages) { s.Read += 5000 }), 1000, &Counters{Read: 1e8}, nil, verdict.OfStorage, 0},
		{"a slow disk behind mapped files", delayed, 1000, &Counters{Read: 1e8}, nil, verdict.OfStorage, 0},
		{"a slow file system in user space, mapped", delayed, 1000, &Counters{MajorFaults: 900}, nil, verdict.OfStorage, 0},
		{"decoding that sleeps", delayed, 1000, &Counters{}, nil, verdict.OfDecode, 0},
		{"decoding that sleeps, on a system that counts nothing", delayed, 1000, nil, nil, verdict.OfDecode, 0},
		{"decoding that computes", delayed, 6000, &Counters{}, nil, verdict.OfDecode, 0},
		{"decoding that computes, on a busy machine", delayed, 2000, &Counters{Queue: 4, OtherCPU: 9}, nil, verdict.OfDecode, 0},
		{"augmentations", plus(func(s *Stages) { s.Augment += 5000 }), 6000, nil, nil, verdict.OfAugment, 0},
		{"collating that sleeps", plus(func(s *Stages) { s.Collate += 5000 }), 1000, nil, nil, verdict.OfCollate, 0},
		{"a slow loop", plus(func(s *Stages) { s.Step = 6000 }), 1000, nil, nil, verdict.OfCompute, 0},
		{"slow transfers", plus(func(s *Stages) { s.Step = 500 }), 1000, nil, func(r *Report) {
			round := &r.Datasets[0].Rounds[0]
			round.Seconds, round.WaitSeconds, round.TransferSeconds = 6, 0.1, 5.5
		}, verdict.OfTransfer, 0},
		{"one core for eight workers", Stages{Read: 800, Decode: 3200, Augment: 2000, Collate: 2000, Step: 100}, 1000, &Counters{Queue: 7}, func(r *Report) {
			r.Options.Workers, r.Machine.GOMAXPROCS = 8, 1
			r.Datasets[0].Rounds[0].Seconds = 1
			r.Datasets[0].Rounds[0].FirstSeconds = 0.05
		}, verdict.OfCores, 0},
		{"swapping", delayed, 1000, &Counters{SwapIn: 1e9, Read: 1e9, MajorFaults: 1e5, MemoryStall: 2.4}, nil, verdict.OfSwap, 0},
		{"a slow start", usual, 1000, nil, func(r *Report) {
			round := &r.Datasets[0].Rounds[0]
			round.FirstSeconds += 3
			round.Seconds, round.WaitSeconds = round.Seconds+3, round.WaitSeconds+3
		}, verdict.OfStart, 2.975},
	} {
		r := measured(c.stages, c.cpu, c.waited, c.change)
		d := &r.Datasets[0]
		d.Costs = r.costs(d)
		r.diagnose(d)
		if d.Verdict == nil || d.Verdict.Cause != c.cause || math.Abs(d.Costs.Start-c.start) > 1e-9 {
			t.Errorf("%s: %+v\nwant %s and a start of %g s: %+v", c.name, d.Verdict, c.cause, c.start, d.Costs)
			continue
		}
		for _, p := range d.Costs.Parts {
			if p.Wall < p.CPU+p.Queue-1e-9 || min(p.CPU, p.Queue) < 0 {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
	}
}

// A loop whose step is known.
func TestCostsOfTheLoop(t *testing.T) {
	r := measured(Stages{Decode: 1000, Step: 400}, 1500, nil, nil)
	d := &r.Datasets[0]
	r.Options.Consume = 2000
	c := r.costs(d)
	if c.Step != 500 || !c.Loop || c.Loader != 0 {
		t.Errorf("%+v", c)
	}
	r.Consumer = loaderAlone
	c = r.costs(d)
	if c.Loop || c.Step != 0 || c.Starved != 0 || math.Abs(c.Loader-500) > 1e-9 {
		t.Errorf("the loader alone: %+v", c)
	}
}

// What is not measured has no costs: nobody guesses.
func TestNoCosts(t *testing.T) {
	r := measured(Stages{Step: 100}, 0, nil, func(r *Report) {
		r.Datasets[0].Rounds[0].Seconds, r.Datasets[0].Rounds[0].WaitSeconds = 1, 0.9
	})
	r.Judge()
	d := &r.Datasets[0]
	want := "the loop waited for data for 90 % of the epoch; what its loader did meanwhile was not measured"
	if d.Costs != nil || d.Verdict != nil || d.Diagnosis != want {
		t.Errorf("%+v, %+v, %q", d.Costs, d.Verdict, d.Diagnosis)
	}
}

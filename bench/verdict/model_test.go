package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns costs that a measurement could give: of processes or threads, with and without a loop.
func random(r *rand.Rand) *Costs {
	us := func(most float64) float64 { return most * r.Float64() * r.Float64() }
	c := &Costs{
		Samples: 1 + r.IntN(100_000), Batch: 64, Workers: r.IntN(9), Cores: []float64{0, 0.5, 1, 2, 8}[r.IntN(5)],
		Loop: r.IntN(4) > 0, Start: us(4), SwapStall: us(500) * float64(r.IntN(2)), OtherCPU: us(8),
	}
	if c.Loop {
		c.Step, c.StepCPU, c.Transfer = us(5000), us(5000), us(1000)
	}
	for _, kind := range []Kind{Read, Decode, Augment, Augment, Collate, Rest} {
		p := Part{Name: string(kind), Kind: kind, Python: r.IntN(2) == 0, CPU: us(3000), Queue: us(1000)}
		p.Wall = p.CPU + p.Queue + us(3000)
		c.Parts = append(c.Parts, p)
	}
	if r.IntN(2) == 0 {
		c.Loader = c.modelled() / float64(c.Samples) * 1e6 * (1 + r.Float64())
	}
	c.Epoch, c.Starved = c.modelled()*(0.5+r.Float64()), r.Float64()
	return c
}

// trials calls use with many random costs.
func trials(t *testing.T, use func(r *rand.Rand, c *Costs)) {
	t.Helper()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 21))
		use(r, random(r))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestModelOfKnownEpochs compares with epochs computed by hand.
func TestModelOfKnownEpochs(t *testing.T) {
	decode := []Part{{Name: "read", Kind: Read, Wall: 100, CPU: 20}, {Name: "decode", Kind: Decode, Wall: 1900, CPU: 1900}}
	for _, c := range []struct {
		name string
		c    Costs
		want float64
	}{
		{"workers decide", Costs{Workers: 2, Cores: 2, Parts: decode, Loop: true, Step: 500}, 1.0},
		{"the loop decides", Costs{Workers: 2, Cores: 2, Parts: decode, Loop: true, Step: 1500}, 1.5},
		{"copies are the loop's time", Costs{Workers: 2, Cores: 2, Parts: decode, Loop: true, Step: 900, Transfer: 300}, 1.2},
		{"one core", Costs{Workers: 4, Cores: 1, Parts: decode, Loop: true, Step: 500}, 1.92},
		{"the loop computes on the workers' core", Costs{Workers: 4, Cores: 1, Parts: decode, Loop: true, Step: 500, StepCPU: 480}, 2.4},
		{"half a core", Costs{Workers: 1, Cores: 0.5, Parts: decode}, 3.84},
		{"two ranks on two cores", Costs{Workers: 2, Cores: 2, LocalRanks: 2, Parts: decode}, 1.92},
		{"no workers: one after the other", Costs{Cores: 2, Parts: decode, Loop: true, Step: 500, Transfer: 100}, 2.6},
		{"the start", Costs{Workers: 2, Cores: 2, Parts: decode, Start: 3}, 4.0},
		{"waiting for a core is not the part's time", Costs{Workers: 2, Parts: []Part{{Kind: Decode, Wall: 3000, CPU: 1000, Queue: 2000}}}, 0.5},
		{"queue time that does not fit", Costs{Workers: 1, Parts: []Part{{Kind: Decode, Wall: 1000, CPU: 800, Queue: 900}}}, 0.8},
		{"more CPU than time: threads of its own", Costs{Workers: 1, Cores: 4, Parts: []Part{{Kind: Decode, Wall: 1000, CPU: 3000}}}, 1.0},
		{"what passes batches on", Costs{Workers: 2, Parts: decode, Loader: 1500}, 1.5},
		{"swapping is in the parts' time", Costs{Workers: 2, Parts: decode, SwapStall: 500}, 1.0},
		{"only the loader's speed is known", Costs{Workers: 4, Loader: 700, Loop: true, Step: 100}, 0.7},
		{"a step that only the epoch tells", Costs{Workers: 2, Parts: decode, Loop: true, Epoch: 4, Starved: 0.25}, 3.0},
		{"nothing", Costs{}, 0},
	} {
		c.c.Samples = 1000
		if got := c.c.modelled(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: an epoch of %g s, want %g", c.name, got, c.want)
		}
	}
}

// TestMonotone makes one cost larger: no epoch becomes shorter.
func TestMonotone(t *testing.T) {
	grow := []func(c *Costs, i int, by float64){
		func(c *Costs, i int, by float64) { c.Parts[i].Wall += by },
		func(c *Costs, i int, by float64) { c.Parts[i].CPU += by },
		func(c *Costs, i int, by float64) { c.Parts[i].Wall += by; c.Parts[i].CPU += by },
		func(c *Costs, _ int, by float64) { c.Step += by },
		func(c *Costs, _ int, by float64) { c.StepCPU += by },
		func(c *Costs, _ int, by float64) { c.Transfer += by },
		func(c *Costs, _ int, by float64) { c.Start += by },
		func(c *Costs, _ int, by float64) { c.Loader += by },
		func(c *Costs, _ int, by float64) { c.SwapStall += by },
		func(c *Costs, _ int, by float64) { c.Samples += int(by) },
		func(c *Costs, _ int, _ float64) { c.LocalRanks++ },
	}
	trials(t, func(r *rand.Rand, c *Costs) {
		for k, larger := range grow {
			d := *c
			d.Parts = slices.Clone(c.Parts)
			larger(&d, r.IntN(len(d.Parts)), 5000*r.Float64())
			if k == 3 && c.Step == 0 || k == 7 && c.Loader == 0 {
				continue // unknown before
			}
			if before, after := c.modelled(), d.modelled(); after < before*(1-1e-9) {
				t.Errorf("cost %d grew, and the epoch shrank from %g s to %g s", k, before, after)
			}
		}
	})
}

// TestRemovalNeverSlows: an epoch without a cause, with more cores or with another worker is no longer.
func TestRemovalNeverSlows(t *testing.T) {
	trials(t, func(_ *rand.Rand, c *Costs) {
		whole := c.modelled()
		for _, cause := range causes {
			if without := c.without(cause).seconds(); without > whole*(1+1e-9) || without < 0 {
				t.Errorf("without %s the epoch takes %g s instead of %g s", cause, without, whole)
			}
		}
		if c.Loader > 0 { // it says how fast so many workers are
			return
		}
		more := *c
		more.Workers, more.Cores = c.Workers+1, c.Cores*2
		if got := more.modelled(); got > whole*(1+1e-9) {
			t.Errorf("with more cores and workers the epoch takes %g s instead of %g s", got, whole)
		}
	})
}

// TestNonsense has costs that no measurement gives: nothing but numbers comes out.
func TestNonsense(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64} {
		c := Costs{
			Samples: -1, Batch: -1, Workers: -5, Cores: x, Loader: x, Start: x, Loop: true, Step: x, StepCPU: x, Transfer: x, Epoch: x, Starved: x,
			SwapStall: x, SwapIn: -1, OtherCPU: x, Ranks: -1, LocalRanks: -1,
			Parts: []Part{{Kind: "?", Wall: x, CPU: x, Queue: x}, {}},
		}
		for range 2 {
			v := Judge(&c)
			if math.IsNaN(v.Gain) || v.Gain < 0 || v.Gain > 1 || v.Text == "" {
				t.Errorf("%g: %+v", x, v)
			}
			if s := Predict(&c, &c); math.IsNaN(s) || s < 0 {
				t.Errorf("%g: predicted %g", x, s)
			}
			c.Samples = 1000
		}
	}
	if v := Judge(nil); v.Cause != Balanced {
		t.Errorf("no costs: %+v", v)
	}
}

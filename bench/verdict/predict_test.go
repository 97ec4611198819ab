package verdict

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPredict compares with epochs that are known.
func TestPredict(t *testing.T) {
	slow := []Part{{Name: "read", Kind: Read, Wall: 100, CPU: 100}, {Name: "decode", Kind: Decode, Wall: 1900, CPU: 1900}}
	quick := Costs{Samples: 10, Workers: 2, Cores: 2, Parts: []Part{{Name: "collate", Kind: Collate, Wall: 200, CPU: 200}}}
	for _, c := range []struct {
		name    string
		subject Costs
		loader  Costs
		want    float64
	}{
		{"the loader alone", Costs{Workers: 2, Cores: 2, Parts: slow, Epoch: 1}, quick, 0.1},
		{"a loop that is faster than the loader", Costs{Workers: 2, Cores: 2, Parts: slow, Loop: true, Step: 500, Epoch: 1}, quick, 0.5},
		{"a loop that is slower than the loader", Costs{Workers: 2, Cores: 2, Parts: slow, Loop: true, Step: 1500, Epoch: 1.5}, quick, 1.5},
		{"a loop on the workers' cores", Costs{Workers: 2, Cores: 2, Parts: slow, Loop: true, Step: 300, StepCPU: 600, Epoch: 1.3}, quick, 0.4},
		{"a pipeline that overlaps badly", Costs{Workers: 2, Cores: 2, Parts: slow, Loop: true, Step: 500, Epoch: 1.2}, quick, 0.6},
		{"no workers in the subject", Costs{Cores: 2, Parts: slow, Loop: true, Step: 500, Epoch: 2.5}, quick, 0.5},
		{"no workers in the loader", Costs{Workers: 2, Cores: 2, Parts: slow, Loop: true, Step: 500, Epoch: 1}, Costs{Parts: quick.Parts}, 0.7},
		{"a start that the loader does not have", Costs{Workers: 2, Cores: 2, Parts: slow, Start: 1, Epoch: 2}, quick, 0.1},
		{"the loader's speed is measured", Costs{Workers: 2, Cores: 2, Parts: slow, Loader: 1400, Epoch: 1.4}, quick, 0.1},
		{"both speeds are measured", Costs{Workers: 2, Cores: 2, Parts: slow, Loader: 1400, Epoch: 1.4}, Costs{Workers: 2, Parts: quick.Parts, Loader: 140}, 0.14},
		{"only speeds are measured", Costs{Workers: 2, Loader: 1400, Loop: true, Step: 300, Epoch: 1.4}, Costs{Workers: 4, Loader: 700}, 0.7},
		{"nothing of the epoch is known", Costs{Workers: 2, Cores: 2, Parts: slow}, quick, 0.1},
		{"nothing of the loader is known", Costs{Workers: 2, Cores: 2, Parts: slow, Epoch: 1}, Costs{}, 0},
	} {
		c.subject.Samples = 1000
		if got := Predict(&c.subject, &c.loader); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s: %.4f s, want %g", c.name, got, c.want)
		}
	}
	if Predict(nil, &quick) != 0 || Predict(&quick, nil) != 0 {
		t.Error("a prediction from nothing")
	}
}

// The subject's own loader gives the measured epoch; a loader whose parts all take less gives no longer one.
func TestPredictionIsCalibrated(t *testing.T) {
	trials(t, func(r *rand.Rand, c *Costs) {
		same := Predict(c, c)
		if math.Abs(same-c.Epoch) > 1e-9*c.Epoch {
			t.Errorf("its own loader: %g s, measured %g s", same, c.Epoch)
		}
		faster := *c
		faster.Loader = 0
		base := Predict(c, &faster)
		faster.Parts = nil
		for _, p := range c.Parts {
			k := r.Float64()
			p.Wall, p.CPU, p.Queue = k*p.Wall, k*p.CPU, k*p.Queue
			faster.Parts = append(faster.Parts, p)
		}
		if got := Predict(c, &faster); got > base*(1+1e-9) {
			t.Errorf("parts that take less: %g s instead of %g s", got, base)
		}
	})
}

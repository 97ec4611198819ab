package verdict

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// usual are the costs of a DataLoader that nothing is wrong with, of 1,000 images: its workers and its loop are about
// equally fast, no part takes most of the time.
func usual() Costs {
	return Costs{
		Samples: 1000, Batch: 64, Workers: 2, Processes: true, Cores: 2, Start: 0.02, Loop: true, Step: 450, Transfer: 20,
		Parts: []Part{
			{Name: "read", Kind: Read, Wall: 200, CPU: 150, Python: true},
			{Name: "decode", Kind: Decode, Wall: 300, CPU: 300, Python: true},
			{Name: "RandomResizedCrop", Kind: Augment, Wall: 200, CPU: 200, Python: true, Native: "rrc:224"},
			{Name: "Normalize", Kind: Augment, Wall: 100, CPU: 100, Python: true},
			{Name: "collate", Kind: Collate, Wall: 150, CPU: 150, Python: true},
		},
	}
}

// bottlenecks are what can be wrong with it, by the cause that a verdict has to name.
var bottlenecks = []struct {
	name  string
	cause Cause
	part  string
	build func(c *Costs)
}{
	{"a slow disk", OfStorage, "read", func(c *Costs) { c.Parts[0].Wall += 5000 }},
	{"slow reading that computes", OfStorage, "read", func(c *Costs) { c.Parts[0].Wall += 5000; c.Parts[0].CPU += 5000 }},
	{"decoding that sleeps", OfDecode, "decode", func(c *Costs) { c.Parts[1].Wall += 5000 }},
	{"decoding that computes", OfDecode, "decode", func(c *Costs) { c.Parts[1].Wall += 5000; c.Parts[1].CPU += 5000 }},
	{"decoding that computes, more workers than cores", OfDecode, "decode", func(c *Costs) {
		c.Parts[1].Wall, c.Parts[1].CPU, c.Workers = 9000, 9000, 4
	}},
	{"a transform in Python", OfPython, "Normalize", func(c *Costs) { c.Parts[3].Wall += 5000; c.Parts[3].CPU += 5000 }},
	{"a dataset in Python", OfPython, "__getitem__", func(c *Costs) {
		c.Parts = append(c.Parts, Part{Name: "__getitem__", Kind: Rest, Wall: 5000, CPU: 5000, Python: true})
	}},
	{"a transform of dsconv's", OfAugment, "blur", func(c *Costs) {
		c.Parts = append(c.Parts, Part{Name: "blur", Kind: Augment, Wall: 5000, CPU: 5000})
	}},
	{"a slow collate function", OfCollate, "collate", func(c *Costs) { c.Parts[4].Wall += 5000; c.Parts[4].CPU += 5000 }},
	{"a slow consumer", OfCompute, "", func(c *Costs) { c.Step += 5000 }},
	{"a consumer that computes", OfCompute, "", func(c *Costs) { c.Step += 5000; c.StepCPU += 5000 }},
	{"slow copies", OfTransfer, "", func(c *Costs) { c.Transfer += 5000 }},
	{"one core for eight workers", OfCores, "", func(c *Costs) { c.Workers, c.Cores, c.Step = 8, 1, 100 }},
	{"a quota of half a core", OfCores, "", func(c *Costs) { c.Workers, c.Cores, c.Step = 4, 0.5, 100 }},
	{"eight ranks that share four cores", OfCores, "", func(c *Costs) { c.Workers, c.Cores, c.LocalRanks, c.Step = 4, 4, 8, 100 }},
	{"swapping", OfSwap, "", func(c *Costs) {
		for i := range c.Parts {
			c.Parts[i].Wall += 1500
		}
		c.SwapStall = 5 * 1500
	}},
	{"slow start of workers", OfStart, "", func(c *Costs) { c.Start = 3 }},
}

func build(f func(c *Costs)) *Costs {
	c := usual()
	f(&c)
	c.Epoch = 1.1 * c.modelled()
	return &c
}

func TestUsualIsBalanced(t *testing.T) {
	c := usual()
	c.Epoch = 0.5
	v := Judge(&c)
	if v.Cause != Balanced || v.Gain != 0 || len(v.Others) != 0 || !strings.HasPrefix(v.Text, "balanced: ") {
		t.Errorf("%+v", v)
	}
}

func TestBottlenecksAreNamed(t *testing.T) {
	for _, b := range bottlenecks {
		v := Judge(build(b.build))
		if v.Cause != b.cause || v.Part != b.part || v.Gain < 0.3 || len(v.Evidence) == 0 {
			t.Errorf("%s: %+v, want %s", b.name, v, b.cause)
		}
		for i, o := range v.Others {
			if o.Cause == v.Cause || o.Gain < balancedBelow || i > 0 && o.Gain > v.Others[i-1].Gain {
				t.Errorf("%s: other causes %+v", b.name, v.Others)
			}
		}
	}
}

// The same bottlenecks with no workers, where all times add up: what the cores and the start cost is another question there.
func TestBottlenecksWithoutWorkers(t *testing.T) {
	for _, b := range bottlenecks {
		c := build(b.build)
		c.Workers, c.Cores, c.LocalRanks = 0, 2, 0
		if v := Judge(c); b.cause != OfCores && b.cause != OfStart && v.Cause != b.cause {
			t.Errorf("%s: %+v, want %s", b.name, v, b.cause)
		}
	}
}

// TestVerdictSurvives what a measurement does to costs: a faster machine, noise of 10 %, and other programs, for which
// each part waits for cores.
func TestVerdictSurvives(t *testing.T) {
	for _, b := range bottlenecks {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 3))
			for what, change := range map[string]func(c *Costs){
				"scaled":           func(c *Costs) { scale(c, 0.01+100*r.Float64()) },
				"noise":            func(c *Costs) { noise(c, r, 0.1) },
				"a busy machine":   func(c *Costs) { crowd(c, r) },
				"busy, with noise": func(c *Costs) { noise(c, r, 0.1); crowd(c, r) },
				"parts in any order": func(c *Costs) {
					r.Shuffle(len(c.Parts), func(i, j int) { c.Parts[i], c.Parts[j] = c.Parts[j], c.Parts[i] })
				},
			} {
				c := build(b.build)
				change(c)
				if v := Judge(c); v.Cause != b.cause || v.Part != b.part {
					t.Fatalf("%s, %s (seed %d): %+v, want %s", b.name, what, seed, v, b.cause)
				}
			}
		}
	}
}

// scale is the same on a machine of another speed.
func scale(c *Costs, by float64) {
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Wall, p.CPU, p.Queue = by*p.Wall, by*p.CPU, by*p.Queue
	}
	for _, x := range []*float64{&c.Loader, &c.Start, &c.Step, &c.StepCPU, &c.Transfer, &c.Epoch, &c.SwapStall} {
		*x *= by
	}
}

// noise changes each time by a share of it.
func noise(c *Costs, r *rand.Rand, share float64) {
	by := func() float64 { return 1 + share*(2*r.Float64()-1) }
	for i := range c.Parts {
		p := &c.Parts[i]
		k := by()
		p.Wall, p.CPU, p.Queue = k*p.Wall, k*p.CPU, k*p.Queue
	}
	for _, x := range []*float64{&c.Loader, &c.Start, &c.Step, &c.StepCPU, &c.Transfer, &c.Epoch, &c.SwapStall} {
		*x *= by()
	}
}

// crowd is a machine on which other programs use most of the cores: each part waits for one, for as long as by chance, and
// the CPU is slower for all.
func crowd(c *Costs, r *rand.Rand) {
	slower := 1 + 0.3*r.Float64()
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Wall += (slower - 1) * p.CPU
		p.CPU *= slower
		queue := p.CPU * 4 * r.Float64()
		p.Wall, p.Queue = p.Wall+queue, p.Queue+queue
	}
	c.StepCPU *= slower
	c.OtherCPU = c.Cores * 0.8
	c.Epoch *= 4
	c.Starved = r.Float64()
}

// A machine with as many cores as workers is not short of CPU, however busy it is.
func TestBusyMachineIsNotShortOfCPU(t *testing.T) {
	trials(t, func(r *rand.Rand, c *Costs) {
		c.Workers = max(c.Workers, 1)
		c.Cores, c.StepCPU = float64(c.Workers), 0
		crowd(c, r)
		if v := Judge(c); v.Cause == OfCores {
			t.Errorf("%+v", v)
		}
	})
}

// Gains are those of the removal, and the largest one is the verdict's, but for cores, which may be a little smaller.
func TestGainIsWhatRemovalSaves(t *testing.T) {
	trials(t, func(_ *rand.Rand, c *Costs) {
		v := Judge(c)
		all := append([]Other{{Cause: v.Cause, Gain: v.Gain}}, v.Others...)
		if v.Cause == Balanced {
			all = v.Others
		}
		for _, o := range all {
			want := 1 - c.without(o.Cause).seconds()/c.modelled()
			if o.Cause == OfLoading { // the model does not explain it
				want = max(c.unexplained(), c.serial())
			}
			if o.Gain-want > 1e-9 || want-o.Gain > 1e-9 {
				t.Errorf("%s saves %g, said %g", o.Cause, want, o.Gain)
			}
			if o.Gain > v.Gain && v.Cause != OfCores && v.Cause != OfLoading {
				t.Errorf("%s saves more than the verdict %s", o.Cause, v.Cause)
			}
		}
	})
}

// The ranks of a run have one verdict, that of the slowest, in whatever order they come.
func TestRanksInAnyOrder(t *testing.T) {
	for _, b := range bottlenecks {
		fast, slow := usual(), *build(b.build)
		fast.Epoch = slow.Epoch // they wait for each other
		ranks := []Costs{fast, slow, fast, fast}
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 4))
			r.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
			c := Join(ranks)
			v := Judge(&c)
			if v.Cause != b.cause || c.Ranks != 4 || ranks[c.Rank].modelled() != slow.modelled() {
				t.Fatalf("%s: %+v of rank %d", b.name, v, c.Rank)
			}
			if !slices.ContainsFunc(v.Evidence, func(s string) bool { return strings.Contains(s, "of 4 ranks, rank ") }) {
				t.Errorf("%s: %q does not say which rank it is", b.name, v.Evidence)
			}
		}
	}
	if c := Join(nil); c.Ranks != 0 {
		t.Errorf("no ranks: %+v", c)
	}
}

package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/bench/verdict"
)

func TestParseDelay(t *testing.T) {
	d, err := ParseDelay("read=1ms, transfer=50us")
	if err != nil || d != (Delay{Read: time.Millisecond, Transfer: 50 * time.Microsecond}) || d.String() != "read=1ms,transfer=50µs" {
		t.Errorf("%v, %v", d, err)
	}
	var again Delay
	if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
		t.Errorf("%v read as %v: %v", d, again, err)
	}
	if d, err := ParseDelay(""); err != nil || d != (Delay{}) || d.String() != "" {
		t.Errorf("no delay: %v, %v", d, err)
	}
	for _, bad := range []string{"read", "read=", "read=1", "read=-1ms", "read=0s", "read=1h", "disk=1ms", "read=1ms,", "=1ms"} {
		if d, err := ParseDelay(bad); err == nil || d != (Delay{}) || !strings.Contains(err.Error(), "such as read=1ms") {
			t.Errorf("%q: %v, %v", bad, d, err)
		}
	}
}

func TestParseSweep(t *testing.T) {
	s, err := ParseSweep("workers=0,1, 4")
	if err != nil || s.Setting != "workers" || !slices.Equal(s.Values, []int{0, 1, 4}) || s.String() != "workers=0,1,4" {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "workers", "workers=", "workers=a", "workers=-1", "batch=0", "prefetch=0", "batch=2,2", "size=1"} {
		if _, err := ParseSweep(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestDifferentialOptions(t *testing.T) {
	batch := SweepSpec{Setting: "batch", Values: []int{1}}
	for name, o := range map[string]Options{
		"negative delay":             {Delay: Delay{Read: -1}},
		"long delay":                 {Delay: Delay{Collate: time.Hour}},
		"negative limit":             {LimitRead: -1},
		"limit of 77 bytes a second": {LimitRead: 77},
		"empty sweep":                {Sweeps: []SweepSpec{{}}},
		"no values":                  {Sweeps: []SweepSpec{{Setting: "batch"}}},
		"twice":                      {Sweeps: []SweepSpec{batch, batch}},
	} {
		if o.Validate() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestKnee(t *testing.T) {
	at := func(values ...float64) (points []Point) {
		for i := 0; i < len(values); i += 2 {
			points = append(points, Point{Value: values[i], ImagesPerSecond: values[i+1]})
		}
		return points
	}
	for want, points := range map[float64][]Point{
		2: at(0, 50, 1, 80, 2, 97, 4, 100),
		4: at(4, 100, 2, 90, 1, 50),
		1: at(1, 100, 2, 99),
		7: at(7, 0),
	} {
		if got := knee(points); got != want {
			t.Errorf("the knee of %v is %g, want %g", points, got, want)
		}
	}
}

// A stage that is made slow is the rung that saves most, and the verdict.
func TestDelaysAreFound(t *testing.T) {
	const each = 20 * time.Millisecond
	for _, c := range []struct {
		delay   Delay
		rung    string // without the stage
		cause   verdict.Cause
		consume float64
	}{
		{delay: Delay{Read: each}, rung: bytesInMemory, cause: verdict.OfStorage},
		{delay: Delay{Decode: each}, rung: pixelsInMemory, cause: verdict.OfDecode},
		{delay: Delay{Augment: each}, rung: batchesInMemory, cause: verdict.OfAugment},
		{delay: Delay{Collate: each}, rung: batchesInMemory, cause: verdict.OfCollate},
		{delay: Delay{Transfer: each / 2}, rung: withoutTransfer, cause: verdict.OfTransfer},
		{consume: 100, cause: verdict.OfCompute},
	} {
		t.Run(c.delay.String(), func(t *testing.T) {
			t.Parallel()
			paths, open := opener(t, newMemory("a", 16, &log{}))
			o := small()
			o.Delay, o.Isolate, o.Consume = c.delay, c.rung != "", c.consume
			r, err := measure(t.Context(), paths, o, open, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := &r.Datasets[0]
			if d.Verdict == nil || d.Verdict.Cause != c.cause {
				t.Errorf("verdict %+v of %+v, want %s", d.Verdict, d.Costs, c.cause)
			}
			if c.rung == "" {
				return
			}
			k := slices.IndexFunc(d.Rungs, func(g Rung) bool { return g.Name == c.rung })
			most := slices.MaxFunc(d.Rungs, func(a, b Rung) int { return int(1e9 * (a.Saved - b.Saved)) })
			// 12 images by two workers, or one after another.
			if want := (12 * each / 2).Seconds() / 2; k < 0 || most.Name != c.rung || most.Saved < want {
				t.Errorf("rung %s saves %g s of %+v, want %s and more than %g s", most.Name, most.Saved, d.Rungs, c.rung, want)
			}
		})
	}
}

func TestRungs(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Isolate, o.Rounds, o.Consume, o.Delay = true, 1, 5000, Delay{Read: time.Millisecond, Transfer: 100 * time.Microsecond}
	turns, told := 0, map[string]int{}
	r, err := measure(t.Context(), paths, o, open, func(p Progress) {
		turns = p.Turns
		told[p.What]++
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sum := 0
	for _, g := range r.Datasets[0].Rungs {
		names = append(names, g.Name)
		if g.EpochSeconds <= 0 || g.ImagesPerSecond <= 0 {
			t.Errorf("rung %+v was not measured", g)
		}
	}
	for _, n := range told {
		sum += n
	}
	want := []string{stored, bytesInMemory, pixelsInMemory, batchesInMemory, withoutTransfer, decodeOnly, augmentOnly}
	if !slices.Equal(names, want) || sum != turns {
		t.Errorf("rungs %v, want %v; %d of %d turns were told: %v", names, want, sum, turns, told)
	}
	c := r.Datasets[0].Costs
	if c == nil || c.Step < 200 || c.Transfer < 100/2 { // 5000 images/s take 200 us each
		t.Errorf("costs of the loop alone: %+v", c)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, g := range append(names, "a consumer of 5000 images/s after a transfer of 100µs an image") {
		if !strings.Contains(table.String(), g) {
			t.Errorf("no %s in\n%s", g, table.String())
		}
	}
}

func TestSweep(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Rounds, o.LimitBatches = 1, 2
	o.Sweeps = []SweepSpec{{"workers", []int{0, 1}}, {"batch", []int{2, 8}}, {"prefetch", []int{3}}}
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sweeps) != 3 {
		t.Fatalf("%d sweeps", len(r.Sweeps))
	}
	for k, w := range r.Sweeps {
		if w.Setting != o.Sweeps[k].Setting || w.Dataset != "a" || len(w.Points) != len(o.Sweeps[k].Values) || !slices.Contains(o.Sweeps[k].Values, int(w.Knee)) {
			t.Errorf("sweep %+v of %v", w, o.Sweeps[k])
		}
		for i, p := range w.Points {
			if p.Value != float64(o.Sweeps[k].Values[i]) || p.EpochSeconds <= 0 || p.ImagesPerSecond <= 0 {
				t.Errorf("%s: point %+v", w.Setting, p)
			}
			// Of the whole process, so the estimate is not much smaller than what the process has anyway.
			if resettable := p.PeakMemory > 0; resettable && (p.MemoryEstimate < p.PeakMemory/4 || p.MemoryEstimate > 4*p.PeakMemory) {
				t.Errorf("%s=%g: %d bytes estimated, %d measured", w.Setting, p.Value, p.MemoryEstimate, p.PeakMemory)
			}
		}
	}
	o.Synchronous = true
	if _, err := measure(t.Context(), paths, o, open, nil); err == nil {
		t.Error("a synchronous loader was swept")
	}
}

func TestRules(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Rounds, o.Rules, o.LimitBatches = 1, true, 2
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rules) != len(thumbRules)+1 {
		t.Fatalf("%d rules: %+v", len(r.Rules), r.Rules)
	}
	for _, rule := range r.Rules {
		if measured := rule.Name != "pinned memory"; rule.Measured != measured || rule.Dataset != "a" || rule.Text == "" {
			t.Errorf("rule %+v", rule)
		}
		switch rule.Name {
		case "more workers", "larger batches", "dataset in RAM":
			if rule.Memory <= 0 {
				t.Errorf("%s costs %d bytes", rule.Name, rule.Memory)
			}
		case "small types", "gradient accumulation":
			if rule.Memory >= 0 {
				t.Errorf("%s saves %d bytes", rule.Name, -rule.Memory)
			}
		}
	}
}

// Rules that a loader follows already, or cannot follow, are not measured and say why.
func TestRulesThatDoNotApply(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Rounds, o.Rules, o.BatchSize, o.DType, o.Synchronous, o.Workers = 1, true, 1, "uint8", true, 0
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range r.Rules {
		if slices.Contains([]string{"more workers", "prefetch", "small types", "gradient accumulation", "pinned memory"}, rule.Name) {
			if rule.Measured || !strings.HasPrefix(rule.Text, "not measured: ") {
				t.Errorf("%+v", rule)
			}
		}
	}
}

func TestRuleSentences(t *testing.T) {
	test := func(rates ...float64) *ruleTest {
		r := ruleTest{rule: &thumbRule{name: "x", did: "y"}}
		for _, ips := range rates {
			r.rounds = append(r.rounds, Round{Images: 1000, Epochs: 1, Seconds: 1000 / ips})
		}
		return &r
	}
	for _, c := range []struct {
		name  string
		rates []float64
		noise float64
		helps bool
		want  string
	}{
		{"faster", []float64{200, 200, 250}, 0.02, true, "helps: an epoch is 50 % shorter with y (10.0 s -> 5.00 s)"},
		{"slower", []float64{50, 50, 50}, 0.02, false, "costs: an epoch is 100 % longer with y (10.0 s -> 20.0 s)"},
		{"the same", []float64{101, 100, 102}, 0.02, false, "no gain with y (10.0 s -> 9.90 s)"},
		{"one round was slower", []float64{200, 90, 200}, 0.02, false, "unclear, as the rounds contradict each other (is the machine busy?): with y (10.0 s -> 5.00 s)"},
		{"the same on a busy machine", []float64{101, 100, 102}, 0.2, false, "unclear, as the same loader differed by 20 % from turn to turn (is the machine busy?): with y (10.0 s -> 9.90 s)"},
		{"noise", []float64{120, 120, 120}, 0.3, false, "unclear, as the same loader differed by 30 % from turn to turn (is the machine busy?): with y (10.0 s -> 8.33 s)"},
	} {
		r := test(c.rates...).report("a", test(100, 100, 100), c.noise)
		if r.Helps != c.helps || r.Unclear != strings.HasPrefix(c.want, "unclear") || !r.Measured || !strings.HasPrefix(r.Text, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, r, c.want)
		}
	}
}

func TestCancellationOfDelays(t *testing.T) {
	for _, d := range []Delay{{Read: maxDelay}, {Decode: maxDelay}, {Transfer: maxDelay}} {
		paths, open := opener(t, newMemory("a", 64, &log{}))
		ctx, cancel := context.WithCancel(t.Context())
		o := small()
		o.Delay = d
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := measure(ctx, paths, o, open, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v, want context.Canceled", d, err)
		}
	}
}

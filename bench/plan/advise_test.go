package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

// reportOf measures src shortly.
func reportOf(t *testing.T, src string, consume float64) *bench.Report {
	t.Helper()
	o := bench.Options{Size: 32, Rounds: 1, Consume: consume, Config: reader.Config{BatchSize: 8, Workers: 2}}
	r, err := bench.Run(t.Context(), []string{src}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fast are options of an advice that tries one encoding.
func fast(t *testing.T, e codec.EncodeOptions) Options {
	return Options{Rounds: 1, Sample: 24, Dir: t.TempDir(), Format: "shard", Encodings: []codec.EncodeOptions{e}, effort: effort{256, 1 << 20, 1, 10 * time.Millisecond}}
}

// The report's own figures decide what is recommended; here a loader that is made a hundred times as slow.
func TestAdvise(t *testing.T) {
	src := folderOf(t, 40, 64, 48)
	r := reportOf(t, src, 0)
	c := r.Datasets[0].Costs
	if c == nil {
		t.Fatal("the report has no costs")
	}
	c.Processes = true // another's loader
	c.Loader, c.Epoch = 100*c.Loader, 100*c.Epoch
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Wall, p.CPU, p.Queue = 100*p.Wall, 100*p.CPU, 100*p.Queue
	}
	if err := Advise(t.Context(), r, fast(t, codec.EncodeOptions{Encoding: formats.Raw})); err != nil {
		t.Fatal(err)
	}
	list := r.Advice.Candidates
	if len(list) != 2 || r.Advice.Best == nil || r.Advice.Text == "" {
		t.Fatalf("%+v", r.Advice)
	}
	for _, one := range list {
		if loader := strings.HasPrefix(one.Command, "dsconv.Loader"); loader != one.Setting || loader != (one.PackSeconds == 0) {
			t.Errorf("%+v", one)
		}
		if one.Before != c.Epoch || !(one.After > 0 && one.After < one.Before) {
			t.Errorf("%s: %g s instead of %g s", one.Command, one.After, one.Before)
		}
	}
}

// A loop that is slower than the loader gets no advice to pack.
func TestNothingToDo(t *testing.T) {
	r := reportOf(t, folderOf(t, 16, 64, 48), 100)
	if err := Advise(t.Context(), r, fast(t, codec.EncodeOptions{Encoding: formats.Raw})); err != nil {
		t.Fatal(err)
	}
	if r.Advice.Best != nil || !strings.Contains(r.Advice.Text, "do not convert") {
		t.Fatalf("%+v", r.Advice)
	}
}

// The machine may be slower for the candidates than it was for the subject: the same loader on the same folder tells.
func TestDriftIsTakenOut(t *testing.T) {
	subject := verdict.Costs{Samples: 100, Workers: 2, Cores: 2, Loader: 1000, Epoch: 0.1, Parts: []verdict.Part{{Kind: verdict.Decode, Wall: 2000, CPU: 2000}}}
	trialOf := func(us float64) *trial {
		return &trial{Row: Row{Disk: 1}, costs: verdict.Costs{
			Samples: 50, Workers: 2, Cores: 2, Loader: us, Parts: []verdict.Part{{Kind: verdict.Decode, Wall: 2 * us, CPU: 2 * us}},
		}}
	}
	e := &exploration{src: &source{path: "images", bytes: 1}, as: trialOf(3000), trials: []*trial{trialOf(1500)}}
	list := e.candidates(&subject)
	if len(list) != 1 || math.Abs(list[0].After-0.05) > 1e-9 {
		t.Errorf("half the time for an image, on a machine that is slow now: %+v", list)
	}
	read := func(us float64) verdict.Part { return verdict.Part{Kind: verdict.Read, Wall: us} }
	subject.Parts = append(subject.Parts, read(6000)) // of more files than caches hold: three times as much as a sample's
	e.as.costs.Parts = append(e.as.costs.Parts, read(6000))
	list = e.candidates(&subject)
	if len(list) != 1 || math.Abs(list[0].After-0.025) > 1e-9 {
		t.Errorf("reading is slow for the subject alone: %+v", list)
	}
	subject.Processes = true // another loader, whose time is no measure of the machine
	list = e.candidates(&subject)
	if len(list) != 2 || math.Abs(list[0].After-0.3) > 1e-9 || math.Abs(list[1].After-0.15) > 1e-9 {
		t.Errorf("%+v", list)
	}
}

// Pixels that need several times the source's disk are no candidate unless a quarter of the memory holds them.
func TestHoarding(t *testing.T) {
	e := &exploration{src: &source{bytes: 100}, here: Machine{Memory: 4000}}
	for disk, want := range map[int64]bool{300: false, 1000: false, 1001: true} {
		if got := e.isHoarding(&trial{Row: Row{Disk: disk}}); got != want {
			t.Errorf("%d bytes: %v", disk, got)
		}
	}
	e.src.bytes = 500
	if e.isHoarding(&trial{Row: Row{Disk: 1500}}) {
		t.Error("three times the source's disk")
	}
	if e.here.Memory = 0; e.isHoarding(&trial{Row: Row{Disk: 5000}}) {
		t.Error("of unknown memory")
	}
}

func TestAdviseMisuse(t *testing.T) {
	for _, r := range []*bench.Report{{}, {Datasets: []bench.Dataset{{Path: "x"}}}} {
		if err := Advise(t.Context(), r, Options{}); err == nil {
			t.Errorf("advice for %+v", r)
		}
	}
}

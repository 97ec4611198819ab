package plan

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
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
	return Options{Rounds: 1, LoadSeconds: 0.01, Sample: 24, Dir: t.TempDir(), Formats: []string{"shard"}, Encodings: []codec.EncodeOptions{e}}
}

// What is recommended is packed into a folder of its own and measured. The report's own figures decide what is
// recommended; here a loader that is made a hundred times as slow.
func TestApply(t *testing.T) {
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
	advice, err := Advise(t.Context(), r, fast(t, codec.EncodeOptions{Encoding: formats.Raw}))
	if err != nil {
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
	for i := range list { // as if packing were best
		if !list[i].Setting {
			r.Advice.Best = &list[i]
		}
	}
	advice.recipe = &preprocess.Recipe{Encode: codec.EncodeOptions{Encoding: formats.Raw}}
	applyTo(t, advice, r, src)
}

func applyTo(t *testing.T, advice *Recommendation, r *bench.Report, src string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "packed")
	if err := advice.Apply(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	a := r.Applied
	if a == nil || a.Measured <= 0 || a.Before <= 0 || a.Predicted != r.Advice.Best.After || !strings.Contains(a.Command, "--encode raw") {
		t.Fatalf("applied %+v", a)
	}
	packed := r.Datasets[len(r.Datasets)-1]
	if len(r.Datasets) != 2 || packed.EpochSeconds != a.Measured || filepath.Dir(packed.Path) != dir {
		t.Errorf("the packed dataset's row: %+v", packed)
	}
	ds, err := dsconv.Open(packed.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if ds.Len() != 40 {
		t.Errorf("%d images", ds.Len())
	}
	if err := advice.Apply(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("packed into a folder with files: %v", err)
	}
	if err := advice.Apply(t.Context(), filepath.Join(src, "packed")); err == nil {
		t.Error("packed into the source")
	}
}

// A disk without space is told of before anything is packed, and a pack that was stopped can go on.
func TestApplyStops(t *testing.T) {
	src := folderOf(t, 40, 64, 48)
	r := reportOf(t, src, 0)
	r.Advice = &verdict.Advice{Best: &verdict.Candidate{Disk: 1 << 60}}
	advice := &Recommendation{report: r, options: fast(t, codec.EncodeOptions{}), format: "shard", recipe: &preprocess.Recipe{}}
	dir := filepath.Join(t.TempDir(), "packed")
	if err := advice.Apply(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "choose a folder on another disk") {
		t.Errorf("a disk of %d bytes: %v", r.Advice.Best.Disk, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder was made")
	}
	r.Advice.Best.Disk = 1
	ctx, cancel := context.WithCancel(t.Context())
	advice.options.Open = func(ctx context.Context, path string) (formats.Dataset, error) {
		ds, err := dsconv.OpenSource(ctx, path, folder.Config{})
		return &stopping{Dataset: ds, stop: cancel}, err
	}
	err := advice.Apply(ctx, dir)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.partial"))
	if told := strings.Contains(err.Error(), "go on with dsconv pack "+src); len(left) != 1 || !told {
		t.Errorf("%v; unfinished: %v", err, left)
	}
}

// stopping stops the run at its tenth sample.
type stopping struct {
	formats.Dataset
	stop func()
}

func (d *stopping) Read(i int, s *formats.Sample) error {
	if i == 10 {
		d.stop()
	}
	return d.Dataset.Read(i, s)
}

// A loop that is slower than the loader gets no advice to pack, and nothing is written.
func TestNothingToApply(t *testing.T) {
	src := folderOf(t, 16, 64, 48)
	r := reportOf(t, src, 100)
	advice, err := Advise(t.Context(), r, fast(t, codec.EncodeOptions{Encoding: formats.Raw}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Advice.Best != nil || !strings.Contains(r.Advice.Text, "do not convert") {
		t.Fatalf("%+v", r.Advice)
	}
	dir := filepath.Join(t.TempDir(), "packed")
	if err := advice.Apply(t.Context(), dir); !errors.Is(err, ErrNothingToApply) {
		t.Errorf("apply: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder was made")
	}
}

// The machine may be slower for the candidates than it was for the subject: the same loader on the same folder tells.
func TestDriftIsTakenOut(t *testing.T) {
	subject := verdict.Costs{Samples: 100, Workers: 2, Cores: 2, Loader: 1000, Epoch: 0.1, Parts: []verdict.Part{{Kind: verdict.Decode, Wall: 2000, CPU: 2000}}}
	trialOf := func(us float64) *trial {
		return &trial{disk: map[string]int64{"shard": 1}, dataset: &subset{}, costs: verdict.Costs{
			Samples: 50, Workers: 2, Cores: 2, Loader: us, Parts: []verdict.Part{{Kind: verdict.Decode, Wall: 2 * us, CPU: 2 * us}},
		}}
	}
	e := &exploration{o: &Options{Formats: []string{"shard"}}, src: &source{path: "images", bytes: 1}, as: trialOf(3000), trials: []*trial{trialOf(1500)}}
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
		if got := e.isHoarding(&trial{disk: map[string]int64{"shard": disk}}, "shard"); got != want {
			t.Errorf("%d bytes: %v", disk, got)
		}
	}
	e.src.bytes = 500
	if e.isHoarding(&trial{disk: map[string]int64{"shard": 1500}}, "shard") {
		t.Error("three times the source's disk")
	}
	if e.here.Memory = 0; e.isHoarding(&trial{disk: map[string]int64{"shard": 5000}}, "shard") {
		t.Error("of unknown memory")
	}
}

func TestAdviseMisuse(t *testing.T) {
	var none context.Context
	if _, err := Advise(none, &bench.Report{}, Options{}); err == nil {
		t.Error("no context")
	}
	for _, r := range []*bench.Report{nil, {}, {Datasets: []bench.Dataset{{Path: "x"}}}} {
		if _, err := Advise(t.Context(), r, Options{}); err == nil {
			t.Errorf("advice for %+v", r)
		}
	}
	if _, err := Candidates(t.Context(), "x", nil, Options{}); err == nil {
		t.Error("candidates for nobody")
	}
	var r *Recommendation
	if r.Apply(t.Context(), "x") == nil || new(Recommendation).Apply(t.Context(), "x") == nil {
		t.Error("nothing was applied")
	}
}

func TestBaseName(t *testing.T) {
	for src, want := range map[string]string{
		"a/images": "images", "images/": "images", "x.lmdb": "x", ".": "packed", "/": "packed", "..": "packed", "x-%06d.tar": "packed", "v1.2": "v1",
	} {
		if got := baseName(src); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}

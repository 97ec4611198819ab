package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/reader"
)

// loop is a report as a training loop in Python writes it.
const loop = `{
  "machine": {"cores": 8, "gomaxprocs": 8, "go": "", "os": "linux", "arch": "x86_64", "python": "3.11.2", "torch": "2.15.0", "device": "some GPU"},
  "options": {"batch": 256, "trainer": {"model": "resnet18"}},
  "consumer": "resnet18",
  "datasets": [
    {"path": "before", "format": "folder", "samples": 1000, "epoch_seconds": 2, "images_per_second": 500, "ratio": 1, "starved": 0.8,
     "stage_us_per_image": {"step": 400}, "transfer_seconds": 0.2, "accuracy": 0.25, "loss": 1.25,
     "settings": {"pin_memory": true, "num_workers": 8, "prefetch_factor": null, "note": "a\u001bb"}, "diagnosis": "it starved", "rounds": [
       {"images": 1000, "loaded": 1000, "epochs": 2, "seconds": 4, "wait_seconds": 3.2, "stage_seconds": {"step": 0.8}, "ratio": 1}]},
    {"path": "after", "format": "lmdb", "samples": 1000, "epoch_seconds": 0.5, "images_per_second": 2000, "ratio": 4, "starved": 0.04,
     "transfer_seconds": 0.1, "accuracy": 0, "diagnosis": "it was fed", "rounds": [
       {"images": 1000, "loaded": 1000, "epochs": 1, "seconds": 0.5, "wait_seconds": 0.02, "stage_seconds": {"step": 0.4}, "ratio": 4}]}
  ],
  "notes": ["made up"]
}`

func readLoop(t *testing.T, source string) *Report {
	t.Helper()
	r, err := ReadReport(strings.NewReader(loop))
	if err != nil {
		t.Fatal(err)
	}
	r.Source = source
	return r
}

func TestMergedTable(t *testing.T) {
	r := fixed(t, Options{})
	r.Merge(readLoop(t, "loop.json"), fixed(t, Options{Consume: 4000}))
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "merged.txt")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the table differs (-want +got); -update writes it again:\n%s", diff)
	}
}

// A merged report does not change; the reports merged into it follow it.
func TestMergeChangesNoFigures(t *testing.T) {
	first, second, third := readLoop(t, "a.json"), readLoop(t, "b.json"), readLoop(t, "c.json")
	second.Merge(third)
	r := fixed(t, Options{})
	ratio := r.Datasets[1].Ratio
	r.Merge(first, second)
	if len(second.Merged) != 1 {
		t.Errorf("the report that was merged has changed: %d reports in it", len(second.Merged))
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadReport(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got.Datasets[1].Ratio != ratio || len(got.Merged) != 3 {
		t.Fatalf("ratio %g, want %g; %d merged reports, want 3", got.Datasets[1].Ratio, ratio, len(got.Merged))
	}
	for i, source := range []string{"a.json", "b.json", "c.json"} {
		if diff := cmp.Diff(*readLoop(t, source), got.Merged[i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

// A report may come from anybody: its text cannot move a terminal's cursor.
func TestReportsAreEscaped(t *testing.T) {
	hostile := strings.NewReplacer(`"resnet18"`, `"\u001b[2J"`, "some GPU", `\u001b[2J`, "before", `\u001b[2J`, "it starved", `\u001b[2J`,
		"made up", `\u001b[2J`).Replace(loop)
	r, err := ReadReport(strings.NewReader(hostile))
	if err != nil {
		t.Fatal(err)
	}
	r.Options.AugmentText, r.Options.DType, r.Options.Layout = "\x1b", "\x1b", "\x1b"
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", b.String())
	}
}

func TestReadReport(t *testing.T) {
	for text, want := range map[string]string{
		`{"written": 5}`:                        "not a report of dsconv bench",
		`{"datasets": []}`:                      "not a report of dsconv bench",
		`{"datasets": [`:                        "unexpected EOF",
		`{"datasets": [{"samples": "twelve"}]}`: "samples",
		``:                                      "EOF",
	} {
		if _, err := ReadReport(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadReport(%q): error %v, want one of %s", text, err, want)
		}
	}
}

// judged is a report of a loop in Python whose rows have costs and no verdict, as dsconv.bench of a DataLoader writes it.
const judged = `{
  "consumer": "train.py", "options": {"workers": 2},
  "datasets": [
    {"path": "loader", "format": "DataLoader", "samples": 1000, "epoch_seconds": 3, "images_per_second": 333, "starved": 0.8, "costs": {
       "samples": 1000, "workers": 2, "cores": 2, "loop": true, "step_us": 400, "epoch_seconds": 3, "parts": [
         {"name": "decode", "kind": "decode", "wall_us": 900, "cpu_us": 900},
         {"name": "Cut\u001bout", "kind": "augment", "wall_us": 5000, "cpu_us": 4900, "python": true, "native": "erase"}]}},
    {"path": "judged", "samples": 1000, "costs": {"samples": 1000}, "verdict": {"cause": "swap", "gain": 0.5, "text": "judged before"},
     "diagnosis": "judged before"}
  ],
  "advice": {"text": "", "candidates": [
    {"command": "dsconv.Loader(\"images\")", "setting": true, "lossless": true, "before_seconds": 3, "after_seconds": 0.5},
    {"command": "DataLoader(num_workers=4)", "setting": true, "lossless": true, "before_seconds": 3, "after_seconds": 2.9}]}
}`

// Judge gives rows of Python their verdicts, also in merged reports, and changes none that is there.
func TestJudge(t *testing.T) {
	r := fixed(t, Options{})
	before := r.Datasets[0].Diagnosis
	read, err := ReadReport(strings.NewReader(judged))
	if err != nil {
		t.Fatal(err)
	}
	r.Merge(readLoop(t, "loop.json"), read)
	for range 2 { // nothing changes the second time
		r.Judge()
		loader, other := r.Merged[1].Datasets[0], r.Merged[1].Datasets[1]
		if v := loader.Verdict; v == nil || v.Cause != verdict.OfPython || v.Part != "Cut\x1bout" || loader.Diagnosis != v.Text {
			t.Errorf("%+v, %q", v, loader.Diagnosis)
		}
		if other.Verdict.Text != "judged before" || other.Diagnosis != "judged before" || r.Datasets[0].Diagnosis != before {
			t.Errorf("a verdict has changed: %+v", other.Verdict)
		}
		if a := r.Merged[1].Advice; a.Best == nil || !strings.HasPrefix(a.Text, `dsconv.Loader("images") (lossless): 3.00 s -> 0.50 s`) {
			t.Errorf("advice %+v", a)
		}
		if old := r.Merged[0].Datasets[0]; old.Verdict != nil || old.Diagnosis != "it starved" {
			t.Errorf("a row without costs: %+v, %q", old.Verdict, old.Diagnosis)
		}
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"loader: \"Python-bound: without the dataset's Python code, most of which is Cut\\x1bout, an epoch would take ",
		"the loop waited for data for 80 % of the epoch", "\nadvice: dsconv.Loader(",
		"\n    DataLoader(num_workers=4): 3.00 s -> 2.90 s, lossless\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The ranks of a distributed loop have one verdict.
func TestJudgeOfRanks(t *testing.T) {
	rank := func(step float64) verdict.Costs {
		return verdict.Costs{Workers: 2, Cores: 2, Loop: true, Step: step, Parts: []verdict.Part{{Name: "decode", Kind: verdict.Decode, Wall: 500, CPU: 500}}}
	}
	r := &Report{Consumer: "train.py", Datasets: []Dataset{{
		Samples: 1000, EpochSeconds: 5, RankCosts: []verdict.Costs{rank(400), rank(5000), rank(450)},
	}}}
	for i := range r.Datasets[0].RankCosts {
		r.Datasets[0].RankCosts[i].Samples = 1000
	}
	r.Judge()
	d := &r.Datasets[0]
	if d.Verdict == nil || d.Verdict.Cause != verdict.OfCompute || d.Costs.Rank != 1 || d.Costs.Ranks != 3 || d.Costs.Epoch != 5 {
		t.Errorf("%+v of %+v", d.Verdict, d.Costs)
	}
}

// A GPU's decoding is in no stage of the workers, whose number is that of the row's threads.
func TestJudgeOfADecodingGPU(t *testing.T) {
	r := &Report{Options: Options{Config: reader.Config{Workers: 24}}, Consumer: "resnet18", Datasets: []Dataset{{
		Samples: 1000, EpochSeconds: 0.5, Starved: 0.3, Stages: Stages{Read: 5, Decode: 100, Step: 85},
		Decoded: map[string]int64{"engine": 3000}, Settings: map[string]any{"threads": 16.0},
		Rounds: []Round{{Images: 1000, Epochs: 1, Seconds: 0.5, WaitSeconds: 0.15}},
	}}}
	r.Judge()
	d := &r.Datasets[0]
	if d.Verdict == nil || d.Verdict.Cause != verdict.OfLoading || d.Costs.Workers != 16 || !d.Costs.GPU || len(d.Costs.Parts) != 0 {
		t.Errorf("%+v of %+v", d.Verdict, d.Costs)
	}
}

// What a report of python -m dsconv.train has is still there after merging.
func TestMergeKeepsTheTrainersFigures(t *testing.T) {
	const report = `{
  "machine": {"cores": 2, "gomaxprocs": 2, "go": "", "os": "linux", "arch": "x86_64", "python": "3.11.2"},
  "options": {"batch": 64, "processes": 2, "trainer": {"model": "resnet18", "lr": 0.1, "compile": null}},
  "consumer": "resnet18 in PyTorch, 2 process(es)",
  "datasets": [{"path": "after", "format": "dsconv", "decoded": {"engine": 5, "cuda": 0, "cpu": 2},
    "swept_images_per_second": {"1": 400.5, "2": 700}, "step_us_per_image_without_loading": 81.25}]
}`
	r, err := ReadReport(strings.NewReader(report))
	if err != nil {
		t.Fatal(err)
	}
	whole := fixed(t, Options{})
	whole.Merge(r)
	data, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	var want, got struct{ Options, Datasets any }
	var merged struct{ Merged []json.RawMessage }
	if err := errors.Join(json.Unmarshal([]byte(report), &want), json.Unmarshal(data, &merged), json.Unmarshal(merged.Merged[0], &got)); err != nil {
		t.Fatal(err)
	}
	lost(t, "options", want.Options, got.Options)
	lost(t, "datasets", want.Datasets, got.Datasets)
}

// lost reports the values of want, decoded JSON, that got has not.
func lost(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for key, value := range want {
			lost(t, path+"."+key, value, object[key])
		}
	case []any:
		list, _ := got.([]any)
		for i, value := range want {
			if i >= len(list) {
				t.Fatalf("%s: %d values, want %d", path, len(list), len(want))
			}
			lost(t, path, value, list[i])
		}
	default:
		if want != got {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestAdviceIsChosen(t *testing.T) {
	costs := &verdict.Costs{
		Samples: 1000, Batch: 10, Workers: 1, Cores: 8, Epoch: 10, Parts: []verdict.Part{{Name: "decode", Kind: verdict.Decode, Wall: 10_000, CPU: 10_000}},
	}
	d := Dataset{Path: "images", EpochSeconds: 10, Costs: costs, Verdict: &verdict.Verdict{Text: "decode-bound"}, Diagnosis: "decode-bound"}
	r := &Report{Datasets: []Dataset{d, d}}
	r.Advise([]verdict.Candidate{{Command: "pack", Lossless: true, Before: 10, After: 4}})
	if r.Advice == nil || r.Advice.Best == nil {
		t.Fatalf("%+v", r)
	}
	none := &Report{Datasets: []Dataset{{Diagnosis: "somebody else's"}}}
	none.Advise(nil)
	if none.Advice != nil || none.Datasets[0].Diagnosis != "somebody else's" {
		t.Errorf("advice without costs: %+v", none)
	}
}

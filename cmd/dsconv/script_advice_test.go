package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/durable"
)

// scriptReport is a report of a DataLoader with an epoch of 10 s, and of dsconv's loader on the folder, with 5 s.
func scriptReport(folder string, starved float64) *bench.Report {
	own := &verdict.Costs{
		Samples: 12, Batch: 4, Workers: 2, Processes: true, Cores: 2, Loop: true, Step: 1000, Epoch: 10, Starved: starved, Loader: 800000,
		Parts: []verdict.Part{{Name: "load", Kind: verdict.Decode, Wall: 1.6e6, CPU: 1.6e6, Python: true}},
	}
	ours := &verdict.Costs{
		Samples: 12, Batch: 4, Workers: 2, Cores: 2, Loop: true, Step: 1000, Epoch: 5, Starved: starved, Loader: 400000,
		Parts: []verdict.Part{{Name: "decode", Kind: verdict.Decode, Wall: 800000, CPU: 800000}},
	}
	command := `dsconv.Loader("` + folder + `")`
	r := &bench.Report{
		Consumer: "the loop's step",
		Datasets: []bench.Dataset{
			{Path: "train.py:loader", Samples: 12, EpochSeconds: 10, Ratio: 1, Starved: starved, Costs: own},
			{
				Path: "ours", Samples: 12, EpochSeconds: 5, Ratio: 2, Costs: ours,
				Settings: map[string]any{"dataset": folder, "augment": "rrc:32,flip,normalize"},
			},
		},
		Advice: &verdict.Advice{Candidates: []verdict.Candidate{{Command: command, Setting: true, Lossless: true, Before: 10, After: 5}}},
	}
	r.Judge()
	return r
}

func TestPackingIsTriedForAScript(t *testing.T) {
	if testing.Short() {
		t.Skip("test_ways_to_pack_are_tried does it by Python")
	}
	folder := filepath.Join(t.TempDir(), "images")
	c := &console{out: io.Discard, err: os.Stderr}
	if code := run(t.Context(), []string{"dsconv", "synth", folder, "--n=12", "--classes=3", "--size=64x48", "--quiet"}, c); code != exitDone {
		t.Fatal(code)
	}
	steps := 0
	count := func(plan.Progress) { steps++ }
	r := scriptReport(folder, 0.9)
	if err := advisePacking(t.Context(), r, count); err != nil {
		t.Fatal(err)
	}
	list := r.Advice.Candidates
	packs := func(c verdict.Candidate) bool { return strings.HasPrefix(c.Command, "dsconv pack "+folder) }
	i := slices.IndexFunc(list, packs)
	if i < 0 || steps == 0 {
		t.Fatalf("no packing was tried: %+v", list)
	}
	for _, c := range list {
		if c.Before != 10 || !(c.After > 0) || packs(c) == c.Setting {
			t.Errorf("%+v", c)
		}
	}
	if r.Advice.Best == nil || r.Advice.Text == "" {
		t.Errorf("%+v", r.Advice)
	}
	changed := scriptReport(folder, 0.9)
	changed.Datasets[1].Settings["lossless"] = false
	if err := advisePacking(t.Context(), changed, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range changed.Advice.Candidates {
		if packs(c) && c.Lossless {
			t.Errorf("its transforms change pixels: %+v", c)
		}
	}
}

func TestPackingIsNotTriedForAScript(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	never := func(plan.Progress) { t.Error("something was tried") }
	waitsLittle, python := scriptReport(missing, 0.02), scriptReport(missing, 0.9)
	delete(python.Datasets[1].Settings, "augment")
	for _, r := range []*bench.Report{waitsLittle, python} {
		if err := advisePacking(t.Context(), r, never); err != nil || len(r.Advice.Candidates) != 1 {
			t.Errorf("%v, %+v", err, r.Advice)
		}
	}
	if err := advisePacking(t.Context(), scriptReport(missing, 0.9), never); err == nil {
		t.Error("a folder that is missing is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := advisePacking(ctx, scriptReport(t.TempDir(), 0.9), never); err == nil {
		t.Error("it goes on after its context's end")
	}
}

// What was measured is reported even if packing cannot be tried; who asks for it learns why it was not.
func TestAdviceOnAReport(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for want, r := range map[string]*bench.Report{
		"none": scriptReport(missing, 0.9), "hardly waits": scriptReport(missing, 0.02), "": {Datasets: []bench.Dataset{{Path: "a"}}},
	} {
		file := filepath.Join(t.TempDir(), "report.json")
		if err := durable.WriteJSON(file, r); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		c := &console{out: &out, err: io.Discard}
		if code := run(t.Context(), []string{"dsconv", "bench", "--merge", file, "--advise", "--quiet"}, c); code != exitDone {
			t.Fatal(code)
		}
		if _, note, ok := strings.Cut(out.String(), "no ways to pack were tried: "); !ok || !strings.Contains(note, want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

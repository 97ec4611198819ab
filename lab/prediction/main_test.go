package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The machine may have become slower between prediction and measurement: the folder's epochs tell by how much.
func TestEpochIsRelative(t *testing.T) {
	f := epoch(4, 10, 20, 0.5) // 0.4 of the folder's epoch was predicted, and 0.5 came, on a machine of half the speed
	if math.Abs(f.Ratio-0.8) > 1e-12 || f.Measured != 10 || math.Abs(f.off()+20) > 1e-9 {
		t.Errorf("%+v is %g %% off", f, f.off())
	}
	if f := figureOf(3, 0); f.Ratio != 0 || f.off() != 0 {
		t.Errorf("nothing was measured: %+v", f)
	}
}

func TestLimit(t *testing.T) {
	r := result{Rows: []row{{Set: "demo", Command: "x", Plan: &figures{Epoch: figureOf(1.2, 1), Bytes: figureOf(0.9, 1), Pack: figureOf(9, 1)}}}}
	if err := r.check(0.25); err != nil {
		t.Error(err)
	}
	if err := r.check(0.19); err == nil || !strings.Contains(err.Error(), "plan of demo, x") {
		t.Error(err)
	}
	r.Rows[0].Plan.Bytes = figureOf(0.7, 1)
	if err := r.check(0.25); err == nil {
		t.Error("the bytes are off by 30 %")
	}
}

func TestRun(t *testing.T) {
	work := t.TempDir()
	file := filepath.Join(t.TempDir(), "result.json")
	var out strings.Builder
	o, err := parse([]string{"--rounds", "1", "--seconds", "0.001", "--sets", "small", "--small", "60", "--limit", "1e9", "--json", file, work})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var r result
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Rows) != 3 || strings.Count(out.String(), "\n") != 3 {
		t.Fatalf("%+v, %v, %q", r, err, out.String())
	}
	for _, row := range r.Rows {
		if row.Plan == nil || row.Plan.Epoch.Ratio <= 0 || row.Plan.Bytes.Ratio <= 0 || row.Images != 60 {
			t.Errorf("%+v", row)
		}
	}
	left, err := os.ReadDir(work)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	for _, args := range [][]string{{}, {"--rounds", "0", work}, {"--sets", "other", work}, {"--sets", "photos", work}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain makes the test's program the one whose processes are measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--phase" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestMany(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "many.json")
	var out bytes.Buffer
	args := "--samples 3000 --shards 7 --lookups 100 --dir " + filepath.Join(dir, "work") + " --json " + file
	if err := run(strings.Fields(args), &out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Results []result }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Results) != len(phases) {
		t.Fatalf("%d phases: %s", len(all.Results), b)
	}
	for k, r := range all.Results {
		if r.Phase != phases[k].name || r.Seconds["all"] <= 0 || r.PeakAnonymous < 1<<20 || r.Memory.Anonymous == 0 || r.Bytes["samples"] != 3000 {
			t.Errorf("%+v", r)
		}
		if looked := r.Lookups["key, warm"].CPU > 0; looked != (r.Phase == "open" || r.Phase == "load") {
			t.Errorf("%+v", r)
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != len(phases) || !strings.Contains(out.String(), "bytes a sample") {
		t.Errorf("report %q", &out)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "work")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range []string{"--samples 0", "--phases pack,fly", "--phase fly", "--lookups 0"} {
		if err := run(append(strings.Fields(args), "--dir", t.TempDir()), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

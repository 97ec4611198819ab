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
	if len(os.Args) > 1 && os.Args[1] == probeName {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestScale(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scale.json")
	args := strings.Fields("--formats shard --small 40 --large 400 --shards 3 --reads 500 --rounds 2 --opens 2 --epochs 1 --side 16 --dir " + dir + " --json " + file)
	var out bytes.Buffer
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shard"} {
		m := r.Formats[name]
		if len(m) != 2 || m[0].Samples != 40 || m[1].Samples != 400 || len(m[1].OpenSeconds) != 2 || len(m[1].Disk) != 2 {
			t.Fatalf("%s: %+v", name, m)
		}
		for _, pass := range []string{"first view, 1", "view, 1", "view, 2", "lookup, 1", "first plain, 1", "plain, 2", "info, 1", "read, 2", "cold view, 1", "prefetch, 1"} {
			if ns := m[1].Nanoseconds[pass]; len(ns) != 2 || ns[0] <= 0 {
				t.Errorf("%s: pass %q took %v", name, pass, ns)
			}
		}
		for k, p := range m[1].Processes {
			if want := []int{steadyBatches, 1}[k]; p.Batches < want || p.Batches > want+7 || p.OpenSeconds <= 0 || p.FirstBatchSeconds <= p.OpenSeconds || p.Loaded.PrivateDirty == 0 {
				t.Errorf("%s: process %d: %+v", name, k, p)
			}
		}
		if len(m[1].Processes) != 2 || !strings.Contains(out.String(), "loaded, private") {
			t.Errorf("%s: %d processes, report %q", name, len(m[1].Processes), &out)
		}
		if r.Growth[name]["view, 1"] <= 0 || !strings.Contains(out.String(), name+" of 400") {
			t.Errorf("%s: growth %v, report %q", name, r.Growth[name], &out)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range []string{"--formats folder", "--small 0", "--small 5 --large 4", "--rounds 0", "--min-bytes 5", "--side 0", "--min-bytes 900 --max-bytes 800"} {
		if err := run(append(strings.Fields(args), "--dir", t.TempDir()), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

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

func TestScale(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scale.json")
	args := strings.Fields("--formats shard --small 40 --large 400 --shards 3 --reads 500 --rounds 2 --dir " + dir + " --json " + file)
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
		for _, pass := range []string{"first view, 1", "view, 1", "view, 2", "lookup, 1", "bytes, 2", "info, 1", "read, 2", "cold view, 1", "prefetch, 1"} {
			if ns := m[1].Nanoseconds[pass]; len(ns) != 2 || ns[0] <= 0 {
				t.Errorf("%s: pass %q took %v", name, pass, ns)
			}
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
	for _, args := range []string{"--formats folder", "--small 0", "--small 5 --large 4", "--rounds 0", "--min-bytes 5", "--min-bytes 900 --max-bytes 800"} {
		if err := run(append(strings.Fields(args), "--dir", t.TempDir()), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

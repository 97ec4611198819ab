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

func TestColdRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "coldread.json")
	args := strings.Fields("--file-mib 2 --records 5000,700 --bytes 400000 --rounds 2 --dir " + dir + " --json " + file)
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
	if len(r.Measurements) != 2*len(ways) || strings.Count(out.String(), "\n") != 2*len(ways) {
		t.Fatalf("%d measurements of %d ways: %s", len(r.Measurements), len(ways), &out)
	}
	for _, m := range r.Measurements {
		if m.Reads != 400_000/m.Record || len(m.Seconds) != 2 || m.PerSec <= 0 {
			t.Errorf("%+v", m)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range []string{"--records x", "--records 0", "--file-mib 1 --records 2000000", "--batch 0", "--rounds 0"} {
		if err := run(append(strings.Fields(args), "--dir", t.TempDir()), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

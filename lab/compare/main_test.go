package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ratios are of times within a round, so that a machine's drift from round to round cancels.
func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	m := measured{
		Base: []turn{{1, 4}, {10, 4}, {100, 4}, {3, 4}, {1, 4}},
		Head: []turn{{2, 2}, {10, 2}, {50, 2}, {2, 2}, {0.25, 2}},
	}
	m.summarise()
	if m.Ratio != 1.5 || m.Low != 1 || m.High != 2 || m.CPU != 2 {
		t.Errorf("%+v: wanted the median of 0.5, 1, 2, 1.5, 4, its quarters, and 2", m)
	}
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q, is  float64
	}{
		{[]float64{7}, 0.5, 7},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3}, 0.5, 2},
		{[]float64{0, 1, 2, 3}, 0.25, 0.75},
		{[]float64{0, 1, 2, 3}, 1, 3},
	} {
		if got := quantile(test.values, test.q); got != test.is {
			t.Errorf("quantile(%v, %g) = %g, not %g", test.values, test.q, got, test.is)
		}
	}
}

// Which side is first alternates from round to round, and the first round is not counted.
func TestTurnsAreInterleaved(t *testing.T) {
	var order []string
	c := namedCase{"x", func(_ context.Context, s side) (turn, error) {
		order = append(order, s.name)
		return turn{float64(len(order)), 1}, nil
	}}
	s := &settings{Rounds: 3, base: side{name: "base"}, head: side{name: "head"}}
	m, err := compare(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "base head head base base head head base" {
		t.Error(got)
	}
	if len(m.Base) != 3 || m.Base[0].Seconds != 4 || m.Head[0].Seconds != 3 {
		t.Errorf("%+v", m)
	}
}

// A stand-in for dsconv shows that every case runs, that datasets are packed by base alone
// and removed, and that a failure names its side and what the program printed.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	program := func(name, then string) string {
		path := filepath.Join(dir, name)
		text := `#!/bin/sh
echo "` + name + ` $1 $2 $3" >>` + log + `
case $1 in
synth) mkdir "$2";;
pack|unpack) ` + then + `; : >"$3";;
bench) echo '{"datasets":[{"rounds":[{"seconds":2,"cpu_seconds":3}]}]}' >"$7";;
esac
`
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	base, head := program("base", ":"), program("head", ":")
	file := filepath.Join(dir, "result.json")
	work := t.TempDir()
	args := []string{"-base", base, "-head", head, "-work", work, "-json", file, "-rounds", "1"}
	var out, progress strings.Builder
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 14 || r.Cases[0].Ratio != 1 || !strings.Contains(out.String(), "pack tiled") {
		t.Errorf("%s\n%s", text, out.String())
	}
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "base synth "); n != 2 || strings.Contains(string(lines), "head synth ") {
		t.Errorf("%d folders made:\n%s", n, lines)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	broken := program("broken", "echo 'no room' >&2; exit 1")
	err = run(t.Context(), append(args, "-head", broken, "-only", "pack keep"), &out, &progress)
	if err == nil || !strings.Contains(err.Error(), "pack keep: head:") || !strings.Contains(err.Error(), "no room") {
		t.Error(err)
	}
}

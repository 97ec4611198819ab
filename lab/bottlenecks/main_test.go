package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/synth"
)

// fakeBench is a dsconv that gives every subject the same verdict.
func fakeBench(t *testing.T, cause verdict.Cause, part string) string {
	t.Helper()
	report := fmt.Sprintf(`{"datasets":[{"verdict":{"cause":%q,"part":%q,"gain":0.5,"text":"a text"}}]}`, cause, part)
	script := "#!/bin/sh\nfor a; do case $a in --json=*) echo '" + report + `' >"${a#--json=}";; esac; done` + "\n"
	file := filepath.Join(t.TempDir(), "dsconv")
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMain(m *testing.M) {
	images = map[string]synth.Options{smallImages: {N: 2, Classes: 2, Width: 16, Height: 16}} // what is measured is not real here
	os.Exit(m.Run())
}

// A verdict that names another cause or part fails the run, and is in the result all the same.
func TestVerdictsAreChecked(t *testing.T) {
	for _, c := range []struct {
		cause verdict.Cause
		part  string
		wrong string
	}{
		{verdict.OfPython, "subject.Heavy", ""},
		{verdict.OfPython, "subject.to_tensor", "2 of 2 verdicts are wrong"},
		{verdict.OfDecode, "subject.Heavy", "2 of 2 verdicts are wrong"},
	} {
		var out strings.Builder
		file := filepath.Join(t.TempDir(), "result.json")
		err := run(t.Context(), []string{
			"--rounds=2", "--only=Python augmentation (DataLoader)", "--json=" + file, "--dsconv=" + fakeBench(t, c.cause, c.part),
		}, &out)
		if got := fmt.Sprint(err); err == nil && c.wrong != "" || err != nil && got != c.wrong {
			t.Errorf("%s of %s: %s, want %q\n%s", c.cause, c.part, got, c.wrong, &out)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r result
		if err := json.Unmarshal(data, &r); err != nil || len(r.Verdicts) != 2 || r.Verdicts[1].Round != 2 || r.Verdicts[0].Verdict == nil {
			t.Errorf("%v: %s", err, data)
		}
	}
}

// A measurement that fails is wrong, one that is not possible here is not.
func TestFailedIsNotSkipped(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "dsconv")
	var out strings.Builder
	err := run(t.Context(), []string{"--only=slow collate (DataLoader)", "--dsconv=" + missing}, &out)
	if err == nil || !strings.Contains(out.String(), "FAILED   slow collate") {
		t.Error(err, out.String())
	}
	r := result{Verdicts: []given{{Name: "swapping", Skipped: "no root"}, {Name: "read", Want: verdict.OfStorage, Verdict: &verdict.Verdict{Cause: verdict.OfStorage}}}}
	if err := r.summary(&out); err != nil {
		t.Error(err)
	}
	if err := (&result{Verdicts: r.Verdicts[:1]}).summary(&out); err == nil {
		t.Error("a run that measured nothing is no success")
	}
}

// Each function that a bottleneck names is in the script, no two have the same name, and each cause is built.
func TestBottlenecks(t *testing.T) {
	var keys []string
	var causes []verdict.Cause
	for k := range bottlenecks {
		b := &bottlenecks[k]
		if b.python != "" && !strings.Contains(string(subject), "\ndef "+b.python+"(") {
			t.Errorf("%s: %s has no %s", b.key(), subjectFile, b.python)
		}
		if slices.Contains(keys, b.key()) {
			t.Errorf("two are called %s", b.key())
		}
		keys, causes = append(keys, b.key()), append(causes, b.cause)
	}
	for _, cause := range []verdict.Cause{
		verdict.OfStorage, verdict.OfDecode, verdict.OfAugment, verdict.OfPython, verdict.OfCollate, verdict.OfTransfer, verdict.OfCompute,
		verdict.OfCores, verdict.OfSwap, verdict.OfStart,
	} {
		if !slices.Contains(causes, cause) {
			t.Errorf("nothing is built that is %s", cause)
		}
	}
}

// Busy programs end with their input.
func TestBusyProgramsEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		spin(r)
		close(done)
	}()
	w.Close()
	<-done
	r.Close()
}

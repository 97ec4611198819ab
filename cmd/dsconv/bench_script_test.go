package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakePython is a program that answers as Python's dsconv.measure does.
func fakePython(t *testing.T, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+commands), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const fakeReport = `{"consumer":"loader alone","datasets":[{"path":"train.py:loader","rounds":[]}]}`

func TestScriptReport(t *testing.T) {
	python := fakePython(t, `echo "$@" >&2
echo '{"round": 1, "done": 2, "total": 2, "seconds": 0.5, "images_per_second": 10, "dataset": "train.py:loader"}' >&2
echo printed by the script
printf '%s' '`+fakeReport+`' >&3
`)
	var out, messages strings.Builder
	c := &console{out: &out, err: &messages}
	args := []string{"bench", "--script", "train.py:loader", "--python", python, "--step=step", "--consume", "3000/s", "--rounds=1", "a.lmdb"}
	err := newApp(c).RunContext(t.Context(), append([]string{"dsconv"}, args...))
	if err == nil || !strings.Contains(err.Error(), "--consume stands in for a loop") {
		t.Fatal(err)
	}
	args = append(args[:5:5], "--step=step", "--rounds=1", "--limit-batches=7", "a.lmdb")
	if err := newApp(c).RunContext(t.Context(), append([]string{"dsconv"}, args...)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "train.py:loader") {
		t.Error(out.String())
	}
	for _, want := range []string{
		"from dsconv.measure import main", "--progress=json --json=3 --script=train.py:loader --step=step --rounds=1 --limit-batches=7 -- a.lmdb",
		"printed by the script\n", "round 1 of 1: train.py:loader: 0.50 s an epoch, 10 images/s",
	} {
		if !strings.Contains(messages.String(), want) {
			t.Errorf("%q is missing in\n%s", want, messages.String())
		}
	}
	if strings.Contains(messages.String(), `{"round"`) {
		t.Error(messages.String())
	}
}

func TestScriptFailures(t *testing.T) {
	for _, c := range []struct{ commands, want string }{
		{"echo 'dsconv.measure: train.py has no x' >&2; exit 2", "train.py has no x"},
		{"echo 'ModuleNotFoundError: No module named dsconv' >&2; exit 1", "install the wheel there"},
		{"echo 'ZeroDivisionError: division by zero' >&2; exit 1", "the script failed: ZeroDivisionError: division by zero"},
		{"printf 'ValueError: no photos\n\n' >&2; exit 1", "the script failed: ValueError: no photos"}, // as libraries print
		{"exit 0", "the report of"},
		{"printf '{}' >&3", "it has no datasets"},
	} {
		console := &console{out: &strings.Builder{}, err: &strings.Builder{}}
		_, err := measureScript(t.Context(), fakePython(t, c.commands), nil, &scriptMessages{c: console})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.commands, err, c.want)
		}
	}
	_, err := measureScript(t.Context(), filepath.Join(t.TempDir(), "none"), nil, &scriptMessages{})
	if err == nil || !strings.Contains(err.Error(), "--python names the Python of the training") {
		t.Error(err)
	}
}

func TestScriptEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	python := fakePython(t, "trap 'exit 130' TERM; touch "+started+"; while :; do sleep 0.01; done")
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := measureScript(ctx, python, nil, &scriptMessages{c: &console{err: &strings.Builder{}}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

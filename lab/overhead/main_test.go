package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/synth"
)

// Which kind is first alternates, and ratios are of times within a round: a machine that slows down changes nothing.
func TestTurns(t *testing.T) {
	var order strings.Builder
	slower := 1.0
	r := result{Options: options{Rounds: 4}}
	err := r.measure(t.Context(), func(_ context.Context, watched bool) (turn, error) {
		one := turn{Seconds: slower, CPU: 10}
		if watched {
			one.Seconds, one.CPU = 1.02*slower, 10.1
		}
		if fmt.Fprintf(&order, "%t ", watched); strings.Count(order.String(), " ")%2 == 0 {
			slower *= 2
		}
		return one, nil
	})
	if err != nil || order.String() != "true false false true true false false true " {
		t.Fatal(order.String(), err)
	}
	if got, want := r.text(), "4 rounds: watching changes the epoch by +2.00 % (quartiles +2.00 and +2.00), "+
		"the CPU time of an image by +1.00 % (quartiles +1.00 and +1.00)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	failed := errors.New("failed")
	if err := r.measure(t.Context(), func(context.Context, bool) (turn, error) { return turn{}, failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "images")
	if err := synth.Write(t.Context(), dir, synth.Options{N: 12, Classes: 2, Width: 32, Height: 32}, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "result.json")
	var out strings.Builder
	if err := run(t.Context(), []string{"--rounds", "2", "--size", "16", "--limit", "1e9", "--json", file, dir}, &out); err != nil {
		t.Fatal(err)
	}
	var r result
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Watched) != 2 || len(r.Plain) != 2 || r.Seconds.Median <= 0 || !strings.HasPrefix(out.String(), "2 rounds: ") {
		t.Errorf("%+v, %v, %q", r, err, out.String())
	}
	if err := run(t.Context(), []string{"--rounds", "1", "--size", "16", "--limit", "-1e9", dir}, &out); err == nil {
		t.Error("no error beyond the limit")
	}
	for _, args := range [][]string{{}, {"--rounds", "0", dir}, {dir + "/nothing"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

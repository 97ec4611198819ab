package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/durable"
)

// result is all verdicts, with the machine.
type result struct {
	Rounds   int     `json:"rounds"`
	Busy     bool    `json:"busy"` // every core was kept busy by other programs
	Cores    int     `json:"cores"`
	System   string  `json:"system"`
	Commit   string  `json:"commit,omitempty"`
	Verdicts []given `json:"verdicts"`
}

// given is the verdict on one bottleneck in one round.
type given struct {
	Name     string           `json:"name"`
	Around   string           `json:"around,omitempty"` // where the process ran
	Round    int              `json:"round"`
	Want     verdict.Cause    `json:"want"`
	WantPart string           `json:"want_part,omitempty"` // that the verdict's part must contain
	Seconds  float64          `json:"seconds"`             // of the whole measurement
	Skipped  string           `json:"skipped,omitempty"`   // why
	Error    string           `json:"error,omitempty"`
	Verdict  *verdict.Verdict `json:"verdict,omitempty"`
	Costs    *verdict.Costs   `json:"costs,omitempty"` // of a verdict that is wrong
}

func newResult(o *options) *result {
	r := &result{Rounds: o.rounds, Busy: o.busy, Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Commit = info.Main.Version
	}
	return r
}

// right reports whether the verdict names what was built in, or none could be given.
func (g *given) right() bool {
	if g.Skipped != "" {
		return true
	}
	return g.Error == "" && g.Verdict.Cause == g.Want && strings.Contains(g.Verdict.Part, g.WantPart)
}

// line is what is shown once the verdict is known.
func (g *given) line() string {
	switch {
	case g.Skipped != "":
		return fmt.Sprintf("skipped  %s: %s", g.Name, g.Skipped)
	case g.Error != "":
		return fmt.Sprintf("FAILED   %s: %s", g.Name, g.Error)
	case !g.right():
		return fmt.Sprintf("WRONG    %s: %s, want %s %s\n         %s\n         %s", g.Name, g.Verdict.Cause, g.Want, g.WantPart,
			g.Verdict.Text, strings.Join(g.Verdict.Evidence, "\n         "))
	}
	text := fmt.Sprintf("right    %s: %s, %.0f %% of the epoch", g.Name, g.Verdict.Cause, 100*g.Verdict.Gain)
	if len(g.Verdict.Others) > 0 {
		o := &g.Verdict.Others[0]
		text += fmt.Sprintf(" (next: %s, %.0f %%)", o.Cause, 100*o.Gain)
	}
	return text
}

// summary writes how many verdicts were right. It returns an error if one was not, or nothing was measured.
func (r *result) summary(out io.Writer) error {
	right, skipped := 0, 0
	for k := range r.Verdicts {
		switch g := &r.Verdicts[k]; {
		case g.Skipped != "":
			skipped++
		case g.right():
			right++
		}
	}
	measured := len(r.Verdicts) - skipped
	fmt.Fprintf(out, "%d of %d verdicts are right; %d skipped\n", right, measured, skipped)
	if right < measured || measured == 0 {
		return fmt.Errorf("%d of %d verdicts are wrong", measured-right, measured)
	}
	return nil
}

// save writes the result to a file.
func (r *result) save(file string) error {
	return durable.WriteJSON(file, r)
}

package verdict

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	tiled = Candidate{
		Command: "dsconv pack images tiled.lmdb --encode jpeg-tiled", Lossless: true, Before: 41, After: 24, Extra: 0.01, PackSeconds: 51,
	}
	small = Candidate{
		Command: "dsconv pack images small.lmdb --resize shorter:256 --encode jpeg:90", Before: 41, After: 14, Extra: -0.6, PackSeconds: 90,
	}
	workers = Candidate{Command: "DataLoader(num_workers=4)", Setting: true, Lossless: true, Before: 41, After: 40.5}
	ours    = Candidate{Command: `dsconv.Loader("images")`, Setting: true, Lossless: true, Before: 41, After: 25}
)

func with(c Candidate, change func(c *Candidate)) Candidate {
	change(&c)
	return c
}

// pixels is a candidate that takes seven times the disk.
func pixels(after float64) Candidate {
	return Candidate{Command: "dsconv pack images raw.lmdb --encode raw", Lossless: true, Before: 41, After: after, Extra: 6, PackSeconds: 20}
}

func TestAdvise(t *testing.T) {
	decoding := Verdict{Cause: OfDecode, Gain: 0.6}
	computing := Verdict{Cause: OfCompute, Gain: 0.9, Text: "compute-bound: faster data would not help"}
	saving := func(c Candidate, seconds float64) Candidate {
		return with(c, func(c *Candidate) { c.After = c.Before - seconds })
	}
	for _, c := range []struct {
		name       string
		verdict    Verdict
		candidates []Candidate
		best       string
		text       string
	}{
		{
			"pixels that may change save much more", decoding,
			[]Candidate{small, workers, tiled},
			small.Command,
			"dsconv pack images tiled.lmdb --encode jpeg-tiled (lossless): 41.0 s -> 24.0 s, +1 % disk, packing pays after 3 epochs; " +
				"dsconv pack images small.lmdb --resize shorter:256 --encode jpeg:90 (changes pixels): 41.0 s -> 14.0 s, -60 % disk, " +
				"packing pays after 4 epochs",
		},
		{
			"pixels that may change save a quarter more, no less", decoding,
			[]Candidate{saving(small, 1.25*17), tiled},
			tiled.Command,
			"(lossless): 41.0 s -> 24.0 s, +1 % disk, packing pays after 3 epochs; dsconv pack images small",
		},
		{
			"pixels that may change save a little more", decoding, []Candidate{saving(small, 17.5), tiled}, tiled.Command, "(lossless): 41.0 s -> 24.0 s",
		},
		{
			"pixels that may change save less", decoding,
			[]Candidate{saving(small, 10), tiled},
			tiled.Command,
			"dsconv pack images tiled.lmdb --encode jpeg-tiled (lossless): 41.0 s -> 24.0 s, +1 % disk, packing pays after 3 epochs",
		},
		{
			"pixels that take much disk and do not halve the epoch", decoding,
			[]Candidate{tiled, pixels(12.1)},
			tiled.Command,
			"dsconv pack images tiled.lmdb --encode jpeg-tiled (lossless): 41.0 s -> 24.0 s, +1 % disk, packing pays after 3 epochs",
		},
		{
			"pixels that take much disk and halve the epoch", decoding,
			[]Candidate{tiled, pixels(12)},
			pixels(12).Command,
			"packing pays after 3 epochs; dsconv pack images raw.lmdb --encode raw (lossless): 41.0 s -> 12.0 s, +600 % disk, packing pays after 1 epoch",
		},
		{"much disk alone", decoding, []Candidate{pixels(20)}, pixels(20).Command, "raw.lmdb"},
		{
			"much disk alone for too little", decoding,
			[]Candidate{pixels(21)},
			"", "do not convert: the best of 1 candidate would save 49 % of the epoch, too little for +600 % disk: dsconv pack images raw.lmdb",
		},
		{"nothing lossless is worth it", decoding, []Candidate{saving(tiled, 4), small}, small.Command, "dsconv pack images small.lmdb"},
		{
			"a setting that saves nearly as much as packing", decoding,
			[]Candidate{tiled, ours},
			ours.Command,
			`dsconv.Loader("images") (lossless): 41.0 s -> 25.0 s`,
		},
		{"a setting that saves less than packing", decoding, []Candidate{tiled, saving(ours, 8)}, tiled.Command, "tiled.lmdb"},
		{
			"a setting alone", decoding,
			[]Candidate{saving(tiled, 3), ours},
			ours.Command,
			`dsconv.Loader("images") (lossless): 41.0 s -> 25.0 s; do not convert`,
		},
		{
			"too little is saved", decoding,
			[]Candidate{saving(tiled, 4), saving(small, 4.05), workers},
			"",
			"do not convert: the best of 3 candidates would save 10 % of the epoch: dsconv pack images small.lmdb",
		},
		{"all are slower", decoding, []Candidate{saving(tiled, -4), saving(small, 0)}, "", "do not convert: none of 2 candidates is faster"},
		{"the loop is slow", computing, []Candidate{saving(tiled, 1)}, "", "do not convert: compute-bound: faster data would not help"},
		{"no candidates", decoding, nil, "", "do not convert: nothing was measured that could be faster"},
		{
			"one without a prediction", decoding,
			[]Candidate{{Command: "x", Lossless: true}},
			"",
			"do not convert: nothing was measured that could be faster",
		},
	} {
		before := slices.Clone(c.candidates)
		a := Advise(&Costs{}, c.verdict, c.candidates)
		if diff := cmp.Diff(before, c.candidates); diff != "" {
			t.Errorf("%s: the caller's candidates have changed (-before +after):\n%s", c.name, diff)
		}
		var best string
		if a.Best != nil {
			best = a.Best.Command
		}
		if best != c.best || !strings.Contains(a.Text, c.text) {
			t.Errorf("%s: best %q, want %q\n got: %s\nwant: %s", c.name, best, c.best, a.Text, c.text)
		}
		if len(c.candidates) == 0 || !strings.HasSuffix(c.name, "save less") {
			continue
		}
		if strings.Contains(a.Text, "small.lmdb") {
			t.Errorf("%s: %q names what changes pixels and saves less", c.name, a.Text)
		}
	}
}

// The lossless candidates are first, and each kind by its epoch; those that nobody predicted are last.
func TestOrderOfCandidates(t *testing.T) {
	unknown := Candidate{Command: "unknown", Lossless: true, Before: 41}
	want := []string{tiled.Command, ours.Command, workers.Command, unknown.Command, small.Command}
	for seed := range uint64(50) {
		list := []Candidate{tiled, ours, workers, unknown, small}
		rand.New(rand.NewPCG(seed, 5)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		a := Advise(nil, Verdict{}, list)
		var got []string
		for _, c := range a.Candidates {
			got = append(got, c.Command)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if a.Best == nil || a.Best.Command != small.Command {
			t.Fatalf("best of %v: %+v", got, a.Best)
		}
	}
}

// What a candidate leaves open is computed: its epoch by its costs, and how long packing takes to pay.
func TestCandidatesAreCompleted(t *testing.T) {
	subject := build(func(c *Costs) { c.Parts[1].Wall += 5000; c.Parts[1].CPU += 5000 })
	costs := usual()
	a := Advise(subject, Judge(subject), []Candidate{{Command: "pack", Lossless: true, Costs: &costs, PackSeconds: 60}})
	c := a.Best
	if c == nil || c.Before != subject.Epoch || c.After != Predict(subject, &costs) || c.BreakEven != 60/(c.Before-c.After) {
		t.Errorf("%+v", a)
	}
}

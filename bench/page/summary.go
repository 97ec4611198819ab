package page

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/legible"
)

// causeNames are the causes as the head of a page.
var causeNames = map[verdict.Cause]string{
	verdict.OfStorage:  "Storage-bound",
	verdict.OfDecode:   "Decode-bound",
	verdict.OfAugment:  "Augmentation-bound",
	verdict.OfCollate:  "Collate-bound",
	verdict.OfPython:   "Python code",
	verdict.OfTransfer: "Transfer-bound",
	verdict.OfCompute:  "Compute-bound",
	verdict.OfCores:    "Short of CPU cores",
	verdict.OfSwap:     "Swapping",
	verdict.OfStart:    "Slow start of epochs",
	verdict.OfLoading:  "Loading-bound",
	verdict.Balanced:   "Balanced",
}

// causeThings are what would go.
var causeThings = map[verdict.Cause]string{
	verdict.OfStorage: "reading", verdict.OfDecode: "decoding", verdict.OfAugment: "augmentation", verdict.OfCollate: "collating",
	verdict.OfPython: "Python code", verdict.OfTransfer: "copies to the device", verdict.OfCompute: "the loop's own step",
	verdict.OfCores: "waiting for a core", verdict.OfSwap: "swapping", verdict.OfStart: "start of the epoch",
	verdict.OfLoading: "waiting for data",
}

// causeRoles are the colours of causes: those of the stages that they are.
var causeRoles = map[verdict.Cause]string{
	verdict.OfStorage: "read", verdict.OfDecode: "decode", verdict.OfAugment: "augment", verdict.OfCollate: "collate",
	verdict.OfPython: "python", verdict.OfTransfer: "transfer", verdict.OfCompute: "step", verdict.OfCores: "queue",
	verdict.OfSwap: "swap", verdict.OfStart: "start", verdict.Balanced: "step",
}

// causeName is the name of a cause, with the part that it is.
func causeName(c verdict.Cause, part string) string { return named(causeNames, c, part) }

// causeThing is what costs time, with the part that it is.
func causeThing(c verdict.Cause, part string) string { return named(causeThings, c, part) }

func named(names map[verdict.Cause]string, c verdict.Cause, part string) string {
	name, ok := names[c]
	if !ok {
		name = sentence(string(c))
	}
	if part != "" && !strings.EqualFold(part, string(c)) {
		name += ": " + legible.Name(part)
	}
	return name
}

func causeRole(c verdict.Cause) string {
	if role, ok := causeRoles[c]; ok {
		return role
	}
	return "other"
}

// summarise is the answer for the first dataset.
func summarise(r *bench.Report) summary {
	list := subjects(r, nil)
	if len(list) == 0 {
		return summary{}
	}
	first := list[0]
	s := summary{Subject: first.name, Text: sentence(first.Diagnosis), Tone: "other"}
	s.Figures = []figure{
		{seconds(first.EpochSeconds), "an epoch"},
		{count(int64(finite(first.ImagesPerSecond))), "images/s"},
	}
	if first.waits() {
		s.Figures = append(s.Figures, figure{share(first.Starved), "of the epoch the loop waited"})
	}
	if v := first.Verdict; v != nil {
		s.Cause, s.Tone, s.Text, s.Evidence = causeName(v.Cause, v.Part), causeRole(v.Cause), headline(v.Text), sentences(v.Evidence)
		if v.Gain > 0 {
			s.Figures = append(s.Figures, figure{share(v.Gain), "shorter, if that cost nothing"})
		}
	}
	if s.Text == "" { // nothing was judged
		s.Text = "An epoch takes " + seconds(first.EpochSeconds) + "."
	}
	s.advise(r)
	return s
}

// headline is a verdict's text without the name of its cause, which stands above it: "decode-bound: without decoding, ...".
func headline(text string) string {
	text = sentence(text)
	if name, rest, ok := strings.Cut(text, ": "); ok && len(name) < 20 && !strings.ContainsAny(name, "0123456789") {
		text = rest
	}
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// advise fills in what to do and what came of it.
func (s *summary) advise(r *bench.Report) {
	if a := r.Advice; a != nil {
		s.Advice = sentence(a.Text)
		if a.Best != nil {
			s.Command = legible.Line(a.Best.Command)
			s.Figures = append(s.Figures, figure{seconds(a.Best.After), "an epoch after the change, predicted"})
		}
	}
	if a := r.Applied; a != nil {
		s.Applied = fmt.Sprintf("Carried out: predicted %s, measured %s (%s of the prediction); before %s.",
			seconds(a.Predicted), seconds(a.Measured), change(ratio(a.Measured-a.Predicted, a.Predicted)), seconds(a.Before))
	}
}

// waits reports whether a loop took the batches, so that its waiting says something.
func (s subject) waits() bool {
	return s.run.Consumer != loaderAlone && (s.Costs == nil || s.Costs.Loop)
}

// setup describes what took the batches of a run, and on what.
func setup(r *bench.Report) string {
	o := &r.Options
	var parts []string
	if r.Source != "" {
		parts = append(parts, legible.Line(r.Source))
	}
	if r.Consumer != "" {
		parts = append(parts, sentence(r.Consumer))
	}
	if n := r.Machine.GOMAXPROCS; n > 0 {
		cores := counted(n, "core")
		if o.Workers > 0 {
			cores = counted(o.Workers, "worker") + " on " + cores
		}
		parts = append(parts, cores)
	}
	if r.Machine.Device != "" {
		parts = append(parts, sentence(r.Machine.Device))
	}
	if o.BatchSize > 0 {
		parts = append(parts, fmt.Sprintf("batches of %d", o.BatchSize))
	}
	if o.Rounds > 0 {
		parts = append(parts, "medians of "+counted(o.Rounds, "round"))
	}
	return strings.Join(parts, " · ")
}

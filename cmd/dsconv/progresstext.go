package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/dsconv/dsconv/convert"
)

// recentRate estimates the rate of a run from its last half minute, so that neither its start nor a
// pause for the disk counts for long.
type recentRate []rateMark

type rateMark struct {
	at   time.Duration // since the start
	done int
}

const rateWindow = 30 * time.Second

func (r *recentRate) add(p convert.Progress) {
	marks := *r
	if len(marks) == 0 {
		marks = recentRate{{done: p.Resumed}} // an earlier run did these
	}
	marks = append(marks, rateMark{p.Elapsed, p.Done})
	for len(marks) > 2 && p.Elapsed-marks[1].at >= rateWindow {
		marks = marks[1:]
	}
	*r = marks
}

// perSecond returns the rate, 0 if it is not known yet.
func (r recentRate) perSecond() float64 {
	if len(r) < 2 {
		return 0
	}
	first, last := r[0], r[len(r)-1]
	return float64(last.done-first.done) / max((last.at-first.at).Seconds(), 1e-3)
}

// details describes the progress: number, bytes, rate, time left and skipped images.
func (r *runProgress) details() string {
	p, rate := r.now, r.rate.perSecond()
	texts := []string{fmt.Sprintf("%d of %d %s", p.Done, p.Total, r.words.unit)}
	if p.BytesIn > 0 {
		texts = append(texts, formatBytes(p.BytesIn))
	}
	if rate > 0 && p.Step != convert.StepFinish {
		decimals := 0
		if rate < 10 { // a network drive may give less than one image a second
			decimals = 1
		}
		texts = append(texts, fmt.Sprintf("%.*f %s/s", decimals, rate, r.words.unit))
	}
	switch p.Step {
	case convert.StepFinish:
		texts = append(texts, r.words.finish)
	case convert.StepCompare:
		texts = append(texts, "comparing files")
	}
	if rate > 0 && p.Step != convert.StepFinish {
		texts = append(texts, durationText(float64(p.Total-p.Done)/rate)+" left")
	}
	if p.Skipped > 0 {
		texts = append(texts, fmt.Sprintf("%d skipped", p.Skipped))
	}
	return strings.Join(texts, ", ")
}

// durationText formats seconds, such as 12s, 3m20s or 5h10m.
func durationText(seconds float64) string {
	const most = 1000 * 3600
	d := time.Duration(min(seconds, most) * float64(time.Second))
	if d < time.Hour {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// line returns the progress as a line of at most width columns, in which the most important comes first.
func (r *runProgress) line(width int) string {
	return runewidth.Truncate(fmt.Sprintf("%3d %%  %s: %s", 100*r.now.Done/r.now.Total, r.details(), printable(r.now.Path)), width, "")
}

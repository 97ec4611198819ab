package main

import (
	"fmt"
	"slices"
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

// details describes the progress, in ever fewer words: number, bytes, rate, time left and skipped images.
func (r *runProgress) details() []string {
	p, rate := r.now, r.rate.perSecond()
	count := fmt.Sprintf("%d of %d %s", p.Done, p.Total, r.words.unit)
	percent := fmt.Sprintf("%d %%", 100*p.Done/p.Total)
	var size, speed, left, skipped string
	if p.BytesIn > 0 {
		size = formatBytes(p.BytesIn)
	}
	if rate > 0 {
		speed = fmt.Sprintf("%.*f %s/s", decimals(rate), rate, r.words.unit)
		left = durationText(float64(p.Total-p.Done)/rate) + " left"
	}
	switch p.Step {
	case convert.StepFinish:
		speed, left = "", r.words.finish
	case convert.StepCompare:
		left = join("comparing files", left)
	}
	if p.Skipped > 0 {
		skipped = fmt.Sprintf("%d skipped", p.Skipped)
	}
	return []string{
		join(count, size, speed, left, skipped),
		join(count, speed, left, skipped),
		join(count, left, skipped),
		join(percent, left, skipped),
		join(percent, left),
		percent,
	}
}

// decimals returns how many decimals a rate has: a network drive may give less than one image a second.
func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
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

// join joins texts that are not empty.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}

const (
	fewestTitle          = 12 // columns that a name keeps if it is cut
	fewestBar, widestBar = 10, 40
)

// line returns the progress as a line of at most width columns: the name, a bar, and as many details as
// there is room for.
func (r *runProgress) line(width int) string {
	title := printable(r.now.Path)
	name := runewidth.StringWidth(title)
	details := r.details()
	for i, text := range details {
		room := width - len(text) - 1
		switch {
		case room >= min(name, fewestTitle)+1+fewestBar:
			title = cutMiddle(title, room-1-fewestBar)
			length := min(room-1-runewidth.StringWidth(title), widestBar)
			return title + " " + r.bar(length) + " " + text
		case i >= len(details)-2 && room >= min(name, fewestTitle):
			return cutMiddle(title, room) + " " + text
		}
	}
	return runewidth.Truncate(details[len(details)-1], width, "")
}

// bar draws a bar of that length.
func (r *runProgress) bar(length int) string {
	inside := length - 2
	full := inside * r.now.Done / r.now.Total
	head := ">"
	if full == inside {
		head = ""
	}
	return "[" + strings.Repeat("=", full) + head + strings.Repeat(" ", inside-full-len(head)) + "]"
}

// cutMiddle shortens text to width columns: start and end of a path say more than its middle.
func cutMiddle(text string, width int) string {
	all := runewidth.StringWidth(text)
	if all <= width {
		return text
	}
	const gap = "..."
	tail := max(width-len(gap), 0) / 2
	head := max(width-len(gap), 0) - tail
	return runewidth.Truncate(text, head, "") + gap + runewidth.TruncateLeft(text, all-tail, "")
}

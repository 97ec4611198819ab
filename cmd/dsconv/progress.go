package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/parallel"
)

func progressFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "progress", Value: "auto",
		Usage: "`KIND` of progress: auto (a line that changes on a terminal, else lines), or json (one object per line on standard error, for programs)",
	}
}

// progressAsJSON parses --progress, and reports whether it is json.
func progressAsJSON(cc *cli.Context) (bool, error) {
	kind := cc.String("progress")
	switch {
	case kind != "auto" && kind != "json" && kind != "": // the last for commands without the flag
		return false, usageErrorf("--progress %s: use auto or json", kind)
	case cc.IsSet("progress") && cc.Bool("quiet"):
		return false, usageErrorf("--progress and --quiet cannot be used together")
	}
	return kind == "json", nil
}

// progressJSON is a line of --progress json of a command that reads or writes a dataset.
type progressJSON struct {
	Dataset string       `json:"dataset"`
	Step    convert.Step `json:"step,omitempty"`
	Done    int          `json:"done"`
	Total   int          `json:"total"`
	Resumed int          `json:"resumed,omitempty"` // of done: by an earlier, interrupted command
	Skipped int          `json:"skipped"`
	Bytes   int64        `json:"bytes"` // of the images read so far
	Seconds float64      `json:"seconds"`
}

// benchProgressJSON is a line of --progress json of bench, after each turn.
type benchProgressJSON struct {
	Dataset         string  `json:"dataset"`
	Done            int     `json:"done"` // turns, including warm-ups
	Total           int     `json:"total"`
	Round           int     `json:"round"` // 0 is the warm-up
	Seconds         float64 `json:"seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
}

// progressLine prints a line of --progress json.
func (c *console) progressLine(v any) {
	_ = writeJSON(c.err, v, "") // v can always be encoded; a write error of progress is ignored
}

// progressWords are a command's own words in the progress.
type progressWords struct {
	unit   string // what is counted
	finish string // what is done after the last one
}

// imageWords are the words of the commands that write a dataset.
var imageWords = progressWords{unit: "images", finish: "writing the index"}

// runProgress shows the progress of runs one after another: as a line that changes on a terminal, else as one every
// few seconds, or as JSON, up to ten lines per second and always the last one.
type runProgress struct {
	c             *console
	words         progressWords
	quiet, asJSON bool
	now           convert.Progress
	rate          recentRate
	last          time.Time // of a line of text or JSON
}

// newProgress returns the progress that the flags --progress and --quiet ask for.
func newProgress(cc *cli.Context, c *console, words progressWords) (*runProgress, error) {
	asJSON, err := progressAsJSON(cc)
	return &runProgress{c: c, words: words, quiet: cc.Bool("quiet"), asJSON: asJSON}, err
}

// timeBetweenLines is how often progress is a line of text.
const timeBetweenLines = 5 * time.Second

// show shows p. It must be called by one goroutine at a time.
func (r *runProgress) show(p convert.Progress) {
	if r.quiet || p.Total == 0 {
		return
	}
	if p.Path != r.now.Path || p.Total != r.now.Total || p.Done < r.now.Done {
		r.rate, r.last = nil, time.Now()
		if r.asJSON {
			r.last = time.Time{} // the first line at once
		}
	}
	r.now = p
	r.rate.add(p)
	if width := r.c.status.width(); !r.asJSON && width > 0 {
		r.c.status.show(r.line(width))
		return
	}
	switch since := time.Since(r.last); {
	case r.asJSON && (p.Done == p.Total || since >= parallel.ProgressInterval):
		r.c.progressLine(progressJSON{
			Dataset: p.Path, Step: p.Step, Done: p.Done, Total: p.Total, Resumed: p.Resumed, Skipped: p.Skipped, Bytes: p.BytesIn, Seconds: p.Elapsed.Seconds(),
		})
	case !r.asJSON && since >= timeBetweenLines:
		r.c.logf("%s: %s", printable(p.Path), r.details())
	default:
		return
	}
	r.last = time.Now()
}

// end erases what is shown. The result has the same numbers.
func (r *runProgress) end() { r.c.status.erase() }

// showListing makes the command show how many files were found while it lists a folder: a disk of the network may need minutes.
func (c *console) showListing(cc *cli.Context) error {
	if asJSON, err := progressAsJSON(cc); err != nil || asJSON || cc.Bool("quiet") {
		return nil //nolint:nilerr // the command returns the error
	}
	last := time.Now()
	cc.Context = folder.WithProgress(cc.Context, func(files int) {
		width, since := c.status.width(), time.Since(last)
		switch {
		case width > 0 && since >= parallel.ProgressInterval:
			c.status.show(fmt.Sprintf("%.*s", width, fmt.Sprintf("listing: %d files", files)))
		case width == 0 && since >= timeBetweenLines:
			c.logf("listing: %d files", files)
		default:
			return
		}
		last = time.Now()
	})
	return nil
}

// benchProgress shows the turns of a bench as they end.
func (c *console) benchProgress(cc *cli.Context) (func(bench.Progress), error) {
	asJSON, err := progressAsJSON(cc)
	done := 0
	return func(p bench.Progress) {
		done++
		c.showTurn(&benchProgressJSON{Dataset: p.Dataset, Done: done, Total: p.Turns, Round: p.Round, Seconds: p.Seconds, ImagesPerSecond: p.ImagesPerSecond}, p.Rounds, cc.Bool("quiet"), asJSON)
	}, err
}

// showTurn shows a turn of a bench with so many rounds.
func (c *console) showTurn(p *benchProgressJSON, rounds int, quiet, asJSON bool) {
	name := "warm-up"
	switch {
	case quiet:
		return
	case asJSON:
		c.progressLine(p)
		return
	case p.Total == 0: // other settings, beside the turns
		name = "trial"
	case p.Round > 0:
		name = fmt.Sprintf("round %d of %d", p.Round, rounds)
	}
	c.logf("%s: %s: %.2f s an epoch, %.0f images/s", name, printable(p.Dataset), p.Seconds, p.ImagesPerSecond)
}

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

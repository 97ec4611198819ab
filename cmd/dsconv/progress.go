package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/convert"
)

func progressFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "progress", Value: "auto",
		Usage: "`KIND` of progress: auto (a bar on a terminal, else lines), or json (one object per line on standard error, for programs)",
	}
}

// progressAsJSON parses --progress, and reports whether it is json.
func progressAsJSON(cc *cli.Context) (bool, error) {
	kind := cc.String("progress")
	switch {
	case kind != "auto" && kind != "json":
		return false, usageErrorf("--progress %s: use auto or json", kind)
	case cc.IsSet("progress") && cc.Bool("quiet"):
		return false, usageErrorf("--progress and --quiet cannot be used together")
	}
	return kind == "json", nil
}

// progressJSON is a line of --progress json of a command that writes a dataset.
type progressJSON struct {
	Dataset string  `json:"dataset"`
	Done    int     `json:"done"`
	Total   int     `json:"total"`
	Skipped int     `json:"skipped"`
	Bytes   int64   `json:"bytes"` // of the images read so far
	Seconds float64 `json:"seconds"`
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

// progress shows the progress of a run of total steps: as a bar on a terminal, else as a line every
// few seconds, or as JSON, up to ten lines per second and always the last one. The caller calls show with
// each state, and end once.
func (c *console) progress(title string, total int, quiet, asJSON bool) (show func(convert.Progress), end func()) {
	last := time.Now()
	switch {
	case quiet:
		return func(convert.Progress) {}, func() {}
	case !asJSON && c.isTerminal():
		return c.bar(title, total)
	case asJSON:
		last = time.Time{} // the first line at once
	}
	return func(p convert.Progress) {
		switch since := time.Since(last); {
		case asJSON && (p.Done == p.Total || since >= 100*time.Millisecond):
			c.progressLine(progressJSON{Dataset: title, Done: p.Done, Total: p.Total, Skipped: p.Skipped, Bytes: p.BytesIn, Seconds: p.Elapsed.Seconds()})
		case !asJSON && since >= 5*time.Second:
			c.logf("%s: %s", printable(title), progressText(p))
		default:
			return
		}
		last = time.Now()
	}, func() {}
}

// runProgress shows the progress of runs one after another.
type runProgress struct {
	c             *console
	quiet, asJSON bool
	path          string // of the dataset that is shown
	update        func(convert.Progress)
	stop          func()
}

func (r *runProgress) show(p convert.Progress) {
	if p.Path != r.path || r.update == nil {
		r.end()
		r.path = p.Path
		r.update, r.stop = r.c.progress(p.Path, p.Total, r.quiet || p.Total == 0, r.asJSON)
	}
	r.update(p)
}

// end ends what is shown.
func (r *runProgress) end() {
	if r.stop != nil {
		r.stop()
	}
	r.update, r.stop = nil, nil
}

// benchProgress shows the turns of a bench as they end.
func (c *console) benchProgress(cc *cli.Context, datasets int) (func(bench.Progress), error) {
	asJSON, err := progressAsJSON(cc)
	done := 0
	return func(p bench.Progress) {
		done++
		switch {
		case cc.Bool("quiet"):
		case asJSON:
			c.progressLine(benchProgressJSON{
				Dataset: p.Dataset, Done: done, Total: datasets * (p.Rounds + 1), Round: p.Round,
				Seconds: p.Seconds, ImagesPerSecond: p.ImagesPerSecond,
			})
		default:
			name := "warm-up"
			if p.Round > 0 {
				name = fmt.Sprintf("round %d of %d", p.Round, p.Rounds)
			}
			c.logf("%s: %s: %.2f s an epoch, %.0f images/s", name, printable(p.Dataset), p.Seconds, p.ImagesPerSecond)
		}
	}, err
}

func (c *console) bar(title string, total int) (show func(convert.Progress), end func()) {
	bars := mpb.New(mpb.WithOutput(c.err), mpb.WithWidth(40))
	var state atomic.Pointer[convert.Progress] // another goroutine draws the bar
	state.Store(&convert.Progress{Total: total})
	bar := bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.Name(printable(title)+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + progressText(*state.Load()) })))
	return func(p convert.Progress) {
			state.Store(&p)
			bar.SetCurrent(int64(p.Done))
		}, func() {
			bar.Abort(false) // no effect on a full bar
			bars.Wait()
		}
}

// progressText describes p: images, bytes, rate, time left and skipped images.
func progressText(p convert.Progress) string {
	rate := float64(p.Done) / max(p.Elapsed.Seconds(), 1e-9)
	left := time.Duration(float64(p.Total-p.Done) / max(rate, 1e-9) * float64(time.Second))
	s := fmt.Sprintf("%d of %d images", p.Done, p.Total)
	if p.BytesIn > 0 {
		s += ", " + formatBytes(p.BytesIn)
	}
	if p.Done > 0 {
		s += fmt.Sprintf(", %.0f images/s, %s left", rate, left.Round(time.Second))
	}
	if p.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", p.Skipped)
	}
	return s
}

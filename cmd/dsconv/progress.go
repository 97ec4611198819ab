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
		Usage: "auto (a bar on a terminal, lines elsewhere), or json: objects on standard error, one a line, for programs",
	}
}

// progressAsJSON says which of the two kinds of progress is wanted.
func progressAsJSON(cc *cli.Context) (bool, error) {
	kind := cc.String("progress")
	switch {
	case kind != "auto" && kind != "json":
		return false, usageErrorf("--progress %s: choose auto or json", kind)
	case cc.IsSet("progress") && cc.Bool("quiet"):
		return false, usageErrorf("--progress and --quiet at once: choose one")
	}
	return kind == "json", nil
}

// step is a line of --progress json about a dataset that is written.
type progressJSON struct {
	Dataset string  `json:"dataset"`
	Done    int     `json:"done"`
	Total   int     `json:"total"`
	Skipped int     `json:"skipped"`
	Bytes   int64   `json:"bytes"` // of the images that were read
	Seconds float64 `json:"seconds"`
}

// turn is a line of --progress json about a turn of a bench that has ended.
type benchProgressJSON struct {
	Dataset         string  `json:"dataset"`
	Done            int     `json:"done"` // turns, warm-ups included
	Total           int     `json:"total"`
	Round           int     `json:"round"` // 0 is the warm-up
	Seconds         float64 `json:"seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
}

// line prints a line of --progress json.
func (c *console) progressLine(v any) {
	_ = writeJSON(c.err, v, "") // numbers and text always have a JSON; nobody may be listening
}

// progress shows a run of total steps: a bar on a terminal, a line every few seconds
// elsewhere, or JSON. The function that it gives is called with the state; end is called once.
func (c *console) progress(title string, total int, asJSON bool) (show func(convert.Progress), end func()) {
	switch {
	case asJSON:
		return c.jsonProgress(title), func() {}
	case c.isTerminal():
		return c.bar(title, total)
	}
	last := time.Now()
	return func(p convert.Progress) {
		if time.Since(last) < 5*time.Second {
			return
		}
		last = time.Now()
		c.logf("%s: %s", printable(title), progressText(p))
	}, func() {}
}

// steps prints at most ten lines a second, and always the last one.
func (c *console) jsonProgress(title string) func(convert.Progress) {
	var last time.Time
	return func(p convert.Progress) {
		if p.Done < p.Total && time.Since(last) < 100*time.Millisecond {
			return
		}
		last = time.Now()
		c.progressLine(progressJSON{Dataset: title, Done: p.Done, Total: p.Total, Skipped: p.Skipped, Bytes: p.BytesIn, Seconds: p.Elapsed.Seconds()})
	}
}

// turns shows the turns of a bench as they end.
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
	var state atomic.Pointer[convert.Progress] // the bar is drawn by a goroutine of its own
	state.Store(&convert.Progress{Total: total})
	bar := bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.Name(printable(title)+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + progressText(*state.Load()) })))
	return func(p convert.Progress) {
			state.Store(&p)
			bar.SetCurrent(int64(p.Done))
		}, func() {
			bar.Abort(false) // does nothing to a bar that is full
			bars.Wait()
		}
}

// describe is images, bytes, rate, time left and what was skipped.
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

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/dsconv/dsconv/convert"
)

// console is where a command reads and writes, and the one place that knows what a
// terminal is.
type console struct {
	in       io.Reader
	out, err io.Writer
}

func (c *console) printf(format string, args ...any) {
	fmt.Fprint(c.out, harmless(fmt.Sprintf(format, args...)))
}

func (c *console) errorf(format string, args ...any) { c.notef("dsconv: "+format, args...) }

// notef tells the user something beside the result.
func (c *console) notef(format string, args ...any) {
	fmt.Fprintln(c.err, harmless(fmt.Sprintf(format, args...)))
}

func (c *console) json(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// terminal says whether progress can be drawn.
func (c *console) terminal() bool {
	f, ok := c.err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows a run of total steps: a bar on a terminal, a line every few seconds
// elsewhere. The function that it gives is called with the state; end is called once.
func (c *console) progress(title string, total int) (show func(convert.Progress), end func()) {
	if c.terminal() {
		return c.bar(title, total)
	}
	last := time.Now()
	return func(p convert.Progress) {
		if time.Since(last) < 5*time.Second {
			return
		}
		last = time.Now()
		c.notef("%s: %s", title, describe(p))
	}, func() {}
}

func (c *console) bar(title string, total int) (show func(convert.Progress), end func()) {
	bars := mpb.New(mpb.WithOutput(c.err), mpb.WithWidth(40))
	var state atomic.Pointer[convert.Progress] // the bar is drawn by a goroutine of its own
	state.Store(&convert.Progress{Total: total})
	bar := bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.Name(title+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + describe(*state.Load()) })))
	return func(p convert.Progress) {
			state.Store(&p)
			bar.SetCurrent(int64(p.Done))
		}, func() {
			bar.Abort(false) // does nothing to a bar that is full
			bars.Wait()
		}
}

// describe is images, bytes, rate, time left and what was skipped.
func describe(p convert.Progress) string {
	rate := float64(p.Done) / max(p.Elapsed.Seconds(), 1e-9)
	left := time.Duration(float64(p.Total-p.Done) / max(rate, 1e-9) * float64(time.Second))
	s := fmt.Sprintf("%d of %d images", p.Done, p.Total)
	if p.BytesIn > 0 {
		s += ", " + bytesOf(p.BytesIn)
	}
	if p.Done > 0 {
		s += fmt.Sprintf(", %.0f images/s, %s left", rate, left.Round(time.Second))
	}
	if p.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", p.Skipped)
	}
	return s
}

// bytesOf is a size as people read it, in powers of ten as disks are sold.
func bytesOf(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	x := float64(n)
	i := 0
	for x >= 999.5 && i < len(units)-1 {
		x /= 1000
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", x, units[i])
}

// printable makes a key or path fit for a line of text: what is not printable is quoted.
func printable(s string) string {
	if strings.ContainsFunc(s, hidden) {
		return strconv.Quote(s)
	}
	return strings.Clone(s)
}

// harmless is text whose lines a terminal shows as they are: names in error messages can
// hold what would move its cursor or change its colours.
func harmless(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && hidden(r) }) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if r == '\n' || !hidden(r) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

// hidden says that r is no letter, mark, number, sign or space: control characters, those
// that turn the direction of writing, and bytes that are no text.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || r == utf8.RuneError }

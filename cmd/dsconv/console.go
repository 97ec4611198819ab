package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
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

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/dsconv/dsconv/internal/legible"
)

// console has a command's input and outputs.
type console struct {
	in       io.Reader
	out, err io.Writer
	args     []string    // the command line, for messages about unfinished datasets
	status   *statusLine // nil where progress is lines of text
	terminal bool        // out is one
	columns  int         // of that terminal; 0 if out is none
}

// newConsole returns the console of a process. What is written to a terminal erases the progress there.
func newConsole(in io.Reader, out, err *os.File) *console {
	c := &console{in: in, out: out, err: err, terminal: term.IsTerminal(int(out.Fd())), columns: terminalWidth(out)}
	if c.status = newStatusLine(err); c.status != nil {
		c.err = aboveStatus{err, c.status}
		if c.terminal {
			c.out = aboveStatus{out, c.status}
		}
	}
	return c
}

// resultWriter keeps the first error of a command's output, since what prints text does not look at each.
type resultWriter struct {
	io.Writer
	err error
}

func (w *resultWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// printf prints a command's result.
func (c *console) printf(format string, args ...any) {
	fmt.Fprint(c.out, escapeHidden(fmt.Sprintf(format, args...)))
}

// printError prints an error, joined errors and hints on lines of their own.
func (c *console) printError(err error) {
	fmt.Fprintln(c.err, "dsconv: "+strings.Join(errorLines(err), "\n"))
}

// logf prints a line that is not part of the result: progress or a warning.
func (c *console) logf(format string, args ...any) {
	fmt.Fprintln(c.err, escapeHidden(fmt.Sprintf(format, args...)))
}

func (c *console) json(v any) error { return writeJSON(c.out, v, "  ") }

// printFirst prints a line for each of the first n items of a list, and how many more there are; rest
// says what they are or where to find them.
func printFirst[T any](c *console, list []T, n int, rest string, line func(T) string) {
	for _, x := range list[:min(n, len(list))] {
		c.printf("%s\n", line(x))
	}
	if len(list) > n {
		c.printf("  ... and %d more%s\n", len(list)-n, rest)
	}
}

// shortList joins the first n names.
func shortList(names []string, n int) string {
	if len(names) <= n {
		return printable(strings.Join(names, ", "))
	}
	return printable(strings.Join(names[:n], ", ")) + ", ..."
}

// formatBytes formats a size in powers of ten, as disks are sold.
func formatBytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n), 0
	for ; x >= 999.5 && i < 5; i++ {
		x /= 1000
	}
	return fmt.Sprintf("%.3g %cB", x, " kMGTP"[i])
}

// Names come from files, so they may contain characters that move a terminal's cursor, change its
// colours, or hide or reverse text. Everything that the commands print goes through escapeHidden or,
// as JSON, through writeJSON. Only dsconv cat writes bytes as they are.

// mustEscape reports whether r is a hidden character other than newline and tab.
func mustEscape(r rune) bool { return r != '\n' && r != '\t' && legible.Hidden(r) }

// printable escapes a key or path for a line of text; legible.Original reverses it.
func printable(s string) string { return legible.Name(s) }

// appendPrintable appends printable(s).
func appendPrintable(to []byte, s string) []byte {
	if legible.IsQuoted(s) {
		return append(to, legible.Name(s)...)
	}
	return append(to, s...)
}

// escapeHidden escapes the hidden characters of text, apart from newlines and tabs.
func escapeHidden(text string) string { return legible.Escape(text, mustEscape) }

// printTable prints the text that write writes.
func (c *console) printTable(write func(io.Writer) error) error {
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, escapeHidden(text.String()))
	return err
}

// writeJSON writes v and a newline. Hidden characters, which JSON allows in strings, are written as
// escapes, so the value is the same.
func writeJSON(w io.Writer, v any, indent string) error { return newJSONWriter(w, indent).write(v) }

// isPlainASCII reports whether text has only printable ASCII characters and newlines. Most JSON does,
// and this check is five times as fast as decoding the characters.
func isPlainASCII(text []byte) bool {
	for _, c := range text {
		if c-' ' > '~'-' ' && c != '\n' {
			return false
		}
	}
	return true
}

// jsonWriter is writeJSON for many values.
type jsonWriter struct {
	w    io.Writer
	text bytes.Buffer
	enc  *json.Encoder
}

func newJSONWriter(w io.Writer, indent string) *jsonWriter {
	j := &jsonWriter{w: w}
	j.enc = json.NewEncoder(&j.text)
	j.enc.SetIndent("", indent)
	j.enc.SetEscapeHTML(false)
	return j
}

func (j *jsonWriter) write(v any) error {
	j.text.Reset()
	if err := j.enc.Encode(v); err != nil {
		return err
	}
	text := j.text.Bytes()
	if !isPlainASCII(text) && bytes.ContainsFunc(text, mustEscape) {
		text = []byte(legible.Replace(string(text), mustEscape, func(b *strings.Builder, char string) {
			r, _ := utf8.DecodeRuneInString(char)
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(b, `\u%04x`, unit)
			}
		}))
	}
	_, err := j.w.Write(text)
	return err
}

// statusLine is a line at the cursor of a terminal that shows progress. Other output erases it first.
// Goroutines may share it.
type statusLine struct {
	terminal *os.File
	mu       sync.Mutex
	shown    bool
	midLine  bool // other output ended within a line: nothing is shown until that line ends
	closed   bool
}

// newStatusLine returns a line on f, or nil if lines of text are better there: f is no terminal or one
// that cannot erase, or the user or a build server wants plain text.
func newStatusLine(f *os.File) *statusLine {
	kind, ci := os.Getenv("TERM"), os.Getenv("CI")
	if !term.IsTerminal(int(f.Fd())) || kind == "" || kind == "dumb" || os.Getenv("NO_COLOR") != "" || ci != "" && ci != "false" {
		return nil
	}
	return &statusLine{terminal: f}
}

// width returns how many columns a line may have, 0 if the terminal does not tell, as some
// pseudo-terminals do. The last column stays free: some terminals go to the next line after it.
func (s *statusLine) width() int {
	if s == nil {
		return 0
	}
	return max(terminalWidth(s.terminal)-1, 0)
}

// terminalWidth returns how many columns a terminal has; 0 if w is none or does not tell.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// eraseLine goes to the start of the line, and erases to the end of the screen.
const eraseLine = "\r\x1b[J"

// show replaces the line. Nothing that is shown is lost if that fails.
func (s *statusLine) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.midLine || s.closed {
		return
	}
	// The cursor stays at the start of the line: if the terminal becomes narrower and wraps the line, the
	// cursor is still before all of it.
	_, _ = io.WriteString(s.terminal, "\r"+text+"\x1b[J\r")
	s.shown = true
}

// erase removes the line.
func (s *statusLine) erase() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eraseLocked()
}

// close erases the line for good.
func (s *statusLine) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eraseLocked()
	s.closed = true
}

func (s *statusLine) eraseLocked() {
	if s.shown {
		_, _ = io.WriteString(s.terminal, eraseLine)
	}
	s.shown = false
}

// aboveStatus is an output on the terminal of a statusLine.
type aboveStatus struct {
	terminal *os.File
	status   *statusLine
}

// Write erases the line and writes.
func (a aboveStatus) Write(b []byte) (int, error) {
	a.status.mu.Lock()
	defer a.status.mu.Unlock()
	a.status.eraseLocked()
	if len(b) > 0 {
		a.status.midLine = b[len(b)-1] != '\n'
	}
	return a.terminal.Write(b)
}

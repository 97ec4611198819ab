package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
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

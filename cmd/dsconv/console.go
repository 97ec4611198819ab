package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// console is where a command reads and writes, and the one place that knows what a
// terminal is.
type console struct {
	in       io.Reader
	out, err io.Writer
}

func (c *console) printf(format string, args ...any) {
	fmt.Fprint(c.out, escapeHidden(fmt.Sprintf(format, args...)))
}

// fail tells the user an error. A line ends where two errors are joined or a hint follows, and not
// in a name.
func (c *console) printError(err error) { fmt.Fprintln(c.err, "dsconv: "+strings.Join(errorLines(err), "\n")) }

// notef tells the user something beside the result.
func (c *console) logf(format string, args ...any) {
	fmt.Fprintln(c.err, escapeHidden(fmt.Sprintf(format, args...)))
}

func (c *console) json(v any) error { return writeJSON(c.out, v, "  ") }

// terminal says whether progress can be drawn.
func (c *console) isTerminal() bool {
	f, ok := c.err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bytesOf is a size as people read it, in powers of ten as disks are sold.
func formatBytes(n int64) string {
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

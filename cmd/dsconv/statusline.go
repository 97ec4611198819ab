package main

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

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

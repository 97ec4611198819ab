package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a terminal of that width, 0 if it does not tell: the program's side and the user's.
func pseudoTerminal(t *testing.T, width int) (side, user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	must(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetUint32(int(user.Fd()), unix.TIOCGPTN)
	must(t, err)
	side, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { side.Close() })
	setWidth(t, user, width)
	return side, user
}

func setWidth(t *testing.T, terminal *os.File, width int) {
	t.Helper()
	must(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(width)}))
}

// session is a program in a pseudo-terminal.
type session struct {
	*screen
	user  *os.File // what the user types
	cmd   *exec.Cmd
	shown chan struct{} // closed once the program has ended and all that it wrote is on the screen
}

// inTerminal starts a program in a terminal of that width, in the folder dir.
func inTerminal(t *testing.T, width int, dir string, env []string, args ...string) *session {
	t.Helper()
	side, user := pseudoTerminal(t, width)
	s := &session{screen: newScreen(cmp.Or(width, 80)), user: user, shown: make(chan struct{})}
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Dir = dir
	s.cmd.Env = slices.Concat(os.Environ(), []string{asProgram + "=1", "TERM=xterm", "LC_ALL=C.UTF-8", "CI=", "NO_COLOR="}, env)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = side, side, side
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, s.cmd.Start())
	must(t, side.Close())
	go func() {
		defer close(s.shown)
		_, _ = io.Copy(s.screen, user) // ends with EIO once nobody has the other side open
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.shown
	})
	return s
}

// wait waits for the program's end and returns its exit code.
func (s *session) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.shown:
	case <-time.After(patience):
		t.Fatalf("it hangs: %s", s.text())
	}
	_ = s.cmd.Wait() // the code tells
	return s.cmd.ProcessState.ExitCode()
}

// await waits until the screen has the text.
func (s *session) await(t *testing.T, text string) {
	t.Helper()
	hung := time.After(patience)
	text = strings.TrimRight(text, " ") // as those at the end of a row
	for !strings.Contains(s.text(), text) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-hung:
			t.Fatalf("%q does not appear: %s", text, s.text())
		}
	}
}

// types sends what the user types.
func (s *session) types(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(s.user, text)
	must(t, err)
}

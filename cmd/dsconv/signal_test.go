package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The first Ctrl-C asks a command to stop, and the second one ends it: here it waits for a pipe that nobody writes to.
func TestSecondSignal(t *testing.T) {
	p, _ := waiting(t)
	endsBy(t, p, syscall.SIGINT)
}

// A dsconv that was started with SIGINT ignored, as in the background of a script, ignores Ctrl-C. SIGTERM
// stops it.
func TestIgnoredInterruptStaysIgnored(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	ignoring := []string{"sh", "-c", `trap '' INT; : >"$0"; exec "$@"`, ready}
	p, list := waiting(t, ignoring...)
	p.await(t, func() bool { _, err := os.Stat(ready); return err == nil })
	for range 3 {
		must(t, p.cmd.Process.Signal(os.Interrupt))
	}
	for _, image := range imagesOf(t, samples(t, "10", "32x32")) {
		_, err := fmt.Fprintln(list, image)
		must(t, err)
	}
	must(t, list.Close())
	if p.wait() != exitDone {
		t.Errorf("%v: %s", p.cmd.ProcessState, p.said.String())
	}
	p, _ = waiting(t, ignoring...)
	endsBy(t, p, syscall.SIGTERM)
}

// waiting starts a pack that waits for its list of images on standard input, and returns the pipe for the list.
// prefix may be a program that runs it.
func waiting(t *testing.T, prefix ...string) (p *process, list *os.File) {
	t.Helper()
	in, list, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { list.Close() })
	p = &process{}
	p.start(t, in, slices.Concat(prefix, []string{os.Args[0], "pack", "-", filepath.Join(t.TempDir(), "out.tar"), reportAside(t)}))
	must(t, in.Close())
	return p, list
}

// endsBy checks that a second signal ends p, unless it ends after the first by itself.
func endsBy(t *testing.T, p *process, signal syscall.Signal) {
	t.Helper()
	hung := time.After(patience)
	for sent := 0; ; sent++ {
		select {
		case <-p.ended:
			status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if sent < 1 || status.Signal() != signal && status.ExitStatus() != exitFailed {
				t.Errorf("after %d signals: %v: %s", sent, p.cmd.ProcessState, p.said.String())
			}
			return
		case <-hung:
			_ = p.kill()
			t.Fatal("it does not end")
		case <-time.After(200 * time.Millisecond):
			_ = p.cmd.Process.Signal(signal)
		}
	}
}

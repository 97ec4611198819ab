package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The first Ctrl-C asks a command to stop. The second one ends a command that does not stop, here because
// it waits for a pipe that nobody writes to.
func TestSecondSignal(t *testing.T) {
	p, _ := waiting(t, samples(t, "10", "32x32"))
	endsBy(t, p, syscall.SIGINT)
}

// A dsconv that was started with SIGINT ignored, as in the background of a script, ignores Ctrl-C. SIGTERM
// stops it.
func TestIgnoredInterruptStaysIgnored(t *testing.T) {
	ignoring := []string{"sh", "-c", `trap '' INT; exec "$@"`, "sh"}
	src := samples(t, "10", "32x32")
	p, table := waiting(t, src, ignoring...)
	for range 3 {
		must(t, p.cmd.Process.Signal(os.Interrupt))
	}
	_, err := fmt.Fprintln(table, "path,label")
	must(t, err)
	for _, image := range imagesOf(t, src) {
		path, err := filepath.Rel(src, image)
		must(t, err)
		_, err = fmt.Fprintln(table, path+",cat")
		must(t, err)
	}
	must(t, table.Close())
	if p.wait() != exitDone {
		t.Errorf("%v: %s", p.cmd.ProcessState, p.said.String())
	}
	p, _ = waiting(t, src, ignoring...)
	endsBy(t, p, syscall.SIGTERM)
}

// waiting starts a pack that waits for its table of labels, and returns the pipe for the table. prefix
// may be a program that runs it.
func waiting(t *testing.T, src string, prefix ...string) (p *process, table *os.File) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "labels.csv")
	must(t, syscall.Mkfifo(pipe, 0o600))
	p = startPack(t, src, filepath.Join(t.TempDir(), "out.tar"), []string{"--labels=" + pipe}, prefix...)
	table, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the command reads
	must(t, err)
	t.Cleanup(func() { table.Close() })
	return p, table
}

// endsBy checks that the second signal ends p, but not the first.
func endsBy(t *testing.T, p *process, signal syscall.Signal) {
	t.Helper()
	hung := time.After(patience)
	for sent := 0; ; sent++ {
		select {
		case <-p.ended:
			status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if sent < 2 || status.Signal() != signal {
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

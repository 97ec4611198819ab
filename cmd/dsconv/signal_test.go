package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The first Ctrl-C asks a command to stop; one that does not, here because it waits for a
// pipe that nobody writes to, is ended by the second.
func TestSecondSignal(t *testing.T) {
	src := samples(t, "10", "32x32")
	pipe := filepath.Join(t.TempDir(), "labels.csv")
	must(t, syscall.Mkfifo(pipe, 0o600))
	p := start(t, []string{os.Args[0], "pack", src, filepath.Join(t.TempDir(), "out.tar"), "--labels=" + pipe})
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the command reads
	must(t, err)
	defer writer.Close()
	ended := make(chan struct{})
	go func() {
		p.wait()
		close(ended)
	}()
	for sent := 0; ; sent++ {
		select {
		case <-ended:
			status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if sent < 2 || status.Signal() != syscall.SIGINT {
				t.Errorf("after %d signals: %v: %s", sent, p.cmd.ProcessState, p.said.String())
			}
			return
		case <-time.After(200 * time.Millisecond):
			if sent == 50 {
				_ = p.cmd.Process.Kill()
				t.Fatal("it does not end")
			}
			_ = p.cmd.Process.Signal(os.Interrupt)
		}
	}
}

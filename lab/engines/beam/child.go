package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// stopTime is how long a child that is told to stop may take to remove its attempt, before it is killed.
const stopTime = 30 * time.Second

// packOnce lets dsconv pack the shard, as a child that ends with this process: its standard input is a pipe that nobody
// writes to and that the kernel closes when this process dies, however it dies.
func (p *packShard) packOnce(ctx context.Context, shard int) error {
	cmd := exec.CommandContext(ctx, p.Dsconv, "shards", "pack", p.Plan, strconv.Itoa(shard),
		"-j", strconv.Itoa(p.Threads), "--stop-with-stdin")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	cmd.Cancel = stdin.Close
	cmd.WaitDelay = stopTime
	var stderr tail
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	return nil
}

// A tail keeps the end of what is written to it: an error message comes last.
type tail struct{ kept []byte }

// tailSize is small, because runners put errors into their logs again and again.
const tailSize = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - tailSize; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.kept)) }
